"""Products that a copy holds: `f * A[e]` in a statement, f a variable that keeps its value."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.c.declarations import is_floating_type, unqualified
from loopwright.c.syntax import field, operator, walk
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Access, Program, Statement
from loopwright.source import Span
from loopwright.transform.script.arguments import Misuse


@dataclass(frozen=True)
class Scaling:
    """What moves of a statement, `f * A[e]` or `A[e]` alone, and the text around the cell."""

    place: Span
    before: str = ""
    after: str = ""

    def around(self, cell: str) -> str:
        return " ".join(part for part in (self.before, cell, self.after) if part)


def products(program: Program, accesses: Sequence[tuple[Statement, Access]]) -> list[Scaling | None]:
    """The product around each access, None where it is in none; all have the same factor."""
    found = [_product(program, statement, access) for statement, access in accesses]
    factors = {(one.before, one.after) for one in found if one is not None}
    name = accesses[0][1].array
    if not factors:
        message = f"no read of {name} is multiplied by a variable of its type that keeps its value"
        raise Misuse(Code.STORAGE, message, argument="scaled")
    if len(factors) > 1:
        raise Misuse(Code.STORAGE, f"{name} is multiplied by different variables", argument="scaled")
    return found


def _product(program: Program, statement: Statement, access: Access) -> Scaling | None:
    """`f * A[e]` or `A[e] * f` around an access."""
    node = next(part for part in walk(program.syntax) if part.span == access.place)
    outer = node.parent
    if outer is None or outer.type != "binary_expression" or operator(outer) != "*":
        return None
    left, right = field(outer, "left"), field(outer, "right")
    reads = {one.place: one for one in statement.reads}
    factor = reads.get((left if right.span == node.span else right).span)
    if factor is None or not _keeps_its_value(program, factor.array, access.array):
        return None
    text = program.source.text
    before, after = text[outer.start : node.start], text[node.end : outer.end]
    return Scaling(outer.span, " ".join(before.split()), " ".join(after.split()))


def _keeps_its_value(program: Program, name: str, like: str) -> bool:
    """Whether it has no subscripts and the type of another array, a floating one, and nothing writes it."""
    arrays = {array.name: array for array in program.arrays}
    resolved = program.file.declarations.resolved
    kinds = {unqualified(resolved(arrays[one].element_type or "")) for one in (name, like)}
    written = any(access.array == name for one in program.statements for access in one.writes)
    return not (arrays[name].rank or written) and len(kinds) == 1 and is_floating_type(kinds.pop())
