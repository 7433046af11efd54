"""Finds the statements of the original that an assignment could be, by its text [Bao2016, section 4.1.2].

CandidateInputStmts: two assignments match if their syntax trees are equal up to parentheses,
comments, the subscripts of the original's arrays, and the expressions in place of iterators.

To get the types of operations from the compiler, a mark is put before each and found again in the typed AST.

    lw_mark(3, A[i], B[i], i), A[i] = F(B[i]) * i;

The first argument is a number, the rest are expressions of the operation: they have the same macros, scopes
and types as the operation itself.  The marks are never executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields

from loopwright.c.references import Reference, Subscript, reference_of
from loopwright.c.syntax import Node, named_children, without_parentheses
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source


@dataclass(frozen=True)
class Decoded:
    """A subscript of `array` that is computed from the address of `node`, an element of it."""

    array: str
    dimension: int
    node: Node


Observed = Subscript | Decoded
"""What is observed when an operation executes."""


@dataclass(frozen=True)
class ArrayReference:
    """A reference to an array of the original: `array[subscripts]`.

    `terms` are the expressions in its subscripts, as they are written.
    """

    array: str
    subscripts: tuple[Observed, ...]
    node: Node
    terms: tuple[Node, ...]

    @property
    def by_address(self) -> bool:
        return any(isinstance(one, Decoded) for one in self.subscripts)


@dataclass(frozen=True)
class Side:
    """One of the two texts: `array_of` returns the array of the original that a reference denotes, if any."""

    source: Source
    array_of: Callable[[Reference], str | None]
    rank: Callable[[str], int]
    pointee_of: Callable[[Reference], str | None] = lambda _: None
    """The array that an element belongs to by its address."""

    def cell(self, node: Node) -> ArrayReference | None:
        """`node` as an element of an array of the original, with all subscripts."""
        reference = reference_of(node)
        if reference is None or reference.partial:
            return None
        terms = tuple(term for subscript in reference.subscripts for term in subscript)
        array = self.pointee_of(reference)
        if array is not None:
            decoded = tuple(Decoded(array, k, node) for k in range(self.rank(array)))
            return ArrayReference(array, decoded, node, terms)
        array = self.array_of(reference)
        if array is None or self.rank(array) != len(reference.subscripts):
            return None
        return ArrayReference(array, reference.subscripts, node, terms)


@dataclass(frozen=True)
class Assignment:
    """`target operator value` of an assignment, an update or an initialised declaration."""

    node: Node
    target: Node
    operator: str
    value: Node | None

    @property
    def reads_target(self) -> bool:
        return self.operator != "="

    @property
    def read_value(self) -> Node | None:
        """`value`, or c of `a = c = b`, which has the value when a is assigned."""
        return self.value if self.inner is None else self.inner.target

    @property
    def inner(self) -> Assignment | None:
        """`c = b` of `a = c = b`."""
        core = None if self.value is None else without_parentheses(self.value)
        return assignment_of(core) if core is not None and core.type == "assignment_expression" else None


def assignment_of(node: Node) -> Assignment | None:
    """Return `node` as an assignment; None if it is not one."""
    match node.type:
        case "assignment_expression":
            target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
            sign = node.child_by_field_name("operator")
            assert target is not None and sign is not None
            return Assignment(node, target, sign.type, value)
        case "update_expression":
            target, sign = node.child_by_field_name("argument"), node.child_by_field_name("operator")
            assert target is not None and sign is not None
            return Assignment(node, target, sign.type, None)
        case "init_declarator":
            target, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
            is_plain = target is not None and target.type == "identifier" and value is not None
            return Assignment(node, target, "=", value) if is_plain and target is not None else None
        case _:
            return None


def reads(side: Side, assignment: Assignment) -> tuple[ArrayReference, ...]:
    """The cells an assignment reads: first a target that is also read, then in source order."""
    target = side.cell(assignment.target)
    own = (target,) if target is not None and assignment.reads_target else ()
    value = () if assignment.read_value is None else _cells(side, assignment.read_value)
    return own + value


def _cells(side: Side, node: Node) -> tuple[ArrayReference, ...]:
    cell = side.cell(node)
    if cell is not None:
        return (*(found for part in cell.terms for found in _cells(side, part)), cell)
    return tuple(found for child in named_children(node) for found in _cells(side, child))


Holes = tuple[tuple[str, Node], ...]
"""Iterators and sizes of the original, and the expressions of the program in their place."""


def match_assignments(
    original: Side, statement: Assignment, symbols: tuple[str, ...], program: Side, other: Assignment
) -> Holes | None:
    """The values of `symbols` outside subscripts if the assignments match, else None."""
    if statement.operator != other.operator or (statement.value is None) != (other.value is None):
        return None
    first, second = original.cell(statement.target), program.cell(other.target)
    if first is None or second is None or first.array != second.array:
        return None
    if statement.value is None or other.read_value is None:
        return ()
    return _Matcher(original, symbols, program).match(statement.value, other.read_value)


@dataclass(frozen=True)
class _Matcher:
    original: Side
    symbols: tuple[str, ...]
    program: Side

    def match(self, one: Node, other: Node) -> Holes | None:
        one, other = without_parentheses(one), without_parentheses(other)
        first, second = self.original.cell(one), self.program.cell(other)
        if first is not None or second is not None:
            same = first is not None and second is not None and first.array == second.array
            return () if same else None
        if one.type == "identifier" and one.text in self.symbols:
            return ((one.text, other),) if self._is_value(other) else None
        return self._children(one, other)

    def _is_value(self, node: Node) -> bool:
        """Whether an expression can take the place of an iterator: it reads no cell."""
        return not _cells(self.program, node)

    def _children(self, one: Node, other: Node) -> Holes | None:
        firsts = [child for child in one.children if child.type != "comment"]
        seconds = [child for child in other.children if child.type != "comment"]
        if one.type != other.type or len(firsts) != len(seconds):
            return None
        if not one.is_named:
            return ()  # a sign: its type is its text
        if not firsts:
            same = one.text == other.text
            return () if same else None
        found: list[tuple[str, Node]] = []
        for first, second in zip(firsts, seconds, strict=True):
            part = self.match(first, second)
            if part is None:
                return None
            found += part
        return tuple(found)


MARK = "lw_mark"
PROTOTYPE = f"void {MARK}(int, ...);\n"


@dataclass(frozen=True)
class TypedOperation:
    """The assignment or update after a mark, or the initialiser of a variable `declared` here."""

    node: tree.Expression
    declared: tree.Declaration | None
    arguments: tuple[tree.Expression, ...]
    function: TypedFunction


def mark(number: int, texts: Iterable[str]) -> str:
    """The call that marks an operation."""
    return f"{MARK}({', '.join([str(number), *texts])})"


def marked_operations(file: TypedFile) -> dict[int, TypedOperation]:
    """The operations after marks, by number."""
    found: dict[int, TypedOperation] = {}
    for function in file.functions_with(MARK):
        for node in tree.walk(function.body):
            for number, operation in _marked(function, node):
                found[number] = operation
    return found


def _marked(function: TypedFunction, node: tree.Node) -> Iterator[tuple[int, TypedOperation]]:
    """Return what `node` marks; for `a = c = b` the marks are before all of it, that of a last."""
    declared = node.declaration if isinstance(node, tree.Declarator) else None
    initial = node.initial if isinstance(node, tree.Declarator) else None
    whole = node if initial is None else tree.without_casts(initial)
    if not isinstance(whole, tree.Binary) or whole.operator != "," or _is_mark(whole.right):
        return
    marks = _flattened(whole.left)
    inner: tree.Expression | None = whole.right
    if all(_is_mark(one) for one in marks):
        for one in reversed(marks):
            assert isinstance(one, tree.CallExpression)
            number, *arguments = one.arguments
            if inner is None or not isinstance(number, tree.Number) or number.value is None:
                return
            operation = TypedOperation(inner, declared, tuple(map(tree.without_casts, arguments)), function)
            yield number.value, operation
            inner = inner_assignment(inner)


def inner_assignment(node: tree.Expression) -> tree.Assign | None:
    """`c = b` of `a = c = b`."""
    value = tree.without_casts(node.value) if isinstance(node, tree.Assign) else None
    return value if isinstance(value, tree.Assign) else None


def _is_mark(node: tree.Node) -> bool:
    return isinstance(node, tree.CallExpression) and node.callee is not None and node.callee.name == MARK


def _flattened(node: tree.Expression) -> list[tree.Expression]:
    """The parts of `a, b, c`."""
    if isinstance(node, tree.Binary) and node.operator == ",":
        return [*_flattened(node.left), *_flattened(node.right)]
    return [node]


def equal_trees(one: object, other: object) -> bool:
    """Whether two nodes of one file are the same tree, regardless of their places."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(equal_trees, one, other))
    if isinstance(one, tree.Node):
        values = [(getattr(one, each.name), getattr(other, each.name)) for each in fields(one)]
        return all(equal_trees(*pair) for pair in values if not isinstance(pair[0], tree.TokenRange))
    return bool(one == other)


def matching(node: tree.Expression, among: Sequence[tree.Expression]) -> frozenset[int]:
    """The positions of the expressions with the same tree as `node`."""
    return frozenset(k for k, one in enumerate(among) if equal_trees(node, one))
