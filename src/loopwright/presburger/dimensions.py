"""Operations on the dimensions of tuples, so that callers need not count dimensions.

`side` selects the tuple, IN or OUT of a map or DIM of a set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import islpy as isl

from loopwright.presburger.sets import DIM, IN, OUT

Item = TypeVar("Item", isl.Set, isl.BasicSet, isl.Map, isl.BasicMap)


def only(item: Item, side: isl.dim_type, k: int) -> Item:
    """Of the tuple, dimension `k` alone: { ... [x_k] : there are the other x }."""
    return beyond(first(item, side, k + 1), side, k)


def first(item: Item, side: isl.dim_type, count: int) -> Item:
    """Of the tuple, the first `count` dimensions: { ... [x_0, ..., x_(count-1)] : there are the other x }."""
    return item.project_out(side, count, item.dim(side) - count)


def beyond(item: Item, side: isl.dim_type, count: int) -> Item:
    """Of the tuple, the dimensions after the first `count`: { ... [x_count, ...] : there are others }."""
    return item.project_out(side, 0, count)


def at(item: Item, side: isl.dim_type, values: Sequence[int]) -> Item:
    """The part of `item` in which the tuple begins with these values."""
    for k, value in enumerate(values):
        item = item.fix_val(side, k, isl.Val(str(value)))
    return item


def within(domain: isl.Set, box: Sequence[tuple[int, int]]) -> isl.Set:
    """{ x in domain : low <= x_k <= high } for the pairs (low, high) of a box, one for each dimension."""
    for k, (low, high) in enumerate(box):
        domain = domain.lower_bound_val(DIM, k, isl.Val(str(low)))
        domain = domain.upper_bound_val(DIM, k, isl.Val(str(high)))
    return domain


def split(points: isl.Set, count: int) -> isl.Map:
    """{ [x_0, ..., x_(count-1)] -> [x_count, ...] : x in points }."""
    return isl.Map.from_range(points).move_dims(IN, 0, OUT, 0, count)


def equal_in(pairs: isl.Map, dimensions: Iterable[int]) -> isl.Map:
    """{ x -> y in pairs : x_k = y_k for these k }."""
    for k in dimensions:
        pairs = pairs.equate(IN, k, OUT, k)
    return pairs


def selection(space: isl.Space, columns: Sequence[int]) -> isl.Map:
    """{ x -> [x_k for k in columns] }, for the x of a space."""
    chosen = isl.Map.from_domain(isl.Set.universe(space)).add_dims(OUT, len(columns))
    for place, column in enumerate(columns):
        chosen = chosen.equate(IN, column, OUT, place)
    return chosen


def padded(relation: isl.Map, length: int) -> isl.Map:
    """{ x -> [y, 0, ..., 0] }, the vector `length` long."""
    old = relation.dim(OUT)
    relation = relation.add_dims(OUT, length - old)
    for k in range(old, length):
        relation = relation.fix_val(OUT, k, isl.Val(0))
    return relation


def preceded(relation: isl.Map, value: int) -> isl.Map:
    """{ x -> [value, y] }."""
    return relation.insert_dims(OUT, 0, 1).fix_val(OUT, 0, isl.Val(value))


def followed(relation: isl.Map, value: int) -> isl.Map:
    """{ x -> [y, value] }."""
    return relation.add_dims(OUT, 1).fix_val(OUT, relation.dim(OUT), isl.Val(value))


def with_names(domain: isl.Set, names: Sequence[str]) -> isl.Set:
    """The same set, its dimensions called by these names."""
    for k, name in enumerate(names):
        domain = domain.set_dim_name(DIM, k, name)
    return domain


def coordinates(point: isl.Point) -> tuple[int, ...]:
    """The coordinates of a point of a set, without the parameters."""
    count = point.get_space().dim(DIM)
    return tuple(int(point.get_coordinate_val(DIM, k).to_python()) for k in range(count))


def all_points(points: isl.Set) -> list[tuple[int, ...]]:
    """The points of a finite set without parameters, in isl's order."""
    found: list[tuple[int, ...]] = []
    points.foreach_point(lambda point: found.append(coordinates(point)))
    return found


def later_by_last(points: isl.Set) -> isl.Set:
    """The vectors that agree with one of `points` except for a greater last coordinate."""
    return points.apply(_less_by_last(points))


def earlier_by_last(points: isl.Set) -> isl.Set:
    """The vectors that agree with one of `points` except for a smaller last coordinate."""
    return points.apply(_less_by_last(points).reverse())


def _less_by_last(points: isl.Set) -> isl.Map:
    last = points.dim(DIM) - 1
    same = isl.Map.universe(points.get_space().map_from_set())
    for k in range(last):
        same = same.equate(IN, k, OUT, k)
    return same.order_lt(IN, last, OUT, last)


def split_domain(relation: isl.Map, outer: int, kept: int) -> isl.Map:
    """A relation [p] -> [t] as [p0 ... p(outer-1)] -> [p(outer) ... p(kept-1), t]; no other p is kept."""
    depth = relation.dim(IN)
    relation = relation.project_out(IN, kept, depth - kept)
    return relation.move_dims(OUT, 0, IN, outer, kept - outer)
