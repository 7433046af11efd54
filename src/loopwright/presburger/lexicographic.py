"""Vectors before and after each other, as sets and maps."""

from __future__ import annotations

import islpy as isl


def later_by_last(points: isl.Set) -> isl.Set:
    """The vectors that agree with one of `points` except for a greater last coordinate."""
    return points.apply(_less_by_last(points))


def earlier_by_last(points: isl.Set) -> isl.Set:
    """The vectors that agree with one of `points` except for a smaller last coordinate."""
    return points.apply(_less_by_last(points).reverse())


def _less_by_last(points: isl.Set) -> isl.Map:
    last = points.dim(isl.dim_type.set) - 1
    same = isl.Map.universe(points.get_space().map_from_set())
    for k in range(last):
        same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return same.order_lt(isl.dim_type.in_, last, isl.dim_type.out, last)


def split_domain(relation: isl.Map, outer: int, kept: int) -> isl.Map:
    """A relation [p] -> [t] as [p0 ... p(outer-1)] -> [p(outer) ... p(kept-1), t]; no other p is kept."""
    depth = relation.dim(isl.dim_type.in_)
    relation = relation.project_out(isl.dim_type.in_, kept, depth - kept)
    return relation.move_dims(isl.dim_type.out, 0, isl.dim_type.in_, outer, kept - outer)
