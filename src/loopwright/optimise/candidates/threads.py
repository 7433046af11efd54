"""Scripts for several threads: the best for one thread, with parallel loops."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.optimise.candidates.judging import Estimated, Judge
from loopwright.optimise.candidates.nests import is_shared, targets, tiles_copied
from loopwright.optimise.candidates.orders import parallel
from loopwright.transform.vectors import Position

SEQUENTIAL, SHARED = (0.35, 0.8), (0.6, 1.0)
"""The parts of the time after which parallel loops are tried, twice, and after which no more are."""

WORTH = 0.005
"""Threads do not share a nest with a smaller part of the cycles."""


def ends(judge: Judge) -> Iterator[float]:
    """When each part of a search ends: scripts of one thread, of several, of one, of several."""
    begun, end = judge.clock(), judge.deadline
    for alone, shared in zip(SEQUENTIAL, SHARED, strict=True):
        yield end if judge.threads == 1 else begun + alone * (end - begun)
        yield end if judge.threads == 1 else begun + shared * (end - begun)


def parallelise(judge: Judge, count: int) -> None:
    """The outermost nests of the best scripts, each with the first parallel loop that is legal.

    What takes longest is first.  Where the outermost loop can be none, as that over the steps of a stencil,
    the nests inside it.  For one thread nothing is done.
    """
    for one in _alone(judge, count) if judge.threads > 1 else ():
        now, done = one, set[Position]()
        costs = {nest.component: one.cost_of(nest.component) for nest in targets(one.plan)}
        costly = [nest for nest, cost in costs.items() if cost >= WORTH * one.total]
        for nest in sorted(costly, key=lambda nest: -costs[nest]):
            if not done & set(nest.positions):
                after = _shared(judge, now, nest.positions, f"{one.origin}, among threads")
                now, done = (now, done) if after is None else (after, done | set(nest.positions))


def _alone(judge: Judge, count: int) -> list[Estimated]:
    """Of scripts for one thread the best whose tiles are not copied, which is judged soon, and the best."""
    found = [one for one in judge.found() if not is_shared(one.script)]
    plain = [one for one in found if not tiles_copied(one.script)][:1]
    return [*plain, *(one for one in found[:count] if one not in plain)]


def _shared(judge: Judge, start: Estimated, places: tuple[Position, ...], origin: str) -> Estimated | None:
    """A script with a parallel loop in the nest at these places that saves something."""
    nest = next((one for one in targets(start.plan) if one.component.positions == places), None)
    if nest is None:
        return None
    names = start.plan.statements_at(nest.component)
    for script in parallel(start.plan, nest, judge.setting):
        if judge.is_over():
            return None
        after = judge.estimated(script, origin, (names, start))
        if after is not None and after.total < start.total:
            return after
    return None
