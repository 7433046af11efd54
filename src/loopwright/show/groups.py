"""Selects the statements drawn together, and the axis of each of their loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program, Statement
from loopwright.transform.vectors import Position, pieces

MOST = 6
"""More statements than this in one picture cannot be distinguished."""

AXES = 3
"""More loops than this cannot be drawn; the outer ones then stand still."""


@dataclass(frozen=True)
class DrawnGroup:
    """Statements that share a loop, before or after; `axes` are the iterators drawn.

    `placed[s][k]` is the axis of loop k of statement s, None where that loop is not drawn.
    """

    statements: tuple[Statement, ...]
    axes: tuple[str, ...]
    placed: dict[str, tuple[int | None, ...]]


def groups(before: Program, after: Program, broken: tuple[str, str] | None = None) -> tuple[DrawnGroup, ...]:
    """The statements in loops, in source order, grouped by common outermost loops.

    The two statements of a `broken` dependence are together as well.  Of a group that is too large to be
    drawn they are what is left, where it holds them; otherwise it is drawn in parts.
    """
    found: list[tuple[Statement, ...]] = []
    for names in _linked(before, after, broken):
        members = tuple(statement for statement in before.statements if statement.name in names)
        if len(members) <= MOST:
            found.append(members)
        elif broken is not None and set(broken) <= names:
            found.append(tuple(statement for statement in members if statement.name in broken))
        else:
            found += _parts(members, 1)
    found.sort(key=lambda members: before.statements.index(members[0]))
    return tuple(_group(members) for members in found)


def panels_of(
    before: Program, after: Program, broken: tuple[str, str] | None = None
) -> tuple[DrawnGroup, ...]:
    """The same for a moving picture, which has room for all statements and all loops."""
    found = [
        tuple(statement for statement in before.statements if statement.name in names)
        for names in _linked(before, after, broken)
    ]
    found.sort(key=lambda members: before.statements.index(members[0]))
    return tuple(panel_of(members) for members in found)


def panel_of(members: tuple[Statement, ...]) -> DrawnGroup:
    """Statements in one panel, with all loops of the deepest as axes."""
    return _group(members, max(one.depth for one in members))


def beside(panel: DrawnGroup) -> int | None:
    """The axis along which the statements of one iteration stand side by side, in the order they run.

    That of the innermost loop that they share: what it runs one after the other in an iteration is drawn so.
    None where some of the deepest statements share more loops than others, or none.
    """
    deepest = [one for one in panel.statements if one.depth == len(panel.axes)]
    shared = {_shared(one, other) for one, other in combinations(deepest, 2)}
    return shared.pop() - 1 if len(shared) == 1 and 0 not in shared else None


def _linked(before: Program, after: Program, broken: tuple[str, str] | None) -> list[set[str]]:
    """The names of the statements that share an outermost loop in one of the programs."""
    links = [] if broken is None else [set(broken)]
    for program in (before, after):
        outermost = _outermost(program)
        for name, positions in outermost.items():
            links.append({name} | {other for other, theirs in outermost.items() if positions & theirs})
    sets: list[set[str]] = []
    for linked in links:
        touching = [one for one in sets if one & linked]
        sets = [one for one in sets if not one & linked] + [linked.union(*touching)]
    return sets


def _parts(members: tuple[Statement, ...], depth: int) -> list[tuple[Statement, ...]]:
    """Cut between the loops at `depth`, and deeper where that is not enough."""
    if len(members) <= MOST or all(statement.depth <= depth for statement in members):
        return [members]
    children: dict[Position, list[Statement]] = {}
    for statement in members:
        children.setdefault(_position(statement)[: depth + 1], []).append(statement)
    return [part for own in children.values() for part in _parts(tuple(own), depth + 1)]


def _outermost(program: Program) -> dict[str, set[int]]:
    """The first position of each statement that is in a loop."""
    return {
        statement.name: {position[0] for position, _ in pieces(statement.schedule)}
        for statement in program.statements
        if statement.depth > 0
    }


def _group(members: tuple[Statement, ...], most: int = AXES) -> DrawnGroup:
    """With the innermost `most` loops of the deepest statement as axes."""
    deepest = max(members, key=lambda statement: statement.depth)
    skipped = max(0, deepest.depth - most)
    axes = deepest.iterators[skipped:]
    placed = {one.name: _placed(one, deepest, axes, skipped) for one in members}
    return DrawnGroup(members, axes, placed)


def _placed(
    statement: Statement, deepest: Statement, axes: Sequence[str], skipped: int
) -> tuple[int | None, ...]:
    """Shared loops go along the axis of the loop, then equal names, then whatever axis is free."""
    shared = _shared(statement, deepest)
    found: list[int | None] = [None] * statement.depth
    for k in range(shared):
        found[k] = k - skipped if k >= skipped else None
    for k in range(shared, statement.depth):
        if statement.iterators[k] in axes and axes.index(statement.iterators[k]) not in found:
            found[k] = axes.index(statement.iterators[k])
    free = [axis for axis in range(len(axes)) if axis not in found]
    for k in range(max(shared, statement.depth - len(axes)), statement.depth):
        if found[k] is None and free:
            found[k] = free.pop(0)
    return tuple(found)


def _shared(one: Statement, other: Statement) -> int:
    """The number of loops that two statements share as written."""
    first, second = (_position(statement) for statement in (one, other))
    shared = min(one.depth, other.depth)
    return next((k for k in range(shared) if first[k] != second[k]), shared)


def _position(statement: Statement) -> Position:
    return pieces(statement.schedule)[0][0]
