"""Operations worth trying on a program, as steps of a script.

Nothing is known here of their legality: a proposal makes sense of the loops that are there, and
whether it keeps the dependences is for a proof to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import chain, combinations, pairwise
from itertools import count as numbers_from

import islpy as isl

from loopwright.errors import BadInput
from loopwright.model.dependences import Dependence
from loopwright.presburger.dimensions import beyond
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM
from loopwright.transform.library.statements import delays
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import (
    Distribute,
    Fuse,
    Interchange,
    Lift,
    Operation,
    Parallel,
    Shift,
    Skew,
    Tile,
)
from loopwright.transform.script.steps import Step
from loopwright.transform.vectors import Position

SIZE = 32
"""The tile size that is proposed."""

MOST = 4
"""A nest with more statements than this is not distributed, and its tiles are not skewed."""


class ProposalKind(Enum):
    INTERCHANGE = "interchange"
    FUSION = "fusion"
    TILING = "tiling"
    PARALLEL = "parallel loop"


class Aim(Enum):
    """What a proposal would give its loops."""

    PARALLEL = auto()
    WAVEFRONT = auto()
    INTERCHANGE = auto()
    INTERCHANGE_APART = auto()
    TILES = auto()
    TILES_OF_LOOPS = auto()
    TILES_OF_ROWS = auto()
    TILES_APART = auto()
    FUSION = auto()


@dataclass(frozen=True)
class Goal:
    """An aim, the positions of the loops or statements it is for, and the loops by name."""

    aim: Aim
    where: tuple[Position, ...]
    loops: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """Steps, the loops they are about and the `statements` whose order they change.

    Of several with the same `goal` only the first that is legal is of interest.
    """

    kind: ProposalKind
    steps: tuple[Step, ...]
    loops: tuple[str, ...]
    statements: tuple[str, ...]
    goal: Goal
    moved: str | None = None
    """The statement whose own loops are rearranged, where it is not all of them."""
    whole: str | None = None
    """The innermost loop, where it is left out of the tiles."""
    reaches: tuple[Goal, ...] = ()
    """Other goals that need no more proposals when it is legal."""
    unless: tuple[Goal, ...] = ()
    """It is of no interest where one of these goals is reached."""

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(step.operation for step in self.steps)

    @property
    def is_skewed(self) -> bool:
        """Whether its tiles are."""
        return any(isinstance(one, Tile) and one.skew for one in self.operations)

    @property
    def is_shifted(self) -> bool:
        return any(isinstance(one, Shift) for one in self.operations)

    def applied(self, plan: Plan) -> Plan | None:
        """The plan after it; None where the operations have no meaning here."""
        try:
            return plan.perform(*self.steps)
        except BadInput:
            return None


@dataclass(frozen=True)
class NamedNest:
    """Statements that share exactly the loops `loops`, under a handle that `definition` makes."""

    component: Component
    loops: tuple[str, ...]
    handle: str
    definition: tuple[Step, ...]


def steps_of(*operations: Operation) -> tuple[Step, ...]:
    """Steps that bind no handle."""
    return tuple(Step(one) for one in operations)


def proposals(plan: Plan, dependences: Sequence[Dependence]) -> Iterator[Proposal]:
    """Everything to try, in the order of the text."""
    known = nests(plan)
    yield from _parallel(plan)
    for nest in known:
        yield from _wavefronts(plan, nest)
    for nest in known:
        yield from _interchanges(nest, plan.statements_at(nest.component))
    for nest in known:
        yield from _tilings(plan, nest)
    for nest in known:
        yield from _apart(plan, nest)
    yield from _fusions(plan, dependences)


def nests(plan: Plan) -> list[NamedNest]:
    """Every innermost set of statements in common loops, and every loop that holds several of those."""
    found: list[NamedNest] = []
    seen: set[Component] = set()
    for leaf in plan.leaves:
        for depth in range(leaf.depth, 0, -1):
            component = _inside(plan, leaf.position[:depth])
            if component in seen:
                continue
            seen.add(component)
            nest = _nest(plan, component, leaf.position, leaf.loops[: plan.common_loops(component)])
            found += [] if nest is None else [nest]
    return sorted(found, key=lambda nest: (nest.component.first, len(nest.component.positions)))


def _inside(plan: Plan, path: Position) -> Component:
    return Component.of(leaf.position for leaf in plan.leaves if leaf.position[: len(path)] == path)


def _nest(plan: Plan, component: Component, position: Position, loops: tuple[str, ...]) -> NamedNest | None:
    """Under a handle that is there already, or under one lifted from a statement's; None without either."""
    name = handle_of(plan, component)
    if name is not None:
        return NamedNest(component, loops, name, ())
    inner, new = handle_at(plan, position), _fresh(plan)
    if inner is None:
        return None
    return NamedNest(component, loops, new, (Step(Lift(inner, len(loops)), (new,)),))


def handle_of(plan: Plan, component: Component) -> str | None:
    """What the component is called: by a label rather than by a statement's own name."""
    return next((name for name, known in plan.components.items() if known == component), None)


def handle_at(plan: Plan, position: Position) -> str | None:
    """What the statements at a position are called."""
    return handle_of(plan, Component.of([position]))


def _fresh(plan: Plan) -> str:
    names = chain(("L", "Nest", "Loops"), (f"L{k}" for k in numbers_from(2)))
    return next(name for name in names if name not in plan.components)


def _parallel(plan: Plan) -> Iterator[Proposal]:
    """Each loop once, the handle of the first statement in it being good enough."""
    seen: set[Position] = set()
    for leaf in plan.leaves:
        handle = handle_at(plan, leaf.position)
        for depth, loop in enumerate(leaf.loops, 1):
            path = leaf.position[:depth]
            if path in seen:
                continue
            seen.add(path)
            if handle is not None:
                steps = steps_of(Parallel(handle, (loop,)))
                statements = plan.statements_at(_inside(plan, path))
                yield Proposal(ProposalKind.PARALLEL, steps, (loop,), statements, _parallel_goal(path))


def _parallel_goal(path: Position) -> Goal:
    return Goal(Aim.PARALLEL, (path,))


def _interchanges(nest: NamedNest, statements: tuple[str, ...]) -> Iterator[Proposal]:
    for one, two in combinations(nest.loops, 2):
        steps = (*nest.definition, Step(Interchange(nest.handle, one, two)))
        goal = Goal(Aim.INTERCHANGE, nest.component.positions, (one, two))
        yield Proposal(ProposalKind.INTERCHANGE, steps, (one, two), statements, goal)


def _wavefronts(plan: Plan, nest: NamedNest) -> Iterator[Proposal]:
    """Where none of the two innermost loops is parallel: diagonals one after the other, each in parallel."""
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
            Parallel(nest.handle, (outer,)),
        )
        steps = (*nest.definition, *steps_of(*operations))
        goal = Goal(Aim.WAVEFRONT, nest.component.positions)
        yield Proposal(ProposalKind.PARALLEL, steps, (outer, inner), statements, goal, unless=unless)


def _tilings(plan: Plan, nest: NamedNest) -> Iterator[Proposal]:
    """As many neighbouring loops as can be, without skew rather than with it; short ones are left alone."""
    if any(_is_short(plan, nest.component, loop) for loop in range(len(nest.loops))):
        return
    where = nest.component.positions
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


def _is_short(plan: Plan, component: Component, loop: int) -> bool:
    """Whether the loop never has more iterations than a tile would, whatever the parameters are."""
    for points in plan.iterations(component, loop + 1):
        values = without_parameters(beyond(points, DIM, loop))
        if not values.is_bounded():
            return False
        if not values.is_empty() and values.dim_max_val(0).sub(values.dim_min_val(0)).ge(isl.Val(SIZE)):
            return False
    return True


def _tiles(loops: Sequence[str]) -> tuple[LoopNumber, ...]:
    return tuple(LoopNumber(SIZE, loop) for loop in loops)


def _apart(plan: Plan, nest: NamedNest) -> Iterator[Proposal]:
    """What becomes possible for a statement when it has its loops for itself."""
    positions = nest.component.positions
    if len(positions) < 2 or len(positions) > MOST or nest.component.first[:1] != nest.component.last[:1]:
        return
    if _inside(plan, nest.component.first[:1]) != nest.component:
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
    if any(_is_short(plan, Component.of([position]), loop) for loop in range(len(loops))):
        return
    steps, goal = (apart, Step(Tile(name, _tiles(loops)))), Goal(Aim.TILES_APART, (position,))
    unless = tuple(Goal(Aim.TILES_OF_LOOPS, one, loops) for one in (positions, (position,)))
    yield Proposal(ProposalKind.TILING, steps, loops, statements, goal, own, unless=unless)


def _fusions(plan: Plan, dependences: Sequence[Dependence]) -> Iterator[Proposal]:
    """Neighbours in one body, joined in as many loops as can be, the second delayed if need be."""
    for one, two in _neighbours(plan):
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


def _neighbours(plan: Plan) -> Iterator[tuple[Component, Component]]:
    """Pairs of loops with nothing between them, in the body of one loop or of the region."""
    for first, second in pairwise(plan.leaves):
        shared = plan.common_loops(Component.of([first.position, second.position]))
        if first.depth > shared and second.depth > shared:
            one = _inside(plan, first.position[: shared + 1])
            two = _inside(plan, second.position[: shared + 1])
            yield one, two
