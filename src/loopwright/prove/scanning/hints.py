"""Which of its instance's several times an execution stands for: a choice, to be proved right.

Where a statement's instances run at several times, a call's `time` says which one an execution
is.  Where the call has none, as in a program that was read from text, the time is guessed: a
dimension that the instance does not determine is the value of an iterator, the outer for the
outer.  A wrong choice makes an obligation fail, and then there is no answer, rather than a no.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import islpy as isl

from loopwright.presburger.dimensions import only
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.scanning.executed import Run


@dataclass(frozen=True, eq=False)
class Choice:
    """The executions of a call as points (arguments, time) of the `leaf`-th relation given."""

    run: Run
    leaf: int
    points: isl.Map
    times: isl.Map


def choose(calls: list[Run], leaves: list[isl.Map]) -> list[Choice] | Run:
    """A choice for every call, or a call for which there is none.

    `leaves` are relations [arguments] -> [band dimensions].  A call belongs to the first that
    has all its points, none of them taken by an earlier call, or else to the first it fits.
    """
    chosen: list[Choice] = []
    for run in calls:
        if run.domain.is_empty():
            continue
        candidates = list(_candidates(run, leaves))
        if not candidates:
            return run
        holding = [one for one in candidates if one.points.range().is_subset(_points(leaves[one.leaf]))]
        free = [one for one in holding if not any(_overlap(one, other) for other in chosen)]
        chosen.append((free or holding or candidates)[0])
    return chosen


def _overlap(one: Choice, other: Choice) -> bool:
    return one.leaf == other.leaf and not one.points.range().is_disjoint(other.points.range())


def _points(relation: isl.Map) -> isl.Set:
    return relation.wrap().flatten()


def _candidates(run: Run, leaves: list[isl.Map]) -> Iterator[Choice]:
    arguments = run.arguments.as_map().intersect_domain(run.domain)
    for number, relation in enumerate(leaves):
        times = _guess(run, arguments.apply_range(relation)) if run.hint is None else _given(run, run.hint)
        if times is not None and times.dim(OUT) == relation.dim(OUT):
            yield Choice(run, number, arguments.flat_range_product(times), times)


def _given(run: Run, hint: isl.MultiPwAff) -> isl.Map:
    return hint.as_map().intersect_domain(run.domain)


def _guess(run: Run, times: isl.Map) -> isl.Map | None:
    """One time for each p, from the relation [p] -> [t] of those its instance has."""
    if not run.domain.is_subset(times.domain()):
        return None
    unused = 0
    for k in range(times.dim(OUT)):
        if only(times, OUT, k).is_single_valued():
            continue
        same = _as_iterator(run, times, k, unused)
        if same is None:
            return None
        times, unused = same
    return times


def _as_iterator(run: Run, times: isl.Map, k: int, unused: int) -> tuple[isl.Map, int] | None:
    """`times` where t_k is the first of the unused iterators that it can always be, and those left."""
    for j in range(unused, run.depth):
        same = times.equate(IN, j, OUT, k)
        if run.domain.is_subset(same.domain()):
            return same, j + 1
    return None
