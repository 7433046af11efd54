"""Proposes operations worth trying on a program, kind by kind, as steps of a script.

Their legality is not checked here: a proposal fits the structure of the loops, and a proof decides whether it
preserves the dependences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import islpy as isl

from loopwright.c.conditions import conditional_statement
from loopwright.model.dependences import Dependence
from loopwright.presburger.dimensions import beyond
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM, IN
from loopwright.transform.library.pretesting import declared_inside
from loopwright.transform.library.statements import delays
from loopwright.transform.perform import attempted
from loopwright.transform.plan import Component, Plan, PlanLeaf
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import (
    Distribute,
    Expand,
    Fuse,
    Interchange,
    Parallelize,
    Pretest,
    Reorder,
    Shift,
    Skew,
    StripMine,
    Tile,
    UnrollAndJam,
    Vectorize,
)
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import (
    Aim,
    Goal,
    NamedNest,
    Proposal,
    ProposalKind,
    fresh,
    handle_at,
    handle_of,
    inside,
    nests,
    steps_of,
)
from loopwright.transform.vectors import Position

SIZE = 32
"""The tile size that is proposed."""

MOST = 4
"""A nest with more statements than this is not distributed, and its tiles are not skewed."""

DEEP, SHORT = 4, 8
"""For at least so many loops, tiles have this size along all but the innermost."""

BLOCK = 64
"""The number of iterations whose conditions are tested together."""

JAMMED = 4
"""The unroll-and-jam factor of an outer loop."""


def proposals(plan: Plan, dependences: Sequence[Dependence]) -> Iterator[Proposal]:
    """All proposals, in source order."""
    known = nests(plan)
    yield from _parallel(plan)
    for kind in (_wavefronts, _interchanges, _tilings, _apart):
        for nest in known:
            yield from kind(plan, nest)
    yield from _fusions(plan, dependences)
    for kind in (_jams, _distributions):
        for nest in known:
            yield from kind(plan, nest)
    for leaf in plan.leaves:
        yield from conditional(plan, leaf)
    yield from _reorderings(plan)


def _parallel(plan: Plan) -> Iterator[Proposal]:
    """Parallel loops: each loop once, by the handle of its first statement."""
    seen: set[Position] = set()
    for leaf in plan.leaves:
        handle = handle_at(plan, leaf.position)
        for depth, loop in enumerate(leaf.loops, 1):
            path = leaf.position[:depth]
            if path in seen:
                continue
            seen.add(path)
            if handle is not None:
                steps = steps_of(Parallelize(handle, (loop,)))
                statements = plan.statements_at(inside(plan, path))
                yield Proposal(ProposalKind.PARALLEL, steps, (loop,), statements, _parallel_goal(path))


def _parallel_goal(path: Position) -> Goal:
    return Goal(Aim.PARALLEL, (path,))


def _interchanges(plan: Plan, nest: NamedNest) -> Iterator[Proposal]:
    statements = plan.statements_at(nest.component)
    for one, two in combinations(nest.loops, 2):
        steps = (*nest.definition, Step(Interchange(nest.handle, one, two)))
        goal = Goal(Aim.INTERCHANGE, nest.component.positions, (one, two))
        yield Proposal(ProposalKind.INTERCHANGE, steps, (one, two), statements, goal)


def _wavefronts(plan: Plan, nest: NamedNest) -> Iterator[Proposal]:
    """If neither of the two innermost loops is parallel: sequential diagonals, each in parallel."""
    if len(nest.loops) < 2 or len(nest.component.positions) > MOST:
        return
    outer, inner = nest.loops[-2:]
    depth = len(nest.loops)
    unless = tuple(_parallel_goal(nest.component.first[:k]) for k in (depth - 1, depth))
    statements = plan.statements_at(nest.component)
    for factor in (1, 2):
        operations = (
            Skew(nest.handle, inner, outer, factor),
            Interchange(nest.handle, outer, inner),
            Parallelize(nest.handle, (outer,)),
        )
        steps = (*nest.definition, *steps_of(*operations))
        goal = Goal(Aim.WAVEFRONT, nest.component.positions)
        yield Proposal(ProposalKind.PARALLEL, steps, (outer, inner), statements, goal, unless=unless)


def _tilings(plan: Plan, nest: NamedNest) -> Iterator[Proposal]:
    """Tilings of as many adjacent loops as possible, preferably without skew, except short loops."""
    where = nest.component.positions
    if any(_is_short(plan, nest.component, loop) for loop in range(len(nest.loops))):
        yield from _tall_tiles(plan, nest)
        return
    statements = plan.statements_at(nest.component)
    deepest = max((plan.leaf(position).loops for position in where), key=len)

    def proposal(tile: Tile, loops: tuple[str, ...], aim: Aim = Aim.TILES) -> Proposal:
        steps = (*nest.definition, Step(tile))
        return Proposal(ProposalKind.TILING, steps, loops, statements, Goal(aim, where))

    for count in range(max(len(nest.loops), len(deepest)), 1, -1):
        for first in range(len(nest.loops) - count + 1):
            loops = nest.loops[first : first + count]
            tile = Tile(nest.handle, _tiles(loops))
            yield replace(proposal(tile, loops), reaches=(Goal(Aim.TILES_OF_LOOPS, where, loops),))
        if count == len(deepest) and len(where) <= MOST:
            tile = Tile(nest.handle, (LoopNumber(SIZE),) * count, skew=True)
            yield proposal(tile, deepest)
        if count == len(deepest) > 2 and len(nest.loops) < 3 and len(where) <= MOST:
            *outer, rows = deepest
            tile = Tile(nest.handle, _tiles(outer), skew=True)
            yield replace(proposal(tile, tuple(outer), Aim.TILES_OF_ROWS), whole=rows)
            yield _tile_waves(plan, nest, tile, deepest)
        if count == len(deepest) == 2 and len(where) <= MOST:
            yield _tile_waves(plan, nest, Tile(nest.handle, _tiles(deepest), skew=True), deepest)


def _tall_tiles(plan: Plan, nest: NamedNest) -> Iterator[Proposal]:
    """Tiles of as many of the innermost loops as possible, except short loops."""
    lengths = range(len(nest.loops))
    tall = [nest.loops[k] for k in lengths if not _is_short(plan, nest.component, k)]
    statements, where = plan.statements_at(nest.component), nest.component.positions
    for count in range(len(tall), 1, -1):
        loops = tuple(tall[-count:])
        steps = (*nest.definition, Step(Tile(nest.handle, _tiles(loops))))
        reaches = (Goal(Aim.TILES_OF_LOOPS, where, loops),)
        yield Proposal(ProposalKind.TILING, steps, loops, statements, Goal(Aim.TILES, where), reaches=reaches)


def _tile_waves(plan: Plan, nest: NamedNest, tile: Tile, loops: tuple[str, ...]) -> Proposal:
    """Skewed tiles on diagonals of the two outermost loops over them: those of one diagonal in parallel.

    Every dependence distance is non-negative along both loops, so none stays on a diagonal tT + iT = const.
    """
    outer, inner = (f"{loop}T" for loop in loops[:2])
    waves = (
        Skew(nest.handle, inner, outer), Interchange(nest.handle, outer, inner),
        Parallelize(nest.handle, (outer,)),
    )  # fmt: skip
    steps = (*nest.definition, *steps_of(tile, *waves))
    unless = tuple(_parallel_goal(nest.component.first[:k]) for k in range(1, len(nest.loops) + 1))
    goal = Goal(Aim.TILE_WAVES, nest.component.positions)
    statements = plan.statements_at(nest.component)
    return Proposal(ProposalKind.PARALLEL, steps, (outer, inner), statements, goal, unless=unless)


def _is_short(plan: Plan, component: Component, loop: int) -> bool:
    """Whether the trip count never exceeds the tile size, for any parameters."""
    for points in plan.iterations(component, loop + 1):
        values = without_parameters(beyond(points, DIM, loop))
        if not values.is_bounded():
            return False
        if not values.is_empty() and values.dim_max_val(0).sub(values.dim_min_val(0)).ge(isl.Val(SIZE)):
            return False
    return True


def _tiles(loops: Sequence[str]) -> tuple[LoopNumber, ...]:
    *outer, inner = loops
    size = SIZE if len(loops) < DEEP else SHORT
    return (*(LoopNumber(size, loop) for loop in outer), LoopNumber(SIZE, inner))


def _apart(plan: Plan, nest: NamedNest) -> Iterator[Proposal]:
    """Proposals for a statement that become possible after it is distributed."""
    positions = nest.component.positions
    if len(positions) < 2 or len(positions) > MOST or nest.component.first[:1] != nest.component.last[:1]:
        return
    if inside(plan, nest.component.first[:1]) != nest.component:
        return
    names = [handle_at(plan, position) for position in positions]
    known = [name for name in names if name is not None]
    if len(known) < len(names):
        return
    apart = Step(Distribute(tuple(known)))
    deepest = max(plan.leaf(position).depth for position in positions)
    for name, position in zip(known, positions, strict=True):
        if len(plan.leaf(position).loops) >= max(2, deepest):
            yield from _alone(plan, apart, nest, name, position)


def _alone(plan: Plan, apart: Step, nest: NamedNest, name: str, position: Position) -> Iterator[Proposal]:
    """Interchanges and tiles of one statement, distributed from the others of the nest."""
    positions, loops = nest.component.positions, plan.leaf(position).loops
    statements = plan.statements_at(nest.component)
    (own,) = plan.statements_at(Component.of([position]))
    for loop in loops[:-1]:
        pair = (loop, loops[-1])
        steps = (apart, Step(Interchange(name, *pair)))
        goal = Goal(Aim.INTERCHANGE_APART, (position,), pair)
        unless = tuple(Goal(Aim.INTERCHANGE, one, pair) for one in (positions, (position,)))
        yield Proposal(ProposalKind.INTERCHANGE, steps, pair, statements, goal, own, unless=unless)
    alone = Component.of([position])
    loops = tuple(loop for k, loop in enumerate(loops) if not _is_short(plan, alone, k))
    if len(loops) < 2:
        return
    steps, goal = (apart, Step(Tile(name, _tiles(loops)))), Goal(Aim.TILES_APART, (position,))
    unless = tuple(Goal(Aim.TILES_OF_LOOPS, one, loops) for one in (positions, (position,)))
    yield Proposal(ProposalKind.TILING, steps, loops, statements, goal, own, unless=unless)


def _fusions(plan: Plan, dependences: Sequence[Dependence]) -> Iterator[Proposal]:
    """Fusions of adjacent nests in as many loops as possible, the second delayed if necessary."""
    for one, two in neighbours(plan):
        first = handle_of(plan, one) or handle_at(plan, one.last)
        second = handle_of(plan, two) or handle_at(plan, two.first)
        if first is None or second is None:
            continue
        both = Component.of((*one.positions, *two.positions))
        shared = plan.common_loops(both)
        most = min(plan.leaf(one.last).depth, plan.leaf(two.first).depth)
        loops = plan.leaf(two.first).loops
        goal = Goal(Aim.FUSION, (one.last, two.first))
        for common in range(most, shared, -1):
            steps = steps_of(Fuse((first, second), common))
            delay = delays(plan, one, two, range(shared, common), dependences)
            if delay is not None and any(delay):
                amounts = zip(loops[shared:common], delay, strict=True)
                moved = tuple(LoopNumber(amount, loop) for loop, amount in amounts if amount)
                steps = (Step(Shift(second, moved)), *steps)
            statements = plan.statements_at(both)
            yield Proposal(ProposalKind.FUSION, steps, loops[:common], statements, goal)


def neighbours(plan: Plan) -> Iterator[tuple[Component, Component]]:
    """Pairs of loops with nothing between them, in the body of one loop or of the region."""
    for first, second in pairwise(plan.leaves):
        shared = plan.common_loops(Component.of([first.position, second.position]))
        if first.depth > shared and second.depth > shared:
            one = inside(plan, first.position[: shared + 1])
            two = inside(plan, second.position[: shared + 1])
            yield one, two


def _jams(plan: Plan, nest: NamedNest) -> Iterator[Proposal]:
    """Unroll-and-jam of one or two loops around the innermost ones, except short loops."""
    where = nest.component.positions
    if len(where) > MOST or any(one.positions for one in plan.directives):
        return
    deepest = max(plan.leaf(position).depth for position in where)
    around = range(min(len(nest.loops), deepest - 1))
    outer = tuple(nest.loops[k] for k in around if not _is_short(plan, nest.component, k))[-2:]
    statements = plan.statements_at(nest.component)
    for loops in dict.fromkeys((outer[-1:], outer[:1], outer)) if outer else ():
        factors = tuple(LoopNumber(JAMMED, loop) for loop in loops)
        steps = (*nest.definition, Step(UnrollAndJam(nest.handle, factors)))
        goal = Goal(Aim.JAM, where, loops)
        yield Proposal(ProposalKind.UNROLL_AND_JAM, steps, loops, statements, goal)


def _distributions(plan: Plan, nest: NamedNest) -> Iterator[Proposal]:
    """Distribution of all statements of an outermost nest; each nest once."""
    positions = nest.component.positions
    if not 1 < len(positions) <= MOST or inside(plan, nest.component.first[:1]) != nest.component:
        return
    names = tuple(name for name in (handle_at(plan, one) for one in positions) if name is not None)
    if len(names) == len(positions):
        goal = Goal(Aim.DISTRIBUTION, positions)
        statements = plan.statements_at(nest.component)
        steps = steps_of(Distribute(names))
        yield Proposal(ProposalKind.DISTRIBUTION, steps, nest.loops, statements, goal)


def conditional(plan: Plan, leaf: PlanLeaf) -> Iterator[Proposal]:
    """Vectors of `if (c) b` that writes the same cells in its innermost loop: a sum, or tests of blocks."""
    handle, names = handle_at(plan, leaf.position), plan.statements_at(Component.of([leaf.position]))
    statement = plan.program.statement(names[0])
    tested = conditional_statement(statement.body.place.text)
    last, writes = len(leaf.loops) - 1, (one.relation for one in statement.writes)
    if tested is None or handle is None or not leaf.loops or statement.iterators != leaf.loops:
        return
    if all(not one.eliminate(IN, last, 1).is_single_valued() for one in writes):
        return
    goal = Goal(Aim.VECTORS, (leaf.position,))
    tried: list[tuple[Step, ...]] = [steps_of(Vectorize(handle, leaf.loops[last:]))]
    hidden = declared_inside(plan.program, statement, tested)
    if last or not hidden:
        own = [Step(Expand(name, leaf.loops[-2:-1])) for name in hidden]
        begun = (*own, Step(StripMine(handle, leaf.loops[last], BLOCK)))
        after = attempted(plan, *begun)
        strips = () if after is None else after.leaf(after.component(handle).first).loops[last:-1]
        tried += [(*begun, Step(Pretest(handle, one), (fresh(plan, "Test"),))) for one in strips]
    for steps in tried:
        yield Proposal(ProposalKind.VECTORS, steps, leaf.loops[last:], names, goal)


def _reorderings(plan: Plan) -> Iterator[Proposal]:
    """Swaps of adjacent components in one body."""
    for first, second in pairwise(plan.leaves):
        shared = plan.common_loops(Component.of([first.position, second.position]))
        one, two = (inside(plan, leaf.position[: shared + 1]) for leaf in (first, second))
        names = handle_of(plan, one), handle_of(plan, two)
        if names[0] is None or names[1] is None:
            continue
        both = (*one.positions, *two.positions)
        statements = plan.statements_at(Component.of(both))
        goal = Goal(Aim.REORDERING, both)
        steps = steps_of(Reorder(names[0], names[1]))
        yield Proposal(ProposalKind.REORDERING, steps, first.loops[:shared], statements, goal)
