"""Aliases in runs that the file shows: two lvalues of the region that are one place when it is reached."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from loopwright.c.runs.arrivals import arrivals
from loopwright.c.runs.memory import Address
from loopwright.c.runs.statements import Arrival
from loopwright.c.syntax import refuse
from loopwright.c.tokens import packed
from loopwright.c.typed import tree
from loopwright.c.typed.effects import may_be_written
from loopwright.c.typed.file import TypedFile, TypedRegion
from loopwright.c.typed.pointer_values import chosen
from loopwright.c.types import ArrayType, Floating, Integer, stored_bytes, unqualified
from loopwright.read.c.gate.shared_rows import RegionUse

_FEW = 3
"""Pointers that are fewer elements apart than this meet unless loops run once or twice."""


def refuse_shown_places(uses: Sequence[RegionUse], region: TypedRegion, file: TypedFile) -> None:
    """Raise if two lvalues, one of them written, are at one place in a run to the region.

    Tests that are not known are guessed, too, all one way or the other.
    """
    named = {(use.node.place.span.text, use.is_written): use for use in uses}
    pairs = [pair for pair in combinations(named.values(), 2) if _may_meet(*pair, region)]
    changing = _changing(region) if pairs else frozenset()
    guesses = (None, True, False) if pairs else ()
    runs = ((guess, run) for guess in guesses for run in arrivals(region, file, guess=guess))
    for guess, run in runs:
        places = {id(use): _start(use, run, changing) for pair in pairs for use in pair}
        for one, other in pairs:
            if _meet(one, other, places[id(one)], places[id(other)]):
                line = region.place.line if run.call is None else run.call.place.span.line
                how = "as computed before" if run.call is None else "as it is called in"
                names = [use.node.place.span.text for use in (other, one)]
                verb = "is" if guess is None else "may be"
                message = f"'{names[0]}' {verb} the same memory as '{names[1]}', {how} line {line}"
                hint = "use one name for the memory in the region"
                raise refuse(other.node.place.span, message, hint)


def _may_meet(one: RegionUse, other: RegionUse, region: TypedRegion) -> bool:
    """Whether two lvalues may be one place, one of them is written, and not both are variables."""
    if not (one.is_written or other.is_written) or (one.is_direct and other.is_direct):
        return False
    is_kept = any(use.is_direct and region.function.keeps(use.root) for use in (one, other))
    is_possible = one.storage & other.storage or may_be_written(one.node.type, (other.node.type,))
    is_one = (one.root.offset, one.path) == (other.root.offset, other.path)
    return bool(is_possible) and not is_kept and (not is_one or _are_different_rows(one, other))


def _are_different_rows(one: RegionUse, other: RegionUse) -> bool:
    """Whether two lvalues are in rows that different elements lead to: `r[0][i]` and `r[1][i]`."""
    rows = [chosen(use.node) for use in (one, other)]
    texts = {packed(row.place.span.text) for row in rows if isinstance(row, tree.Subscript)}
    return len(texts) == len(rows)


def _changing(region: TypedRegion) -> frozenset[int]:
    """The variables that the region declares, or sets by their names."""
    nodes = [*tree.walk_all(region.statements)]
    own = [node.declaration for node in nodes if isinstance(node, tree.Declarator)]
    given = (tree.owner(node.target) for node in nodes if isinstance(node, tree.Assign | tree.Update))
    return frozenset(one.offset for one in (*own, *given) if one is not None)


def _start(use: RegionUse, run: Arrival, changing: frozenset[int]) -> Address | None:
    """Where the array of an lvalue starts, if that is the same in all of the region and known."""
    core, members = tree.without_casts(use.node), list[tree.MemberAccess]()
    while True:
        match core:
            case tree.Subscript(base=inner) if isinstance(
                unqualified(tree.without_casts(inner).type), ArrayType
            ):
                core = tree.without_casts(inner)
            case tree.MemberAccess(object=inner, is_arrow=False):
                members.append(core)
                core = tree.without_casts(inner)
            case _:
                break
    match core:
        case tree.Subscript(base=pointer) | tree.Unary(operator="*", operand=pointer):
            found = None if _names(pointer) & changing else run.value(pointer)
        case tree.MemberAccess(object=pointer):
            found = None if _names(pointer) & changing else run.place(core)
        case _:
            found = run.place(core)
    offset = found.offset if isinstance(found, Address) else None
    if not isinstance(found, Address) or offset is None:
        return None
    for member in members:
        bits = run.run.bits(member)
        if bits is None:
            return None
        offset += bits // 8
    return Address(found.block, offset)


def _names(node: tree.Expression) -> frozenset[int]:
    return frozenset(part.declaration.offset for part in tree.walk(node) if isinstance(part, tree.Name))


def _meet(one: RegionUse, other: RegionUse, first: Address | None, second: Address | None) -> bool:
    if first is None or second is None or first.block != second.block:
        return False
    assert first.offset is not None and second.offset is not None
    apart = abs(first.offset - second.offset)
    kind = unqualified(one.node.type)
    size = stored_bytes(kind) if isinstance(kind, Integer | Floating) else 8
    are_members = bool(one.members) and bool(other.members)
    return apart == 0 or (not are_members and apart < _FEW * size)
