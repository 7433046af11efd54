"""The meaning of a schedule tree [Grosser2015, section 6]: which instances execute, and in what order.

A tree is read as its leaves.  Each has the relation between the instances that reach it and the values of all
band dimensions on the way, and the columns of its full time vector: band dimensions, and the positions among
the children of sequence and set nodes.  Two instances are ordered by the first column in which their times
differ, unless it is one of a set node. The generator shares no code with this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.model import schedule as trees
from loopwright.model.annotations import Independent
from loopwright.presburger.sets import sorted_maps, union_map


@dataclass(frozen=True)
class BandDimension:
    index: int
    """The index among the band dimensions from the root."""


@dataclass(frozen=True)
class SequencePosition:
    index: int


@dataclass(frozen=True)
class AnyPosition:
    """A position among unordered children."""

    index: int


Column: TypeAlias = BandDimension | SequencePosition | AnyPosition


@dataclass(frozen=True, eq=False)
class TimedLeaf:
    """A leaf, or what is known of it at a node further out: the instances that reach it, and their times.

    `times` maps the instances to the values of the band dimensions that the columns mention.
    """

    times: isl.UnionMap
    columns: tuple[Column, ...] = ()
    independent: frozenset[tuple[type[Independent], int]] = frozenset()
    """The band dimensions whose loops the schedule marks as independent, and in which way."""

    def bands(self) -> int:
        return sum(isinstance(column, BandDimension) for column in self.columns)


@dataclass(frozen=True, eq=False)
class Meaning:
    """The meaning of a schedule for parameters in `context`, which names all parameters."""

    context: isl.Set
    leaves: tuple[TimedLeaf, ...]


def meaning(schedule: trees.Schedule) -> Meaning:
    """The leaves of `schedule`, with its context narrowed by the assumptions of context nodes."""
    nothing = isl.Set.from_params(isl.Set.universe(schedule.domain.get_space().params()))
    start = isl.UnionMap.from_domain_and_range(schedule.domain, isl.UnionSet.from_set(nothing))
    found: list[TimedLeaf] = []
    context = schedule.context.params()
    for item in _read(schedule.tree, TimedLeaf(start)):
        if isinstance(item, TimedLeaf):
            found.append(item)
        else:
            context = context.intersect(item)
    space = context.get_space()
    for leaf in found:
        space = space.align_params(leaf.times.get_space().params())
    for transformation in schedule.arguments.values():
        space = space.align_params(transformation.get_space().params())
    context = context.align_params(space)
    known = tuple(replace(leaf, times=leaf.times.intersect_params(context)) for leaf in found)
    return Meaning(context, known)


def _read(tree: trees.Tree, state: TimedLeaf) -> Iterator[TimedLeaf | isl.Set]:
    """Yields the leaves below `tree` in order, and the parameter sets that its context nodes assume."""
    match tree:
        case trees.Leaf():
            yield state
        case trees.Band(child=child):
            yield from _read(child, _banded(tree, state))
        case trees.Filter(instances, child):
            yield from _read(child, replace(state, times=state.times.intersect_domain(instances)))
        case trees.Sequence(children):
            for k, one in enumerate(children):
                yield from _read(one, replace(state, columns=(*state.columns, SequencePosition(k))))
        case trees.AnyOrder(children):
            for k, one in enumerate(children):
                yield from _read(one, replace(state, columns=(*state.columns, AnyPosition(k))))
        case trees.Context(assumed, child):
            yield _assumption(assumed, state)
            yield from _read(child, state)
        case trees.Guard(guard, child):
            yield from _read(child, replace(state, times=_guarded(guard, state)))
        case trees.Mark(_, child):
            yield from _read(child, state)
        case trees.Annotated(Independent() as annotation, dimension, child):
            said = state.independent | {(type(annotation), dimension)}
            yield from _read(child, replace(state, independent=said))
        case trees.Annotated(_, _, child):
            yield from _read(child, state)
        case trees.Extension(extension, child):
            yield from _read(child, replace(state, times=_extended(extension, state)))
        case trees.Expansion(expansion, child):
            yield from _read(child, replace(state, times=expansion.reverse().apply_range(state.times)))
        case _:
            assert_never(tree)


def _banded(band: trees.Band, state: TimedLeaf) -> TimedLeaf:
    """The state with the band's dimensions appended to those of outer bands."""
    count, outer = len(band.members), state.bands()
    if count == 0:
        return state
    maps = sorted_maps(band.schedule)
    for one in maps:
        if one.dim(isl.dim_type.out) != count:
            raise InternalError(Code.INTERNAL, f"a band of {count} dimensions with the schedule {one}")
    plain = union_map(map(_plain_range, maps), band.schedule.get_space())
    columns = tuple(BandDimension(outer + k) for k in range(count))
    times = state.times.flat_range_product(plain)
    return replace(state, times=times, columns=(*state.columns, *columns))


def _plain_range(relation: isl.Map) -> isl.Map:
    return relation.flatten_range().reset_tuple_id(isl.dim_type.out)


def _outer(condition: isl.Set, state: TimedLeaf) -> isl.UnionSet | None:
    """A condition on the outer band dimensions, or None if it is one on parameters only."""
    if condition.is_params() or condition.dim(isl.dim_type.set) == 0:
        return None
    if condition.dim(isl.dim_type.set) != state.bands():
        raise InternalError(
            Code.INTERNAL, f"a condition on other than the {state.bands()} outer dimensions: {condition}"
        )
    return isl.UnionSet.from_set(condition.flatten().reset_tuple_id())


def _guarded(guard: isl.Set, state: TimedLeaf) -> isl.UnionMap:
    outer = _outer(guard, state)
    if outer is None:
        return state.times.intersect_params(guard.params())
    return state.times.intersect_range(outer)


def _extended(extension: isl.UnionMap, state: TimedLeaf) -> isl.UnionMap:
    """Adds instances for each value of the outer dimensions that some instance has there."""
    added = extension.intersect_domain(state.times.range())
    return state.times.union(added.reverse())


def _assumption(assumed: isl.Set, state: TimedLeaf) -> isl.Set:
    """The parameters for which all outer dimensions that occur satisfy `assumed`."""
    outer = _outer(assumed, state)
    if outer is None:
        return assumed.params()
    return state.times.range().subtract(outer).params().complement()
