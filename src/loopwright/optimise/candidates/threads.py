"""Derives scripts for several threads from the best for one thread, by parallel loops.

Tiles as large as a cache are few: of five, two threads get three and two.  Smaller ones divide a loop over
tiles evenly:

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
    extent,
    is_shared,
    script_of,
    targets,
    tiles_copied,
)
from loopwright.optimise.candidates.orders import cut_after, parallel
from loopwright.optimise.candidates.own_sums import with_own_sums
from loopwright.optimise.candidates.parts import parted, with_other_strips
from loopwright.optimise.model.touches import overlapping
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.perform import attempted
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Isplit, Parallelize, Skew, Tile
from loopwright.transform.suggest import NamedNest
from loopwright.transform.vectors import Position, padded_position

SEQUENTIAL, SHARED = (0.35, 0.8), (0.6, 1.0)
"""The parts of the time at which parallel loops are first and again tried, and at which that stops."""

CHOICES, ENOUGH = 3, 0.95
"""The number of parallel loops of a nest to compare; one that saves this part of the maximum ends it."""

SMALL = 0.001
"""The tolerated estimated slowdown of a nest whose estimated execution count is near 0."""

SELDOM = 200
"""The number of synchronisations of threads up to which they count as rare."""

DEARER = 1.2
"""The tolerated slowdown of parts for threads on one thread."""

WORTH = 0.005
"""The least part of the cycles for a nest to be parallelised."""


def ends(judge: Judge) -> Iterator[float]:
    """The ends of the parts of a search: scripts for one thread, several, one, several."""
    begun, end = judge.clock(), judge.deadline
    for alone, shared in zip(SEQUENTIAL, SHARED, strict=True):
        yield end if judge.threads == 1 else begun + alone * (end - begun)
        yield end if judge.threads == 1 else begun + shared * (end - begun)


def parallelise(judge: Judge, count: int) -> None:
    """Give the outermost nests of the best scripts their first legal parallel loop each.

    The costliest nest is first.  If the outermost loop cannot be parallel, as over the steps of a stencil,
    the nests inside it are tried.  For one thread nothing is done.
    """
    for one in _alone(judge, count) if judge.threads > 1 else ():
        list(shared_by_threads(judge, one))


def shared_by_threads(judge: Judge, one: Estimated) -> Iterator[Estimated]:
    """A script with parallel loops with rare synchronisation, in parts, and in all nests.

    First with local arrays for sums, if compilers could not keep these in registers there.  The sequential
    work of a strip is smaller in strips half as long.  Nothing is made once the time is over: it would not
    be judged.
    """
    if judge.is_over():
        return
    own = with_own_sums(judge.plan, one.plan, judge.setting)
    local = None if own is None else judge.estimated(own, f"{one.origin}, local sums")
    if local is not None and (after := among_threads(judge, local)) is not local:
        yield after
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
    """A script with parallel loops in its outermost nests, where they are legal and save time.

    Loops that execute more than `most` times stay sequential: other threads would have to fetch the data in
    one thread's cache each time, which the model does not count.
    """
    now, tried = one, set[tuple[str, ...]]()
    while not judge.is_over() and (nest := _next(now, tried)) is not None:
        tried.add(_called(nest))
        after = _shared(judge, now, nest.component.positions, f"{one.origin}, among threads", most)
        now = now if after is None else after
    return now if now is one else in_vectors(judge, now, now.origin, only_shared=True)


def _next(one: Estimated, tried: Set[tuple[str, ...]]) -> NamedNest | None:
    """The costliest nest that is not parallel and was not tried.

    The search repeats after each step, because splitting a loop moves those after it.
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
    """A script with a parallel loop over parts around costly nests, if possible; else None."""
    now = one
    for name in sorted(one.costly, key=lambda name: -one.cycles[name]):
        for script in () if judge.is_over() else parted(judge.plan, now.script, name, judge.setting):
            after = judge.estimated(script, f"{one.origin}, in parts")
            if after is not None and after.total < DEARER * now.total:
                now = after
                break
    shared = now if now is one else among_threads(judge, now)
    return None if shared is now else shared


def _alone(judge: Judge, count: int) -> list[Estimated]:
    """The best script for one thread without copied tiles, which is quick to judge, and the best."""
    found = [one for one in judge.found() if not is_shared(one.script)]
    plain = [one for one in found if not tiles_copied(one.script)][:1]
    return [*plain, *(one for one in found[:count] if one not in plain)]


def _shared(
    judge: Judge, start: Estimated, places: tuple[Position, ...], origin: str, most: int
) -> Estimated | None:
    """A script with a parallel loop in the nest at these places: the best of the first that save time, or an
    earlier, shorter one that is nearly as good.

    An outer loop with few iterations, as over tiles, is not divided as evenly as an inner one, or one over
    smaller tiles. Statements that do not execute in the middle of loops, such as the remainder of tiles, are
    parallelised without estimated savings.
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
        after = _vectorised(judge, judge.estimated(script, origin, (names, start)))
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
    for script in chain(finer_tiles(judge, start, nest), after_diagonal(judge, start, nest)):
        if judge.is_over() or (best is not None and best.total < enough):
            break
        after = _vectorised(judge, judge.estimated(script, origin))
        if after is not None and after.total < (start if best is None else best).total - WORTH * start.total:
            best = after
    return best


def _vectorised(judge: Judge, one: Estimated | None) -> Estimated | None:
    """With vectors in its parallel loops, if compilers cannot tell apart there what pointers lead to."""
    if one is None or judge.is_over() or not overlapping(one.plan.program):
        return one
    return in_vectors(judge, one, one.origin, only_shared=True)


def _runs(judge: Judge, start: Estimated, nest: NamedNest, script: Script) -> int:
    """How often the parallel loop at the end of a script is entered: once if it was moved outside."""
    match script[-1].operation:
        case Parallelize(loops=(loop,)) if loop in nest.loops:
            around = nest.loops[: nest.loops.index(loop)]
            return prod(extent(start.plan, nest, one, judge.setting.sizes) for one in around)
        case _:
            return 1


def _saves(judge: Judge, start: Estimated, after: Estimated) -> bool:
    """Whether threads save time, compared with the same loops on one thread if these were split first.

    The parts of a split loop may have a larger estimate than the whole: its middle is not representative.
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
    """An upper bound on the cycles that threads can save."""
    return start.cost_of(nest) * (1 - 1 / judge.threads)


EVEN = 8
"""The least iterations per thread of a loop that is divided evenly enough."""

SMALLEST = 16
"""The least iterations of a tile."""


def finer_tiles(judge: Judge, start: Estimated, nest: NamedNest) -> Iterator[Script]:
    """The script with smaller tiles in the nest, and a parallel loop over them; the outermost loop first.

    Tiles that share a loop have the same size, before and after.
    """
    plan, setting = start.plan, judge.setting
    for k, loop in enumerate(nest.loops):
        count = extent(plan, nest, loop, setting.sizes)
        if plan.sharing(nest.component, k).positions or not 1 < count < min(EVEN * setting.threads, MANY):
            continue
        factor = 2
        while (finer := _divided(plan, nest, loop, factor)) is not None:
            if count * factor % setting.threads == 0 or count * factor >= EVEN * setting.threads // 2:
                yield from _over(judge, finer, nest, loop)
            if count * factor >= EVEN * setting.threads:
                break
            factor *= 2


def _over(judge: Judge, script: Script, nest: NamedNest, loop: str) -> Iterator[Script]:
    """The script with this loop of the nest parallel; what is copied in it is private to an iteration."""
    plan = attempted(judge.plan, *script)
    if plan is None:
        return
    for one in targets(plan):
        for after in parallel(plan, one, judge.setting_of(plan)) if _called(one) == _called(nest) else ():
            is_skewed = any(isinstance(step.operation, Skew) for step in after[len(script) :])
            if after[-1].operation == Parallelize(one.handle, (loop,)) and not is_skewed:
                yield after


SIDE = 40
"""The side of square tiles of which those on the diagonal come first."""


def after_diagonal(judge: Judge, start: Estimated, nest: NamedNest) -> Iterator[Script]:
    """The script with square tiles in place of skewed ones, with those after the diagonal parallel.

    In a factorisation the columns after a block depend on the block, but not on each other:

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
    """The script with the tiles of the loop divided by a factor; None if there are none, or too small."""
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
    """The size, divided if the loop is the one over its tiles; None if it would be too small."""
    if size.loop is None or f"{size.loop}T" != loop:
        return size
    number, rest = divmod(size.number, factor)
    return LoopNumber(number, size.loop) if number >= SMALLEST and not rest else None
