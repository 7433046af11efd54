"""Scripts for several threads: the best for one thread, with parallel loops.

Of tiles that are as large as a cache there are few: of five, two threads have three and two.  Smaller ones
give threads even parts of a loop over tiles:

    for jT < 5, parallel: ...   -->   for jT < 20, parallel: ...
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from itertools import chain
from math import prod

from loopwright.optimise.candidates.finishing import in_vectors
from loopwright.optimise.candidates.judging import Estimated, Judge
from loopwright.optimise.candidates.nests import (
    MANY,
    Script,
    SearchContext,
    extent,
    is_shared,
    script_of,
    targets,
    tiles_copied,
)
from loopwright.optimise.candidates.orders import cut_after, parallel
from loopwright.optimise.candidates.parts import parted, with_other_strips
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.perform import attempted
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Isplit, Parallelize, Tile
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest
from loopwright.transform.vectors import Position, padded_position

SEQUENTIAL, SHARED = (0.35, 0.8), (0.6, 1.0)
"""The parts of the time after which parallel loops are tried, twice, and after which no more are."""

CHOICES, ENOUGH = 3, 0.95
"""So many parallel loops of a nest are compared; none after one that saves this part of what threads can."""

SMALL = 0.001
"""What may seem to be lost in a nest that hardly seems to run."""

SELDOM = 200
"""Threads that wait for each other no more than about so many times wait seldom."""

DEARER = 1.2
"""Parts for threads may take so much longer on one thread than the whole."""

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
        list(shared_by_threads(judge, one))


def shared_by_threads(judge: Judge, one: Estimated) -> Iterator[Estimated]:
    """A script with parallel loops where threads seldom wait for each other, in parts, and in all nests.

    What one thread does alone in a strip is less in strips that are half as long.
    """
    if (seldom := among_threads(judge, one, SELDOM)) is not one:
        yield seldom
        shorter = next(with_other_strips(seldom.script), None)
        if shorter is not None and (strips := judge.estimated(shorter, seldom.origin)) is not None:
            yield strips
    if (parted := in_parts(judge, one)) is not None:
        yield parted
    if (after := among_threads(judge, one)) is not one and after.script != seldom.script:
        yield after


def among_threads(judge: Judge, one: Estimated, most: int = MANY) -> Estimated:
    """A script with parallel loops in its outermost nests, where some are legal and save something.

    Loops that run more than `most` times are left to one thread: what it has in its cache the others would
    have to fetch each time, which the model does not count.
    """
    now, tried = one, set[tuple[str, ...]]()
    while (nest := _next(now, tried)) is not None:
        tried.add(_called(nest))
        after = _shared(judge, now, nest.component.positions, f"{one.origin}, among threads", most)
        now = now if after is None else after
    return now if now is one else in_vectors(judge, now, now.origin, only_shared=True)


def _next(one: Estimated, tried: Set[tuple[str, ...]]) -> NamedNest | None:
    """The nest that costs most of those that threads do not share and that were not tried.

    They are looked for again after each step: a loop that is cut moves those after it.
    """
    shared = {
        place
        for directive in one.plan.directives
        if directive.kind is DirectiveKind.PARALLEL
        for place in directive.positions
    }
    left = [
        nest
        for nest in targets(one.plan)
        if one.cost_of(nest.component) >= WORTH * one.total
        and _called(nest) not in tried
        and shared.isdisjoint(nest.component.positions)
    ]
    return max(left, key=lambda nest: one.cost_of(nest.component), default=None)


def _called(nest: NamedNest) -> tuple[str, ...]:
    return (nest.handle, *map(str, nest.definition), *nest.loops)


def in_parts(judge: Judge, one: Estimated) -> Estimated | None:
    """A script with a loop over parts around nests that cost much, where threads can share it; else None."""
    now = one
    for name in sorted(one.costly, key=lambda name: -one.cycles[name]):
        for script in parted(judge.plan, now.script, name, judge.setting):
            after = None if judge.is_over() else judge.estimated(script, f"{one.origin}, in parts")
            if after is not None and after.total < DEARER * now.total:
                now = after
                break
    shared = now if now is one else among_threads(judge, now)
    return None if shared is now else shared


def _alone(judge: Judge, count: int) -> list[Estimated]:
    """Of scripts for one thread the best whose tiles are not copied, which is judged soon, and the best."""
    found = [one for one in judge.found() if not is_shared(one.script)]
    plain = [one for one in found if not tiles_copied(one.script)][:1]
    return [*plain, *(one for one in found[:count] if one not in plain)]


def _shared(
    judge: Judge, start: Estimated, places: tuple[Position, ...], origin: str, most: int
) -> Estimated | None:
    """A script with a parallel loop in the nest at these places: the best of the first that save something,
    or one before it that is nearly as good: later ones are longer.

    An outer loop with few iterations, as over tiles, is not shared as evenly as one inside of it, or as one
    over smaller tiles.
    What seems not to run in the middle of loops, as what tiles leave over, is shared though it saves nothing.
    """
    here = {padded_position(place, start.plan.loops) for place in places}
    nest = next((one for one in targets(start.plan) if set(one.component.positions) == here), None)
    if nest is None:
        return None
    names = start.plan.statements_at(nest.component)
    found: list[Estimated] = []
    legal: list[Estimated] = []
    for script in parallel(start.plan, nest, judge.setting_of(start.plan)):
        if judge.is_over() or len(found) == CHOICES:
            break
        if _runs(judge, start, nest, script) > most:
            continue
        after = judge.estimated(script, origin, (names, start))
        if after is not None and after.total < (1 + SMALL) * start.total:
            legal.append(after)
        if after is not None and _saves(judge, start, after):
            found.append(after)
            if start.total - after.total > ENOUGH * _shareable(judge, start, nest.component):
                break
    found = found or legal[:1]
    least = min((one.total for one in found), default=0.0)
    best = next((one for one in found if one.total <= least + WORTH * start.total), None)
    enough = start.total - ENOUGH * _shareable(judge, start, nest.component)
    finer = finer_tiles(start.plan, nest, judge.setting)
    for script in chain(finer, after_diagonal(judge, start, nest)):
        if judge.is_over() or (best is not None and best.total < enough):
            break
        after = judge.estimated(script, origin)
        if after is not None and after.total < (start if best is None else best).total - WORTH * start.total:
            best = after
    return best


def _runs(judge: Judge, start: Estimated, nest: NamedNest, script: Script) -> int:
    """How often the parallel loop at the end of a script runs: once where it was moved outside."""
    match script[-1].operation:
        case Parallelize(loops=(loop,)) if loop in nest.loops:
            around = nest.loops[: nest.loops.index(loop)]
            return prod(extent(start.plan, nest, one, judge.setting.sizes) for one in around)
        case _:
            return 1


def _saves(judge: Judge, start: Estimated, after: Estimated) -> bool:
    """Whether threads save something, beside the same loops on one thread where these were cut first.

    The parts of a loop that is cut may seem to take longer than the whole: its middle is not like its ends.
    """
    if after.total < (1 - SMALL) * start.total:
        return True
    new = after.script[len(start.script) :]
    if not any(isinstance(step.operation, Isplit) for step in new):
        return False
    alone = (step for step in new if not isinstance(step.operation, Parallelize))
    plain = judge.estimated((*start.script, *alone), start.origin)
    return plain is not None and after.total < (1 - SMALL) * plain.total


def _shareable(judge: Judge, start: Estimated, nest: Component) -> float:
    """The cycles that threads save at most."""
    return start.cost_of(nest) * (1 - 1 / judge.threads)


EVEN = 8
"""Iterations that each thread has at least of a loop that is shared evenly enough."""

SMALLEST = 16
"""Iterations that a tile has at least."""


def finer_tiles(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """The script with smaller tiles in the nest, and their loop parallel; the outermost loop first.

    Tiles that share a loop have the same size, before and after.
    """
    for k, loop in enumerate(nest.loops):
        count = extent(plan, nest, loop, setting.sizes)
        if plan.sharing(nest.component, k).positions or not 1 < count < min(EVEN * setting.threads, MANY):
            continue
        factor = 2
        while (finer := _divided(plan, nest, loop, factor)) is not None:
            if count * factor >= EVEN * setting.threads // 2:
                yield (*finer, *nest.definition, Step(Parallelize(nest.handle, (loop,))))
            if count * factor >= EVEN * setting.threads:
                break
            factor *= 2


SIDE = 40
"""Iterations of each side of tiles of which those on the diagonal come first."""


def after_diagonal(judge: Judge, start: Estimated, nest: NamedNest) -> Iterator[Script]:
    """The script with square tiles in place of skewed ones, those after the diagonal shared.

    In a factorisation the columns after a block wait for the block, and not for each other:

        for k:  for j > k:  ...   -->   for kT:  the tile jT = kT;   for jT > kT, parallel:  for k:  for j
    """
    script = list(script_of(start.plan))
    for place, step in enumerate(script):
        match step.operation:
            case Tile(target=target, sizes=sizes, skew=True) if _is_inside(
                start.plan, target, set(start.plan.statements_at(nest.component))
            ):
                square = tuple(replace(one, number=SIDE) for one in sizes)
                script[place] = replace(step, operation=replace(step.operation, sizes=square))
                yield from _after_diagonal(judge, tuple(script), nest)
            case _:
                pass


def _after_diagonal(judge: Judge, script: Script, nest: NamedNest) -> Iterator[Script]:
    plan = attempted(judge.plan, *script)
    if plan is None:
        return
    for one in targets(plan):
        if one.handle == nest.handle and len(one.loops) > 1:
            yield from cut_after(plan, one, one.loops[1], judge.setting_of(plan))


def _divided(plan: Plan, nest: NamedNest, loop: str, factor: int) -> Script | None:
    """The script with tiles of the loop so many times as small; None where there are none, or too small."""
    inside = set(plan.statements_at(nest.component))
    script, found = list(script_of(plan)), False
    for place, step in enumerate(script):
        match step.operation:
            case Tile(target=target, sizes=sizes) if _is_inside(plan, target, inside):
                smaller = tuple(_smaller(one, loop, factor) for one in sizes)
                if None in smaller:
                    return None
                numbers = tuple(one for one in smaller if one is not None)
                found = found or numbers != sizes
                script[place] = replace(step, operation=replace(step.operation, sizes=numbers))
            case _:
                pass
    return tuple(script) if found else None


def _is_inside(plan: Plan, handle: str, names: set[str]) -> bool:
    component = plan.components.get(handle)
    return component is not None and set(plan.statements_at(component)) <= names


def _smaller(size: LoopNumber, loop: str, factor: int) -> LoopNumber | None:
    """The size, divided where the loop is the one over its tiles; None where it would be too small."""
    if size.loop is None or f"{size.loop}T" != loop:
        return size
    number, rest = divmod(size.number, factor)
    return LoopNumber(number, size.loop) if number >= SMALLEST and not rest else None
