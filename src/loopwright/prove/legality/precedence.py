"""θ'(a) ≺ θ'(b) for every pair a -> b of a relation, decided one dimension after the other.

The pairs that are equal in all dimensions so far are narrowed down, and a dimension that leaves
none ends the search [Namjoshi2016, section 4.1].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.sets import union
from loopwright.prove.legality.times import ComparedTimes, TimeColumn, TimedPiece, between, columns


@dataclass(frozen=True, eq=False)
class PairOrder:
    """The time columns of two pieces, worked out as far as they were needed."""

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
    """All pairs of pieces of two statements; `space` is the one of the pairs of their instances."""
    return tuple(PairOrder(a, b, columns(a, b, space)) for a in first for b in second)


def misordered(pairs: isl.Map, orders: tuple[PairOrder, ...]) -> isl.Set | None:
    """The pairs [a -> b] without θ'(a) ≺ θ'(b), or None where there are none."""
    found = [
        wrong
        for order in orders
        for part in between(pairs, order.first, order.second).wrap().get_basic_sets()
        for wrong in _wrong(part, order)
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
    """The pairs [a -> b] whose times differ at `dimension` and are the same before it, or None."""
    found = [
        wrong
        for order in orders
        for part in between(pairs, order.first, order.second).wrap().get_basic_sets()
        for wrong in _apart(part, order, dimension)
    ]
    return union(found) if found else None


def _apart(pairs: isl.BasicSet, order: PairOrder, dimension: int) -> Iterator[isl.Set]:
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
    """The pairs [a -> b] of two pieces that have the same time, or None where there are none."""
    found = [
        same
        for part in between(pairs, order.first, order.second).wrap().get_basic_sets()
        if (same := _same(part, order)) is not None
    ]
    return union(found) if found else None


def _same(pairs: isl.BasicSet, order: PairOrder) -> isl.Set | None:
    """The last dimensions first: they are iterators where the ones before them are numbers of tiles."""
    columns = list(order)
    if any(not isinstance(column, ComparedTimes) and column != 0 for column in columns):
        return None
    for column in reversed(columns):
        if isinstance(column, ComparedTimes):
            pairs = pairs.intersect(column.equal)
            if pairs.is_empty():
                return None
    return None if pairs.is_empty() else pairs.to_set()
