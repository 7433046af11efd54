"""Decomposes a schedule into quasi-affine pieces: a time function for each set of instances.

Orders of pairs of instances are then decided one time dimension after the other, and most of them by
comparing two constants: the positions of [Namjoshi2016, section 3.2].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.presburger.dimensions import at, coordinates, padded
from loopwright.presburger.functions import pieces_of_function
from loopwright.presburger.named import at_parameters
from loopwright.presburger.sets import IN, OUT, union

TimeEntry: TypeAlias = int | isl.Aff
"""One dimension of a time: a constant, or a function of the instance."""

Schedules: TypeAlias = Mapping[str, isl.Map]
"""For each statement, { S[i] -> [p0, i0, p1, ...] }."""


@dataclass(frozen=True, eq=False)
class TimedPiece:
    """The instances `domain` of a statement execute at the time `entries`."""

    statement: str
    domain: isl.Set
    entries: tuple[TimeEntry, ...]
    whole: bool
    """Whether these are all instances of the statement."""


def comparable(program: Program, new: Program | Schedules) -> dict[str, isl.Map]:
    """θ' of each statement on its domain, in the context.

    All have the same parameters and are padded with zeros to the same length.
    """
    given = _schedules(program, new)
    space = program.context.get_space()
    for schedule in given.values():
        space = space.align_params(schedule.get_space().params())
    length = max((schedule.dim(OUT) for schedule in given.values()), default=0)
    found: dict[str, isl.Map] = {}
    for statement in program.statements:
        schedule = padded(given[statement.name], length)
        schedule = schedule.intersect_domain(statement.domain).intersect_params(program.context)
        found[statement.name] = schedule.align_params(space)
    return found


def _schedules(program: Program, new: Program | Schedules) -> Schedules:
    names = [statement.name for statement in program.statements]
    if isinstance(new, Program):
        for statement in new.statements:
            if statement.name not in names:
                raise InternalError(
                    Code.INTERNAL, f"the transformed program has a new statement, {statement.name}"
                )
            if not statement.domain.is_equal(program.statement(statement.name).domain):
                raise InternalError(Code.INTERNAL, f"the domain of {statement.name} is not what it was")
        new = {statement.name: statement.schedule for statement in new.statements}
    for name in names:
        if name not in new:
            raise InternalError(Code.INTERNAL, f"the transformed program has no schedule for {name}")
    return {name: new[name] for name in names}


def pieces_of(statement: str, schedule: isl.Map) -> tuple[TimedPiece, ...]:
    """The pieces of a single-valued schedule; those with the same function are merged."""
    merged: list[tuple[list[isl.Set], isl.MultiAff]] = []
    for domain, function in pieces_of_function(schedule.coalesce()):
        same = next((parts for parts, other in merged if other.plain_is_equal(function)), None)
        if same is None:
            merged.append(([domain], function))
        else:
            same.append(domain)
    return tuple(
        TimedPiece(statement, union(parts), _entries(function), len(merged) == 1)
        for parts, function in merged
    )


def _entries(function: isl.MultiAff) -> tuple[TimeEntry, ...]:
    return tuple(_entry(function.get_at(k)) for k in range(function.dim(OUT)))


def _entry(function: isl.Aff) -> TimeEntry:
    if function.is_cst():
        value = function.get_constant_val()
        if value.is_int():
            return int(value.to_python())
    return function


@dataclass(frozen=True, eq=False)
class ComparedTimes:
    """Pairs [a -> b] by one time dimension: a's is less than, equal to or greater than b's."""

    less: isl.BasicSet
    equal: isl.BasicSet
    greater: isl.BasicSet


TimeColumn: TypeAlias = int | ComparedTimes
"""A time dimension of pairs; for two constants just the sign of their difference."""


def columns(first: TimedPiece, second: TimedPiece, space: isl.Space) -> Iterator[TimeColumn]:
    """Yields the comparison of the times of a and b, dimension by dimension, for `space` = a -> b.

    It is lazy, because the first different constants decide.
    """
    to_first, to_second = isl.MultiAff.domain_map(space), isl.MultiAff.range_map(space)
    for mine, theirs in zip(first.entries, second.entries, strict=True):
        if isinstance(mine, int) and isinstance(theirs, int):
            yield (mine > theirs) - (mine < theirs)
            continue
        one, other = _pulled_back(mine, to_first), _pulled_back(theirs, to_second)
        yield ComparedTimes(one.lt_basic_set(other), one.eq_basic_set(other), one.gt_basic_set(other))


def closer(
    first: TimedPiece, second: TimedPiece, dimension: int, distance: int, space: isl.Space
) -> isl.Set:
    """The pairs [a -> b] of `space` whose times at `dimension` differ by less than `distance`."""
    one = _pulled_back(first.entries[dimension], isl.MultiAff.domain_map(space))
    other = _pulled_back(second.entries[dimension], isl.MultiAff.range_map(space))
    apart = one.sub(other)
    bound = isl.Aff.val_on_domain_space(apart.get_domain_space(), isl.Val(distance))
    return apart.lt_set(bound).intersect(apart.gt_set(bound.neg()))


def _pulled_back(entry: TimeEntry, function: isl.MultiAff) -> isl.Aff:
    if isinstance(entry, int):
        return isl.Aff.val_on_domain_space(function.get_space().domain(), isl.Val(entry))
    return entry.pullback_multi_aff(function)


def between(pairs: isl.Map, first: TimedPiece, second: TimedPiece) -> isl.Map:
    """The pairs of instances of these pieces; `pairs` is within the domains of the statements."""
    if not first.whole:
        pairs = pairs.intersect_domain(first.domain)
    return pairs if second.whole else pairs.intersect_range(second.domain)


def time_of(schedule: isl.Map, instance: tuple[int, ...], parameters: Mapping[str, int]) -> tuple[int, ...]:
    """The time of one instance, for these parameters."""
    point = at_parameters(at(schedule, IN, instance), parameters).range().sample_point()
    if point.is_void():
        raise InternalError(Code.INTERNAL, f"the instance {instance} has no time")
    return coordinates(point)
