"""Obligations 1 to 3: nothing missing, nothing extra, nothing twice, target by target.

Besides, a loop that does not end is right only while there is something left to execute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import reduce
from typing import TypeAlias

import islpy as isl

from loopwright.presburger.dimensions import earlier_by_last, first
from loopwright.presburger.equalities import Residues, are_apart, in_class, is_plainly_injective, residues
from loopwright.presburger.sets import DIM
from loopwright.prove.scanning.executed import Executed, Repeat, Run, loops, runs
from loopwright.prove.scanning.targets import Target, TargetExecutions
from loopwright.prove.scanning.witness import Failure

Range: TypeAlias = tuple[isl.Set, Residues]
"""The points a call reaches, and residues they all have."""


def coverage(targets: tuple[Target, ...], strays: tuple[Run, ...]) -> Iterator[Failure | None]:
    """The obligations one after the other: None where one holds, its failure where it does not."""
    for run in strays:
        yield _stray(run)
    for target in targets:
        ranges = [
            (reached, residues(reached)) for reached in (one.points.range() for one in target.executions)
        ]
        for reached, _ in ranges:
            yield _extra(reached, target)
        yield from _missing(target, ranges)
        yield from _twice(target, ranges)


def _stray(run: Run) -> Failure | None:
    if run.domain.is_empty():
        return None
    executed = run.arguments.as_map().intersect_domain(run.domain).range()
    return Failure("extra", executed, ((run.name, run.arguments.dim(isl.dim_type.out)),))


def _failure(kind: str, target: Target, points: isl.Set) -> Failure:
    several = target.several_times
    return Failure(kind, points, (target.key,), time_follows=several, chosen=several)


def _extra(reached: isl.Set, target: Target) -> Failure | None:
    """range(E) − D = ∅, for one call."""
    if reached.is_subset(target.wanted):
        return None
    return _failure("extra", target, reached.subtract(target.wanted))


def _missing(target: Target, ranges: list[Range]) -> Iterator[Failure | None]:
    """D − range(E) = ∅."""
    for wanted, reached in _by_residue(target.wanted, ranges):
        union = reduce(isl.Set.union, reached, isl.Set.empty(wanted.get_space()))
        covered = wanted.is_subset(union)
        yield None if covered else _failure("missing", target, wanted.subtract(union))


def _by_residue(wanted: isl.Set, ranges: list[Range]) -> Iterator[tuple[isl.Set, list[isl.Set]]]:
    """`wanted` in parts, each with the ranges that can hold points of it.

    Unrolling makes many calls, each of one residue class; isl is quick only class by class.
    """
    held = Counter(modulus for _, known in ranges for modulus in known if modulus[1] > 0)
    most = min(held, key=lambda one: (-held[one], one), default=None)
    if most is None or held[most] < 4 or most[1] > held[most] * 4:
        yield wanted, [reached for reached, _ in ranges]
        return
    for value in range(most[1]):
        inside = [(reached, known) for reached, known in ranges if known.get(most, value) == value]
        left = [(reached, {one: known[one] for one in known if one != most}) for reached, known in inside]
        yield from _by_residue(in_class(wanted, most, value), left)


def _twice(target: Target, ranges: list[Range]) -> Iterator[Failure | None]:
    """E is injective: each call alone, and the calls against each other."""
    for one in target.executions:
        yield _again(one, target)
    for k, (mine, known) in enumerate(ranges):
        for other, known_of_other in ranges[:k]:
            disjoint = are_apart(known, known_of_other) or mine.is_disjoint(other)
            yield None if disjoint else _failure("twice", target, mine.intersect(other))


def _again(execution: TargetExecutions, target: Target) -> Failure | None:
    """No point is reached by two iterator vectors."""
    points = execution.points
    if is_plainly_injective(points) or _is_hull_injective(points) or points.is_injective():
        return None
    pairs = points.apply_range(points.reverse())
    different = pairs.subtract(isl.Map.identity(pairs.get_space()))
    return _failure("twice", target, different.domain().apply(points))


def _is_hull_injective(points: isl.Map) -> bool:
    """Whether a larger relation of one piece reaches no point twice: then none of its parts does.

    isl compares every two pieces, which may take it a hundred times as long.
    """
    return points.n_basic_map() > 1 and bool(isl.Map.from_basic_map(points.simple_hull()).is_injective())


def endless(tree: Executed) -> Iterator[Failure | None]:
    """Each iteration of a loop that may not end is, or comes before, one that executes something."""
    for loop in loops(tree):
        if loop.endless is not None:
            yield _in_vain(loop, loop.endless)


def _in_vain(loop: Repeat, iterations: isl.Set) -> Failure | None:
    nothing = isl.Set.empty(iterations.get_space())
    useful = reduce(isl.Set.union, (_iterations(run.domain, loop.depth) for run in runs(loop.body)), nothing)
    idle = iterations.subtract(useful)
    if idle.is_empty():
        return None
    idle = idle.subtract(earlier_by_last(useful))
    return None if idle.is_empty() else Failure("endless", idle.params(), (), loop=loop.iterator)


def _iterations(domain: isl.Set, depth: int) -> isl.Set:
    return first(domain, DIM, depth + 1)
