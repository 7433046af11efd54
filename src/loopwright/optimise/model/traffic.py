"""Cache lines moved: which parts of a program keep their data in a cache, and what the others fetch.

A loop whose whole execution touches no more than a cache holds fetches each of its lines once.  So for each
access, with P the innermost loop around it that does not fit,

    lines = executions of P * lines the access touches in one execution of P

since what consecutive iterations of P have in common is still there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod

from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.model.machine import Machine
from loopwright.optimise.model.touches import CallTouch, LoopCost

USABLE = 0.75
"""The part of a cache that a program's own data can count on."""

STRIDED = 4.0
"""How much more a line costs that does not come from memory in order: it is not foreseen."""


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
                len(middles),
                any(touch.is_write for touch in touches),
                members[0][1],
            )
        )
    return tuple(groups)


def lines_touched(group: TouchGroup, loops: Sequence[LoopCost], element: int, line: int) -> float:
    """The lines one execution of these loops, from the outside in, touches of a group.

    A box: in each dimension the distance of its ends; no more cells than iterations that move it.
    """
    trips = {one.name: one.trip for one in loops}
    if group.factors is None:
        return prod(trips.values())
    if not group.factors:
        return 1.0
    extents = [
        high - low + 1 + sum(abs(factor) * (trips.get(loop, 1) - 1) for loop, factor in row)
        for row, low, high in zip(group.factors, group.low, group.high, strict=True)
    ]
    moving = {loop for row in group.factors for loop, _ in row}
    cells = group.count * prod(trip for name, trip in trips.items() if name in moving)
    rows = prod(extents[:-1])
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


def traffic(root: LoopCost, elements: Mapping[str, int], machine: Machine) -> Traffic:
    paths = list(_paths(root, ()))
    footprint = _footprints(paths, elements, machine.line)
    cycles: dict[str, float] = {}
    moved = []
    for cache in machine.caches:
        total = 0.0
        for path in paths:
            fitting = next(
                (k for k, one in enumerate(path.loops) if footprint[id(one)] <= USABLE * cache.size), None
            )
            start = len(path.loops) - 1 if fitting is None else max(0, fitting - 1)
            scope = path.loops[start:]
            for group in path.groups:
                element = elements[group.array]
                lines = scope[0].executions * lines_touched(group, scope, element, machine.line)
                total += lines
                is_far = cache is machine.caches[-1]
                waits = is_far and not is_in_order(group, path.loops, element, machine.line)
                cost = lines * cache.cycles * (STRIDED if waits else 1.0) * (1.5 if group.is_written else 1.0)
                cycles[group.statement] = cycles.get(group.statement, 0.0) + cost
        moved.append(total)
    return Traffic(cycles, tuple(moved))


def _paths(loop: LoopCost, around: tuple[LoopCost, ...]) -> Iterator[_Path]:
    inside = (*around, loop)
    if loop.calls:
        yield _Path(inside, grouped(loop))
    for one in loop.loops:
        yield from _paths(one, inside)


def _footprints(paths: Sequence[_Path], elements: Mapping[str, int], line: int) -> dict[int, float]:
    """The bytes one execution of each loop touches; of an array no more than the region does."""
    whole: dict[str, float] = {}
    for path in paths:
        for group in path.groups:
            lines = lines_touched(group, path.loops, elements[group.array], line)
            whole[group.array] = max(whole.get(group.array, 0.0), lines)
    arrays: dict[int, dict[str, float]] = {}
    for path in paths:
        for k, loop in enumerate(path.loops):
            touched = arrays.setdefault(id(loop), {})
            for group in path.groups:
                lines = lines_touched(group, path.loops[k:], elements[group.array], line)
                touched[group.array] = min(whole[group.array], touched.get(group.array, 0.0) + lines)
    return {loop: ceil(sum(touched.values())) * line for loop, touched in arrays.items()}
