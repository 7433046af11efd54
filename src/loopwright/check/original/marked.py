"""Operations as the compiler types them: a mark before each, found again in the typed reading.

    lw_mark(3, A[i], B[i], i), A[i] = F(B[i]) * i;

The first argument is a number, the others are expressions of the operation: the preprocessor, the scopes and
the types are the same for them as for the operation itself.  Nothing of it is ever run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.lazy_dataclass import dataclass

MARK = "lw_mark"
PROTOTYPE = f"void {MARK}(int, ...);\n"


@dataclass(frozen=True)
class TypedOperation:
    """The assignment or update after a mark, or the first value of a variable, which is `declared` here."""

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
    """What `node` marks; of `a = c = b` the marks are before all of it, that of a last."""
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
    """Whether two nodes of one file say the same, wherever they stand."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(equal_trees, one, other))
    if isinstance(one, tree.Node):
        values = [(getattr(one, each.name), getattr(other, each.name)) for each in fields(one)]
        return all(equal_trees(*pair) for pair in values if not isinstance(pair[0], tree.TokenRange))
    return bool(one == other)


def matching(node: tree.Expression, among: Sequence[tree.Expression]) -> frozenset[int]:
    """The positions of the expressions that say the same as `node`."""
    return frozenset(k for k, one in enumerate(among) if equal_trees(node, one))
