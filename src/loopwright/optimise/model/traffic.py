"""Estimates cache traffic: which parts of a program keep their data in a cache, and the lines the rest fetch.

A loop whose whole execution touches no more than a cache holds fetches each of its lines once.  So for each
access, with P the innermost loop around it that does not fit,

    lines = executions of P * lines the access touches in one execution of P

since what consecutive iterations of P have in common is still there.  So is what another body of P has just
touched: of accesses that P moves alike, the one that costs most counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod

from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.model.machine import Machine
from loopwright.optimise.model.touches import CallTouch, LoopCost

USABLE = 0.75
"""The part of a cache that a program's own data can count on."""

NO_ROWS: Mapping[str, int] = {}

STRIDED = 4.0
"""The cost factor of a line that is not fetched in order, and so not prefetched."""


@dataclass(frozen=True)
class TouchGroup:
    """Accesses of one body that move together: they differ by constants, between `low` and `high`."""

    array: str
    factors: tuple[tuple[tuple[str, int], ...], ...] | None
    low: tuple[int, ...]
    high: tuple[int, ...]
    count: int
    is_written: bool
    statement: str


@dataclass(frozen=True)
class _Path:
    """A body: the loops from the region to it, and its groups."""

    loops: tuple[LoopCost, ...]
    groups: tuple[TouchGroup, ...]


def grouped(body: LoopCost) -> tuple[TouchGroup, ...]:
    """What the calls of a body touch, by how it moves."""
    found: dict[tuple[str, object], list[tuple[CallTouch, str]]] = {}
    for call in body.calls:
        for touch in call.touches:
            found.setdefault((touch.array, touch.factors), []).append((touch, call.statement))
    groups = []
    for members in found.values():
        touches = [touch for touch, _ in members]
        middles = {touch.middle for touch in touches}
        groups.append(
            TouchGroup(
                touches[0].array,
                touches[0].factors,
                tuple(map(min, zip(*middles, strict=True))),
                tuple(map(max, zip(*middles, strict=True))),
                len(middles) if touches[0].factors is not None else _accesses(touches),
                any(touch.is_write for touch in touches),
                members[0][1],
            )
        )
    return tuple(groups)


def _accesses(touches: Sequence[CallTouch]) -> int:
    """How many cells are read, or written, where data say which: no two may be taken for the same."""
    written = sum(touch.is_write for touch in touches)
    return max(written, len(touches) - written)


@dataclass(frozen=True)
class CellLayout:
    """How arrays are in memory: bytes of an element, bytes of a line, and the rows of those that have few.

    `cells` is how many an array has, where that is known.
    """

    elements: Mapping[str, int]
    line: int
    rows: Mapping[str, int]
    cells: Mapping[str, int]


def lines_touched(group: TouchGroup, loops: Sequence[LoopCost], layout: CellLayout) -> float:
    """The lines one execution of these loops, from the outside in, touches of a group.

    A box: in each dimension the distance of its ends; no more cells than iterations that move it, and no more
    rows than there are.
    """
    element, line = layout.elements[group.array], layout.line
    trips = {one.name: one.trip for one in loops}
    if group.factors is None:
        whole = layout.cells.get(group.array)
        count = float(prod(trips.values()))
        return count if whole is None else min(count, max(1.0, whole * element / line))
    if not group.factors:
        return 1.0
    extents = [
        high - low + 1 + sum(abs(factor) * (trips.get(loop, 1) - 1) for loop, factor in row)
        for row, low, high in zip(group.factors, group.low, group.high, strict=True)
    ]
    moving = {loop for row in group.factors for loop, _ in row}
    cells = group.count * prod(trip for name, trip in trips.items() if name in moving)
    rows = prod(extents[:-1])
    if len(extents) == 2:
        rows = min(rows, layout.rows.get(group.array, rows))
    return min(cells, rows * max(1.0, extents[-1] * element / line))


def is_in_order(group: TouchGroup, loops: Sequence[LoopCost], element: int, line: int) -> bool:
    """Whether the innermost loop that moves the group goes along a row."""
    if group.factors is None:
        return False
    for loop in reversed(loops):
        row = [dict(one).get(loop.name, 0) for one in group.factors]
        if any(row) and loop.trip > 1:
            return not any(row[:-1]) and abs(row[-1]) * element <= line
    return True


@dataclass(frozen=True)
class Traffic:
    """The cycles that lines moved cost, by statement, and the lines by cache."""

    cycles: dict[str, float]
    lines: tuple[float, ...]


@dataclass(frozen=True)
class _Fetched:
    """What a cache fetches for a group of accesses in all, and the box of cells that they touch."""

    cycles: float
    lines: float
    statement: str
    box: tuple[tuple[float, float], ...]

    def meets(self, other: _Fetched) -> bool:
        return all(a[0] <= b[1] and b[0] <= a[1] for a, b in zip(self.box, other.box, strict=True))


def _moved(group: TouchGroup, loop: LoopCost) -> object:
    """What groups have in common that iterations of a loop move alike."""
    if group.factors is None:
        return group, id(loop)
    return group.array, tuple(dict(row).get(loop.name, 0) for row in group.factors), id(loop)


def _box(group: TouchGroup, loops: Sequence[LoopCost]) -> tuple[tuple[float, float], ...]:
    trips = {one.name: one.trip for one in loops}
    rows = group.factors or ()
    reach = (sum(abs(factor) * (trips.get(loop, 1) - 1) / 2 for loop, factor in row) for row in rows)
    ends = zip(group.low, group.high, reach, strict=False)
    return tuple((low - half, high + half) for low, high, half in ends)


def traffic(
    root: LoopCost,
    elements: Mapping[str, int],
    machine: Machine,
    rows: Mapping[str, int] = NO_ROWS,
    cells: Mapping[str, int] = NO_ROWS,
) -> Traffic:
    layout = CellLayout(elements, machine.line, rows, cells)
    paths = list(_paths(root, ()))
    footprint = _footprints(paths, layout)
    cycles: dict[str, float] = {}
    moved = []
    for cache in machine.caches:
        fetched: dict[object, list[_Fetched]] = {}
        for path in paths:
            fits = (k for k, one in enumerate(path.loops) if footprint[id(one)] <= USABLE * cache.size)
            fitting = next(fits, None)
            start = len(path.loops) - 1 if fitting is None else max(0, fitting - 1)
            scope = path.loops[start:]
            for group in path.groups:
                lines = scope[0].executions * lines_touched(group, scope, layout)
                is_far = cache is machine.caches[-1]
                waits = is_far and not is_in_order(group, path.loops, elements[group.array], machine.line)
                cost = lines * cache.cycles * (STRIDED if waits else 1.0) * (1.5 if group.is_written else 1.0)
                key = (group, id(path)) if fitting is None else _moved(group, scope[0])
                one = _Fetched(cost, lines, group.statement, _box(group, scope))
                fetched[key] = _with(fetched.get(key, []), one)
        kept = [one for some in fetched.values() for one in some]
        for one in kept:
            cycles[one.statement] = cycles.get(one.statement, 0.0) + one.cycles
        moved.append(sum(one.lines for one in kept))
    return Traffic(cycles, tuple(moved))


def _with(others: list[_Fetched], one: _Fetched) -> list[_Fetched]:
    """The costlier of two groups that access the same cells; both, if they do not."""
    same = next((two for two in others if two.meets(one)), one)
    return [two for two in others if two is not same] + [same if same.cycles > one.cycles else one]


def _paths(loop: LoopCost, around: tuple[LoopCost, ...]) -> Iterator[_Path]:
    inside = (*around, loop)
    if loop.calls:
        yield _Path(inside, grouped(loop))
    for one in loop.loops:
        yield from _paths(one, inside)


def _footprints(paths: Sequence[_Path], layout: CellLayout) -> dict[int, float]:
    """The bytes one execution of each loop touches; of an array no more than the region does."""
    whole: dict[str, float] = {}
    for path in paths:
        for group in path.groups:
            lines = lines_touched(group, path.loops, layout)
            whole[group.array] = max(whole.get(group.array, 0.0), lines)
    arrays: dict[int, dict[str, float]] = {}
    for path in paths:
        for k, loop in enumerate(path.loops):
            touched = arrays.setdefault(id(loop), {})
            for group in path.groups:
                lines = lines_touched(group, path.loops[k:], layout)
                touched[group.array] = min(whole[group.array], touched.get(group.array, 0.0) + lines)
    return {loop: ceil(sum(touched.values())) * layout.line for loop, touched in arrays.items()}
