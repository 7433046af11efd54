"""Obligations 1 to 3: nothing missing, nothing extra, nothing twice, target by target."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import islpy as isl

from loopwright.presburger.equalities import is_plainly_injective
from loopwright.prove.executed import Run
from loopwright.prove.targets import Execution, Target
from loopwright.prove.witness import Failure


def coverage(targets: tuple[Target, ...], strays: tuple[Run, ...]) -> Iterator[Failure | None]:
    """The obligations one after the other: None where one holds, its failure where it does not."""
    for run in strays:
        yield _stray(run)
    for target in targets:
        for one in target.executions:
            yield _extra(one, target)
        yield _missing(target)
        yield from _twice(target)


def _stray(run: Run) -> Failure | None:
    if run.domain.is_empty():
        return None
    executed = run.arguments.as_map().intersect_domain(run.domain).range()
    return Failure("extra", executed, ((run.name, run.arguments.dim(isl.dim_type.out)),))


def _failure(kind: str, target: Target, points: isl.Set) -> Failure:
    several = target.several_times
    return Failure(kind, points, (target.key,), time_follows=several, chosen=several)


def _extra(execution: Execution, target: Target) -> Failure | None:
    """range(E) − D = ∅, for one call."""
    reached = execution.points.range()
    if reached.is_subset(target.wanted):
        return None
    return _failure("extra", target, reached.subtract(target.wanted))


def _missing(target: Target) -> Failure | None:
    """D − range(E) = ∅."""
    nowhere = isl.Set.empty(target.wanted.get_space())
    reached = reduce(isl.Set.union, (one.points.range() for one in target.executions), nowhere)
    if target.wanted.is_subset(reached):
        return None
    return _failure("missing", target, target.wanted.subtract(reached))


def _twice(target: Target) -> Iterator[Failure | None]:
    """E is injective: each call alone, and the calls against each other."""
    for one in target.executions:
        yield _again(one, target)
    ranges = [one.points.range() for one in target.executions]
    for k, mine in enumerate(ranges):
        for other in ranges[:k]:
            disjoint = mine.is_disjoint(other)
            yield None if disjoint else _failure("twice", target, mine.intersect(other))


def _again(execution: Execution, target: Target) -> Failure | None:
    """No point is reached by two iterator vectors."""
    points = execution.points
    if is_plainly_injective(points) or points.is_injective():
        return None
    pairs = points.apply_range(points.reverse())
    different = pairs.subtract(isl.Map.identity(pairs.get_space()))
    return _failure("twice", target, different.domain().apply(points))
