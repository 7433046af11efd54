"""Makes a program small enough to draw: values for its parameters, its instances, their times.

A picture is an example, not a proof: the values are small, and of a nest that stays large whatever
they are, one corner is taken.

It also computes the cells that the instances of a picture access, and their direct dependences.

Of the dependences only those to the nearest instance are kept: a read depends on the last write of its
cell, a write on the last write and on the reads since.  All others follow from these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from math import prod
from typing import TypeAlias, TypeVar

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import DependenceKind
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import all_points, within
from loopwright.presburger.named import at_parameters, names_of, without_parameters
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import IN, OUT
from loopwright.transform.plan import Plan
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Hexagon, StripMine, Tile, Unroll, UnrollAndJam
from loopwright.transform.script.steps import Step

Coordinates: TypeAlias = tuple[int, ...]
Instance: TypeAlias = tuple[str, Coordinates]
R = TypeVar("R", isl.Set, isl.Map)

EXTENTS = (12, 6, 4, 3, 2)
"""How many values of a loop are drawn, by the number of loops that are; more than these have the last."""

LARGEST = 24
"""No parameter is tried beyond this much above its smallest value."""


@dataclass(frozen=True)
class Window:
    """The values drawn: of the parameters, and a range for each loop of each statement."""

    parameters: dict[str, int]
    ranges: dict[str, tuple[range, ...]]
    clipped: bool
    """Whether there are instances outside the ranges."""

    @property
    def most_instances(self) -> int:
        return sum(prod(map(len, own)) for own in self.ranges.values())


def fixed(relation: R, parameters: Mapping[str, int]) -> R:
    """The set or map for these values of the parameters."""
    return without_parameters(at_parameters(relation, parameters))


def window_of(
    program: Program,
    statements: Sequence[Statement],
    drawn: int,
    start: Mapping[str, int] | None = None,
    extents: Sequence[int] = EXTENTS,
) -> Window | None:
    """Parameter values for which the loops drawn have a few iterations each; None if nothing ever runs.

    Beginning with `start` or the smallest values for which everything runs, each parameter in turn
    grows by one for as long as no loop gets longer than a picture can show.
    """
    extent = extents[max(1, min(drawn, len(extents))) - 1]
    values = dict(start) if start else _smallest(program, statements)
    if values is None:
        return None
    return window_at(statements, _grown(program, statements, values, lambda name, k: extent), extent)


def lengthened(
    program: Program, statements: Sequence[Statement], window: Window, seen: Mapping[str, Collection[int]],
    extent: int, most: int,
) -> Window:  # fmt: skip
    """The window with up to `extent` iterations of the loops that are seen, the others as they were.

    There are `most` instances at most.
    """

    def longest(name: str, k: int) -> int:
        return extent if k in seen[name] else len(window.ranges[name][k])

    values = _grown(program, statements, window.parameters, longest, most)
    return window_at(statements, values, extent)


def _grown(
    program: Program,
    statements: Sequence[Statement],
    values: dict[str, int],
    longest: Callable[[str, int], int],
    most: int = 10**9,
) -> dict[str, int]:
    """Each parameter in turn grows by one for as long as no loop gets longer than that."""
    growing = [name for name in program.params if name in values and matters(name, statements)]
    first = dict(values)
    for _ in count():
        grown = False
        for name in growing:
            larger = {**values, name: values[name] + 1}
            if larger[name] - first[name] <= LARGEST and _fits(program, statements, larger, longest, most):
                values, grown = larger, True
        if not grown:
            break
    return values


def matters(name: str, statements: Sequence[Statement]) -> bool:
    """Whether a domain depends on the parameter."""
    return any(name in names_of(one.domain) for one in statements)


def _smallest(program: Program, statements: Sequence[Statement]) -> dict[str, int] | None:
    """The smallest parameters for which all of the statements run, or at least one."""
    running = [statement.domain.params().intersect(program.context) for statement in statements]
    everything = running[0]
    for one in running[1:]:
        everything = everything.intersect(one)
    for known in (everything, *running):
        point = smallest_point(known)
        if point is not None:
            return point.parameters
    return None


def _fits(
    program: Program,
    statements: Sequence[Statement],
    values: Mapping[str, int],
    longest: Callable[[str, int], int],
    most: int,
) -> bool:
    """Whether the context allows the values, no loop is too long, and there are not too many instances."""
    if fixed(program.context, values).is_empty():
        return False
    instances = 0
    for statement in statements:
        domain = fixed(statement.domain, values)
        if not domain.is_bounded():
            return False
        extents = [_extent(domain, k) for k in range(statement.depth)]
        if any(extent > longest(statement.name, k) for k, extent in enumerate(extents)):
            return False
        instances += prod(extents)
    return instances <= most


def _extent(domain: isl.Set, k: int) -> int:
    if domain.is_empty():
        return 0
    return _bound(domain, k, "dim_max_val") - _bound(domain, k, "dim_min_val") + 1


def _bound(domain: isl.Set, k: int, which: str) -> int:
    """The least or the greatest value; an infinite one is far away."""
    value = getattr(domain, which)(k)
    if value.is_int():
        return int(value.to_python())
    return 10**9 if value.is_pos() else -(10**9)


def window_at(statements: Sequence[Statement], values: dict[str, int], extent: int) -> Window:
    """The window for these values of the parameters, with `extent` values of each loop at most."""
    ranges: dict[str, tuple[range, ...]] = {}
    clipped = False
    for statement in statements:
        domain = fixed(statement.domain, values)
        own: list[range] = []
        for k in range(statement.depth):
            if domain.is_empty():
                own.append(range(0))
                continue
            low = max(_bound(domain, k, "dim_min_val"), -(10**9) + 1)
            low = 0 if low < -(10**8) else low
            high = _bound(domain, k, "dim_max_val")
            clipped = clipped or high - low + 1 > extent
            own.append(range(low, min(high, low + extent - 1) + 1))
        ranges[statement.name] = tuple(own)
    return Window(values, ranges, clipped)


def drawn_domain(statement: Statement, window: Window) -> isl.Set:
    """The instances inside the window, no parameters left."""
    domain = fixed(statement.domain, window.parameters)
    ranges = window.ranges[statement.name]
    if any(len(values) == 0 for values in ranges):
        return isl.Set.empty(domain.get_space())
    return within(domain, [(values.start, values.stop - 1) for values in ranges])


def times(
    statements: Iterable[Statement], schedules: Mapping[str, isl.Map], window: Window
) -> dict[Instance, Coordinates]:
    """When each drawn instance runs; every instance of a schedule that is a function has one time."""
    found: dict[Instance, Coordinates] = {}
    length = max((int(schedule.dim(OUT)) for schedule in schedules.values()), default=0)
    for statement in statements:
        schedule = fixed(schedules[statement.name], window.parameters)
        pairs = schedule.intersect_domain(drawn_domain(statement, window))
        for point in sorted(all_points(pairs.wrap())):
            time = point[statement.depth :]
            found[statement.name, point[: statement.depth]] = (*time, *(0,) * (length - len(time)))
    return found


def pairs_of(
    relation: isl.Map, one: Statement, other: Statement, window: Window
) -> list[tuple[Instance, Instance]]:
    """The pairs of a relation between two statements with both ends in the window."""
    here = fixed(relation, window.parameters)
    here = here.intersect_domain(drawn_domain(one, window)).intersect_range(drawn_domain(other, window))
    count_in = int(here.dim(IN))
    return [
        ((one.name, point[:count_in]), (other.name, point[count_in:]))
        for point in sorted(all_points(here.wrap()))
    ]


def size_for(plan: Plan) -> int:
    """So that several tiles are in a picture: of 12 iterations of one loop, 6 of each of two, 4 of three."""
    return {1: 5, 2: 3}.get(plan.loops, 2)


def shrunk(step: Step, plan: Plan) -> tuple[Step, str]:
    """The step with tiles and strips that are small enough for a picture, and what is to be said of them."""
    size = size_for(plan)
    smaller = _shrunk(step, size, plan)
    if smaller == step:
        return step, ""
    match smaller.operation:
        case Hexagon(sizes=(steps, *_)):
            return smaller, f"hexagons are drawn with {steps.number} steps"
        case _:
            return smaller, f"tiles and strips are drawn with size {size}"


def _shrunk(step: Step, size: int, plan: Plan) -> Step:
    match step.operation:
        case Tile(sizes=sizes) as tile:
            return replace(step, operation=replace(tile, sizes=_smaller(sizes, size)))
        case Hexagon(sizes=(steps, *others)) as hexagon:
            # of four rows two are longer than the others: a hexagon of fewer is a rectangle
            rows = 2 if len(plan.program.statements) > 1 else 4
            sizes = (*_smaller((steps,), rows), *_smaller(tuple(others), 2))
            return replace(step, operation=replace(hexagon, sizes=sizes))
        case UnrollAndJam(factors=factors) as jam:
            return replace(step, operation=replace(jam, factors=_smaller(factors, size)))
        case StripMine(size=strip) as mine:
            return replace(step, operation=replace(mine, size=min(strip, size)))
        case Unroll(factor=int(factor)) as unroll:
            return replace(step, operation=replace(unroll, factor=min(factor, size)))
        case _:
            return step


def _smaller(numbers: tuple[LoopNumber, ...], size: int) -> tuple[LoopNumber, ...]:
    return tuple(replace(one, number=min(one.number, size)) for one in numbers)


Cell = tuple[int, Coordinates]
"""The number of an array, and the subscripts."""


@dataclass(frozen=True)
class DirectDependence:
    kind: DependenceKind
    source: Instance
    sink: Instance
    array: int


@dataclass(frozen=True)
class TouchedCells:
    """Reads and writes by instance, each cell once and in the order of the text."""

    reads: Mapping[Instance, tuple[Cell, ...]]
    writes: Mapping[Instance, tuple[Cell, ...]]
    unknown: tuple[str, ...]
    """Arrays of which any cell may be touched somewhere."""

    def dependences(self, order: Sequence[Instance]) -> Iterator[DirectDependence]:
        """Between instances that run in this order, each pair once for each kind and array."""
        written: dict[Cell, Instance] = {}
        read: dict[Cell, list[Instance]] = {}
        seen: set[DirectDependence] = set()
        for one in order:
            for found in (*self._of_reads(one, written), *self._of_writes(one, written, read)):
                if found not in seen:
                    seen.add(found)
                    yield found
            for cell in self.reads.get(one, ()):
                read.setdefault(cell, []).append(one)
            for cell in self.writes.get(one, ()):
                written[cell] = one
                read[cell] = []

    def _of_reads(self, one: Instance, written: Mapping[Cell, Instance]) -> Iterator[DirectDependence]:
        for cell in self.reads.get(one, ()):
            if cell in written:
                yield DirectDependence(DependenceKind.FLOW, written[cell], one, cell[0])

    def _of_writes(
        self, one: Instance, written: Mapping[Cell, Instance], read: Mapping[Cell, Sequence[Instance]]
    ) -> Iterator[DirectDependence]:
        for cell in self.writes.get(one, ()):
            for reader in read.get(cell, ()):
                yield DirectDependence(DependenceKind.ANTI, reader, one, cell[0])
            if cell in written:
                yield DirectDependence(DependenceKind.OUTPUT, written[cell], one, cell[0])


def touched_cells(program: Program, statements: Sequence[Statement], window: Window) -> TouchedCells:
    """What the drawn instances touch; an access that may be to any cell is left out, and named."""
    numbers = {array.name: k for k, array in enumerate(program.arrays)}
    reads: dict[Instance, dict[Cell, None]] = {}
    writes: dict[Instance, dict[Cell, None]] = {}
    unknown: dict[str, None] = {}
    for statement in statements:
        for access in statement.accesses:
            pairs = _pairs(access, statement, window)
            if pairs is None:
                unknown[access.array] = None
                continue
            side = writes if access.is_write else reads
            for at, cell in pairs:
                side.setdefault((statement.name, at), {})[numbers[access.array], cell] = None
    return TouchedCells(
        {one: tuple(cells) for one, cells in reads.items()},
        {one: tuple(cells) for one, cells in writes.items()},
        tuple(unknown),
    )


def _pairs(
    access: Access, statement: Statement, window: Window
) -> list[tuple[Coordinates, Coordinates]] | None:
    """Instances and cells; None where there is no end of cells, or they depend on data."""
    pairs = fixed(access.relation, window.parameters).intersect_domain(drawn_domain(statement, window))
    points = pairs.wrap()
    if not access.must or not points.is_bounded():
        return None
    return [(one[: statement.depth], one[statement.depth :]) for one in sorted(all_points(points))]
