"""Operations as the compiler types them: a mark before each, found again in the typed reading.

    lw_mark(3, A[i], B[i], i), A[i] = F(B[i]) * i;

The first argument is a number, the others are expressions of the operation: the preprocessor, the scopes and
the types are the same for them as for the operation itself.  Nothing of it is ever run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.tree import (
    Assign,
    Binary,
    CallExpression,
    Declaration,
    Declarator,
    Expression,
    Node,
    Number,
    TokenRange,
    walk,
    without_casts,
)
from loopwright.lazy_dataclass import dataclass

MARK = "lw_mark"
PROTOTYPE = f"void {MARK}(int, ...);\n"


@dataclass(frozen=True)
class TypedOperation:
    """The assignment or update after a mark, or the first value of a variable, which is `declared` here."""

    node: Expression
    declared: Declaration | None
    arguments: tuple[Expression, ...]
    function: TypedFunction


def mark(number: int, texts: Iterable[str]) -> str:
    """The call that marks an operation."""
    return f"{MARK}({', '.join([str(number), *texts])})"


def marked_operations(file: TypedFile) -> dict[int, TypedOperation]:
    """The operations after marks, by number."""
    found: dict[int, TypedOperation] = {}
    for function in file.functions:
        for node in walk(function.body):
            for number, operation in _marked(function, node):
                found[number] = operation
    return found


def _marked(function: TypedFunction, node: Node) -> Iterator[tuple[int, TypedOperation]]:
    """What `node` marks; of `a = c = b` the marks are before all of it, that of a last."""
    declared = node.declaration if isinstance(node, Declarator) else None
    initial = node.initial if isinstance(node, Declarator) else None
    whole = node if initial is None else without_casts(initial)
    if not isinstance(whole, Binary) or whole.operator != "," or _is_mark(whole.right):
        return
    marks = _flattened(whole.left)
    inner: Expression | None = whole.right
    if all(_is_mark(one) for one in marks):
        for one in reversed(marks):
            assert isinstance(one, CallExpression)
            number, *arguments = one.arguments
            if inner is None or not isinstance(number, Number) or number.value is None:
                return
            operation = TypedOperation(inner, declared, tuple(map(without_casts, arguments)), function)
            yield number.value, operation
            inner = inner_assignment(inner)


def inner_assignment(node: Expression) -> Assign | None:
    """`c = b` of `a = c = b`."""
    value = without_casts(node.value) if isinstance(node, Assign) else None
    return value if isinstance(value, Assign) else None


def _is_mark(node: Node) -> bool:
    return isinstance(node, CallExpression) and node.callee is not None and node.callee.name == MARK


def _flattened(node: Expression) -> list[Expression]:
    """The parts of `a, b, c`."""
    if isinstance(node, Binary) and node.operator == ",":
        return [*_flattened(node.left), *_flattened(node.right)]
    return [node]


def equal_trees(one: object, other: object) -> bool:
    """Whether two nodes of one file say the same, wherever they stand."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(equal_trees, one, other))
    if isinstance(one, Node):
        values = [(getattr(one, each.name), getattr(other, each.name)) for each in fields(one)]
        return all(equal_trees(*pair) for pair in values if not isinstance(pair[0], TokenRange))
    return bool(one == other)


def matching(node: Expression, among: Sequence[Expression]) -> frozenset[int]:
    """The positions of the expressions that say the same as `node`."""
    return frozenset(k for k, one in enumerate(among) if equal_trees(node, one))
