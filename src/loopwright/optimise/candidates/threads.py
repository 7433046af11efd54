"""Scripts for several threads: the best for one thread, with parallel loops."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.optimise.candidates.judging import Estimated, Judge
from loopwright.optimise.candidates.nests import is_shared, targets, tiles_copied
from loopwright.optimise.candidates.orders import parallel
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.operations import Vectorize
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import handle_at
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
        among_threads(judge, one)


def among_threads(judge: Judge, one: Estimated) -> Estimated:
    """A script with parallel loops in its outermost nests, where some are legal and save something."""
    now, done = one, set[Position]()
    costs = {nest.component: one.cost_of(nest.component) for nest in targets(one.plan)}
    costly = [nest for nest, cost in costs.items() if cost >= WORTH * one.total]
    for nest in sorted(costly, key=lambda nest: -costs[nest]):
        if not done & set(nest.positions):
            after = _shared(judge, now, nest.positions, f"{one.origin}, among threads")
            now, done = (now, done) if after is None else (after, done | set(nest.positions))
    return now


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
            return _in_vectors(judge, after, places, origin)
    return None


def _in_vectors(judge: Judge, shared: Estimated, places: tuple[Position, ...], origin: str) -> Estimated:
    """With vectors along the innermost loops of a parallel nest, where that is legal.

    What threads share are pointers of which compilers do not know that they point to different arrays.
    """
    now = shared
    for place in places:
        handle, loop = handle_at(now.plan, place), _innermost(now.plan, place)
        if handle is None or loop is None or judge.is_over():
            continue
        names = now.plan.statements_at(Component.of([place]))
        after = judge.estimated((*now.script, Step(Vectorize(handle, (loop,)))), origin, (names, now))
        now = now if after is None or after.total > now.total else after
    return now


def _innermost(plan: Plan, place: Position) -> str | None:
    """The innermost loop that is not written out; None where it is parallel or has vectors already."""
    mine = [one for one in plan.directives if place in one.positions]
    loops = plan.leaf(place).loops
    written_out = [one.loop for one in mine if one.kind is DirectiveKind.UNROLL]
    left = [k for k in range(len(loops)) if k not in written_out]
    marked = [one.loop for one in mine if one.kind in (DirectiveKind.PARALLEL, DirectiveKind.VECTORIZE)]
    return None if not left or left[-1] in marked else loops[left[-1]]
