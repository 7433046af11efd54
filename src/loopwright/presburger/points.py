"""Small examples: a point of a set with small, readable values."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass

BOXES = (1, 2, 4, 8, 16, 64, 1024)
MOST_BITS = 200


@dataclass(frozen=True)
class Point:
    parameters: dict[str, int]
    coordinates: tuple[int, ...]


def values_text(values: Mapping[str, object]) -> str:
    """`n = 3, m = 4`"""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def smallest_point(points: isl.Set) -> Point | None:
    """A point of the set with small absolute values, the parameters' the smallest, or None if it is empty.

    The parameters and then the coordinates are fixed one after the other, each at the value
    nearest to zero that is possible inside the smallest of a few boxes around the origin.
    """
    names = [str(points.get_dim_name(isl.dim_type.param, k)) for k in range(points.dim(isl.dim_type.param))]
    count = points.dim(isl.dim_type.set)
    space = isl.Set.universe(isl.Space.set_alloc(points.get_ctx(), 0, len(names) + count))
    if points.is_params():
        points = isl.Set.from_params(points)
    flat = points.flatten().reset_tuple_id()
    flat = flat.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, len(names)).intersect(space)
    if flat.is_empty():
        return None
    boxed = _boxed(flat, len(names))
    values = _fix_all(boxed)
    return Point(dict(zip(names, values, strict=False)), tuple(values[len(names) :]))


def _boxed(points: isl.Set, parameters: int) -> isl.Set:
    """The points in the smallest box that holds one, the parameters' box taken before the others'."""
    for count in (parameters, points.dim(isl.dim_type.set)):
        for radius in BOXES:
            inside = points
            for k in range(count):
                inside = _within(inside, k, radius)
            if not inside.is_empty():
                points = inside
                break
    return points


def _within(points: isl.Set, k: int, radius: int) -> isl.Set:
    return _at_most(_at_least(points, k, -radius), k, radius)


def _at_least(points: isl.Set, k: int, bound: int) -> isl.Set:
    return points.lower_bound_val(isl.dim_type.set, k, isl.Val.read_from_str(points.get_ctx(), str(bound)))


def _at_most(points: isl.Set, k: int, bound: int) -> isl.Set:
    return points.upper_bound_val(isl.dim_type.set, k, isl.Val.read_from_str(points.get_ctx(), str(bound)))


def _fix_all(points: isl.Set) -> list[int]:
    values: list[int] = []
    for k in range(points.dim(isl.dim_type.set)):
        value = _nearest_to_zero(points, k)
        points = points.fix_val(isl.dim_type.set, k, isl.Val.read_from_str(points.get_ctx(), str(value)))
        values.append(value)
    return values


def _nearest_to_zero(points: isl.Set, k: int) -> int:
    """The value of dimension `k` with the smallest absolute value, the positive one of two.

    Found by bisection with tests for emptiness: isl's minimum of a dimension of a set with hidden
    variables has been seen to be a value that no point of the set has.
    """
    too_small, enough = -1, 0
    while _within(points, k, enough).is_empty():
        too_small, enough = enough, 2 * enough + 1
        if enough.bit_length() > MOST_BITS:
            raise InternalError(
                Code.INTERNAL, "a set that has a point has none of a value with fewer than 200 bits"
            )
    while enough - too_small > 1:
        middle = (enough + too_small) // 2
        if _within(points, k, middle).is_empty():
            too_small = middle
        else:
            enough = middle
    return -enough if _at_least(_within(points, k, enough), k, enough).is_empty() else enough
