"""Decides θ'(a) ≺ θ'(b) for every pair a -> b of a relation, one dimension after the other.

The pairs that are equal in all dimensions so far are narrowed down, and a dimension that leaves none ends the
search [Namjoshi2016, section 4.1].

Also checks that θ' is a function, defined on every instance, and that no two instances have the same time.

    θ'(s, i) = θ'(t, j)  implies  s = t and i = j          [Namjoshi2016, section 4.1]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field
from functools import partial
from itertools import combinations_with_replacement

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.sets import union
from loopwright.prove.legality.times import ComparedTimes, TimeColumn, TimedPiece, between, columns
from loopwright.prove.legality.violation import (
    Defect,
    DefectKind,
    WitnessContext,
    collision,
    occurrence,
    smallest,
)


@dataclass(frozen=True, eq=False)
class PairOrder:
    """The time columns of two pieces, computed lazily."""

    first: TimedPiece
    second: TimedPiece
    pending: Iterator[TimeColumn]
    known: list[TimeColumn] = field(default_factory=list)

    def __iter__(self) -> Iterator[TimeColumn]:
        for k in range(len(self.first.entries)):
            if k == len(self.known):
                self.known.append(next(self.pending))
            yield self.known[k]


def pair_orders(
    first: tuple[TimedPiece, ...], second: tuple[TimedPiece, ...], space: isl.Space
) -> tuple[PairOrder, ...]:
    """All pairs of pieces of two statements; `space` is that of the pairs of their instances."""
    return tuple(PairOrder(a, b, columns(a, b, space)) for a in first for b in second)


def misordered(pairs: isl.Map, orders: tuple[PairOrder, ...]) -> isl.Set | None:
    """The pairs [a -> b] without θ'(a) ≺ θ'(b), or None if there are none."""
    return _those(pairs, orders, _wrong)


def _those(
    pairs: isl.Map,
    orders: tuple[PairOrder, ...],
    parts_of: Callable[[isl.BasicSet, PairOrder], Iterator[isl.Set]],
) -> isl.Set | None:
    """The pairs of all pieces that a function selects, or None if there are none."""
    found = [
        taken
        for order in orders
        for part in between(pairs, order.first, order.second).wrap().get_basic_sets()
        for taken in parts_of(part, order)
    ]
    return union(found) if found else None


def _wrong(pairs: isl.BasicSet, order: PairOrder) -> Iterator[isl.Set]:
    for column in order:
        match column:
            case ComparedTimes():
                later = pairs.intersect(column.greater)
                if not later.is_empty():
                    yield later.to_set()
                pairs = pairs.intersect(column.equal)
                if pairs.is_empty():
                    return
            case 0:
                continue
            case sign:
                if sign > 0 and not pairs.is_empty():
                    yield pairs.to_set()
                return
    if not pairs.is_empty():
        yield pairs.to_set()


def carried(pairs: isl.Map, orders: tuple[PairOrder, ...], dimension: int) -> isl.Set | None:
    """The pairs [a -> b] whose times differ at `dimension` and are equal before it, or None."""
    return _those(pairs, orders, partial(_apart, dimension))


def _apart(dimension: int, pairs: isl.BasicSet, order: PairOrder) -> Iterator[isl.Set]:
    for k, column in enumerate(order):
        match column:
            case ComparedTimes() if k == dimension:
                sides = (pairs.intersect(column.less), pairs.intersect(column.greater))
                yield from (side.to_set() for side in sides if not side.is_empty())
                return
            case ComparedTimes():
                pairs = pairs.intersect(column.equal)
                if pairs.is_empty():
                    return
            case sign if k == dimension:
                if sign != 0 and not pairs.is_empty():
                    yield pairs.to_set()
                return
            case sign:
                if sign != 0:
                    return


def same_time(pairs: isl.Map, order: PairOrder) -> isl.Set | None:
    """The pairs [a -> b] of two pieces that have the same time, or None if there are none."""
    return _those(pairs, (order,), _same)


def _same(pairs: isl.BasicSet, order: PairOrder) -> Iterator[isl.Set]:
    """Compares the last dimensions first: if tile numbers precede them, they are iterators."""
    columns = list(order)
    if any(not isinstance(column, ComparedTimes) and column != 0 for column in columns):
        return
    for column in reversed(columns):
        if isinstance(column, ComparedTimes):
            pairs = pairs.intersect(column.equal)
            if pairs.is_empty():
                return
    if not pairs.is_empty():
        yield pairs.to_set()


def not_a_function(context: WitnessContext, known: Collection[str] = ()) -> list[Defect]:
    """For each statement that is not `known`, the smallest instance that has no time, or two."""
    found: list[Defect] = []
    for statement in context.program.statements:
        if statement.name in known:
            continue
        schedule = context.schedules[statement.name]
        domain = statement.domain.intersect_params(context.program.context)
        missing = domain.subtract(schedule.domain())
        if not missing.is_empty():
            point = smallest(missing)
            shown = occurrence(context, statement.name, point.coordinates, point.parameters, ())
            found.append(Defect(DefectKind.UNSCHEDULED, point.parameters, (shown,), ()))
        elif not schedule.is_single_valued():
            found.append(_scheduled_twice(context, statement.name, schedule))
    return found


def _scheduled_twice(context: WitnessContext, name: str, schedule: isl.Map) -> Defect:
    """Two different times t ≺ t' of one instance."""
    twice = schedule.range_product(schedule)
    earlier = isl.Map.lex_lt(schedule.get_space().range()).wrap()
    point = smallest(twice.intersect_range(earlier).wrap())
    depth = context.program.statement(name).depth
    width = (len(point.coordinates) - depth) // 2
    instance, times = point.coordinates[:depth], point.coordinates[depth:]
    shown = occurrence(context, name, instance, point.parameters, times[:width])
    return Defect(DefectKind.SCHEDULED_TWICE, point.parameters, (shown,), (times[:width], times[width:]))


def collisions(context: WitnessContext, pieces: Mapping[str, tuple[TimedPiece, ...]]) -> list[Defect]:
    """For every two statements, the smallest pair of instances at the same time."""
    found: list[Defect] = []
    for one, other in combinations_with_replacement(pieces, 2):
        if all(_never_meet(first, second) for first in pieces[one] for second in pieces[other]):
            continue
        wrong = _colliding(context, one, other, pieces)
        if wrong is not None:
            found.append(collision(context, wrong, (one, other)))
    return sorted(found, key=lambda item: sum(map(abs, item.parameters.values())))


def _colliding(
    context: WitnessContext, one: str, other: str, pieces: Mapping[str, tuple[TimedPiece, ...]]
) -> isl.Set | None:
    space = _domain(context, one).get_space().map_from_domain_and_range(_domain(context, other).get_space())
    found = []
    pairs: isl.Map | None = None
    for order in pair_orders(pieces[one], pieces[other], space):
        if _never_meet(order.first, order.second) or _is_injective(order):
            continue
        if pairs is None:
            pairs = _pairs(context, one, other)
        wrong = same_time(pairs, order)
        if wrong is not None:
            found.append(wrong)
    return union(found) if found else None


def _is_injective(order: PairOrder) -> bool:
    """Whether the pairs are of one piece, and equal times imply equal instances even in a hull of it."""
    if order.first is not order.second:
        return False
    hull = order.first.domain.unshifted_simple_hull()
    pairs = isl.BasicMap.from_domain_and_range(hull, hull)
    itself = isl.Map.identity(pairs.get_space())
    return all(same.unwrap().is_subset(itself) for same in _same(pairs.wrap(), order))


def _never_meet(first: TimedPiece, second: TimedPiece) -> bool:
    """Whether a position differs, as for most pairs of statements."""
    return any(
        isinstance(a, int) and isinstance(b, int) and a != b
        for a, b in zip(first.entries, second.entries, strict=True)
    )


def _domain(context: WitnessContext, name: str) -> isl.Set:
    return context.schedules[name].domain()


def _pairs(context: WitnessContext, one: str, other: str) -> isl.Map:
    """All pairs of instances; for one statement, every two different ones once."""
    mine, theirs = _domain(context, one), _domain(context, other)
    if one == other:
        return isl.Map.lex_lt(mine.get_space()).intersect_domain(mine).intersect_range(mine)
    return isl.Map.from_domain_and_range(mine, theirs)
