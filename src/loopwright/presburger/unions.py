"""Unions over several spaces: made of sets and maps, and taken apart."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl


def union_set(sets: Iterable[isl.Set], space: isl.Space) -> isl.UnionSet:
    """All points of the sets; `space` has the parameters where there is none."""
    found = isl.UnionSet.empty(space)
    for one in sets:
        found = found.union(isl.UnionSet.from_set(one))
    return found


def union_map(maps: Iterable[isl.Map], space: isl.Space) -> isl.UnionMap:
    """All pairs of the maps; `space` has the parameters where there is none."""
    found = isl.UnionMap.empty(space)
    for one in maps:
        found = found.union(isl.UnionMap.from_map(one))
    return found


def sets_of(union: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, one a space."""
    found: list[isl.Set] = []
    union.foreach_set(found.append)
    return found


def maps_of(union: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, one a space."""
    found: list[isl.Map] = []
    union.foreach_map(found.append)
    return found


def sorted_maps(union: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, in an order that does not depend on hashing."""
    return sorted(maps_of(union), key=lambda one: str(one.get_space()))


def nonempty_maps(union: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union that relate something."""
    return [one for one in maps_of(union) if not one.is_empty()]
