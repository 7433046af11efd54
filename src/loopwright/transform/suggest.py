"""Operations worth trying on a program, as lines of a script.

Nothing is known here of their legality: a proposal makes sense of the loops that are there, and
whether it keeps the dependences is for a proof to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, pairwise

import islpy as isl

from loopwright.errors import BadInput
from loopwright.model.dependences import Dependence
from loopwright.presburger.sets import DIM, PARAM
from loopwright.transform.delays import delays
from loopwright.transform.plan import Component, Plan
from loopwright.transform.vectors import Position

SIZE = 32
"""The tile size that is proposed."""

MOST = 4
"""A nest with more statements than this is not taken apart, and its tiles are not skewed."""


class Kind(Enum):
    INTERCHANGE = "interchange"
    FUSION = "fusion"
    TILING = "tiling"
    PARALLEL = "parallel loop"


@dataclass(frozen=True)
class Proposal:
    """Lines of a script, the loops they are about and the `statements` whose order they change.

    Of several with the same `goal` only the first that is legal is of interest.
    """

    kind: Kind
    script: str
    loops: tuple[str, ...]
    statements: tuple[str, ...]
    goal: str
    moved: str | None = None
    """The statement whose own loops are rearranged, where it is not all of them."""
    whole: str | None = None
    """The innermost loop, where it is left out of the tiles."""
    reaches: tuple[str, ...] = ()
    """Other goals that need no more proposals when it is legal."""
    unless: tuple[str, ...] = ()
    """It is of no interest where one of these goals is reached."""

    def applied(self, plan: Plan) -> Plan | None:
        """The plan after it; None where the operations have no meaning here."""
        try:
            return plan.transform(self.script, "<proposal>")
        except BadInput:
            return None


@dataclass(frozen=True)
class Nest:
    """Statements that share exactly the loops `loops`, under a handle that `definition` makes."""

    component: Component
    loops: tuple[str, ...]
    handle: str
    definition: str


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


def nests(plan: Plan) -> list[Nest]:
    """Every innermost set of statements in common loops, and every loop that holds several of those."""
    found: list[Nest] = []
    seen: set[Component] = set()
    for leaf in plan.leaves:
        for depth in range(leaf.depth, 0, -1):
            component = _inside(plan, leaf.position[:depth])
            if component in seen:
                continue
            seen.add(component)
            found.append(_nest(plan, component, leaf.position, leaf.loops[: plan.common_loops(component)]))
    return sorted(found, key=lambda nest: (nest.component.first, len(nest.component.positions)))


def _inside(plan: Plan, path: Position) -> Component:
    return Component.of(leaf.position for leaf in plan.leaves if leaf.position[: len(path)] == path)


def _nest(plan: Plan, component: Component, position: Position, loops: tuple[str, ...]) -> Nest:
    """A handle that is there already, or one lifted from a statement's."""
    name = handle_of(plan, component)
    if name is not None:
        return Nest(component, loops, name, "")
    inner = handle_of(plan, Component.of([position]))
    new = _fresh(plan)
    return Nest(component, loops, new, f"{new} = lift({inner}, {len(loops)})\n")


def handle_of(plan: Plan, component: Component) -> str | None:
    """What the component is called: by a label rather than by a statement's own name."""
    return next((name for name, known in plan.components.items() if known == component), None)


def _fresh(plan: Plan) -> str:
    return next(name for name in ("L", "Nest", "Loops", "L_", "L__") if name not in plan.components)


def _parallel(plan: Plan) -> Iterator[Proposal]:
    """Each loop once, the handle of the first statement in it being good enough."""
    seen: set[Position] = set()
    for leaf in plan.leaves:
        for depth, loop in enumerate(leaf.loops, 1):
            path = leaf.position[:depth]
            if path in seen:
                continue
            seen.add(path)
            line = f"parallel({handle_of(plan, Component.of([leaf.position]))}, {loop})"
            statements = plan.statements_at(_inside(plan, path))
            yield Proposal(Kind.PARALLEL, line, (loop,), statements, _parallel_goal(path))


def _parallel_goal(path: Position) -> str:
    return f"parallel {path}"


def _interchanges(nest: Nest, statements: tuple[str, ...]) -> Iterator[Proposal]:
    for one, two in combinations(nest.loops, 2):
        line = f"{nest.definition}interchange({nest.handle}, {one}, {two})"
        goal = _exchanged(nest.component.positions, one, two)
        yield Proposal(Kind.INTERCHANGE, line, (one, two), statements, goal)


def _exchanged(positions: tuple[Position, ...], one: str, two: str) -> str:
    return f"interchange {positions} {one} {two}"


def _wavefronts(plan: Plan, nest: Nest) -> Iterator[Proposal]:
    """Where none of the two innermost loops is parallel: diagonals one after the other, each in parallel."""
    if len(nest.loops) < 2 or len(nest.component.positions) > MOST:
        return
    outer, inner = nest.loops[-2:]
    depth = len(nest.loops)
    unless = tuple(_parallel_goal(nest.component.first[:k]) for k in (depth - 1, depth))
    statements = plan.statements_at(nest.component)
    for factor in (1, 2):
        lines = [
            f"skew({nest.handle}, {inner}, {outer}{'' if factor == 1 else f', {factor}'})",
            f"interchange({nest.handle}, {outer}, {inner})",
            f"parallel({nest.handle}, {outer})",
        ]
        script = nest.definition + "\n".join(lines)
        goal = f"wavefront {nest.component.positions}"
        yield Proposal(Kind.PARALLEL, script, (outer, inner), statements, goal, unless=unless)


def _tilings(plan: Plan, nest: Nest) -> Iterator[Proposal]:
    """As many neighbouring loops as can be, without skew rather than with it; short ones are left alone."""
    if any(_is_short(plan, nest.component, loop) for loop in range(len(nest.loops))):
        return
    statements = plan.statements_at(nest.component)
    goal = f"tile {nest.component.positions}"
    deepest = max((plan.leaf(position).loops for position in nest.component.positions), key=len)
    for count in range(max(len(nest.loops), len(deepest)), 1, -1):
        for first in range(len(nest.loops) - count + 1):
            loops = nest.loops[first : first + count]
            line = nest.definition + _tile(nest.handle, loops)
            yield Proposal(Kind.TILING, line, loops, statements, goal, reaches=(f"{goal} {loops}",))
        if count == len(deepest) and len(nest.component.positions) <= MOST:
            sizes = ", ".join([str(SIZE)] * count)
            line = f"{nest.definition}tile({nest.handle}, {sizes}, skew)"
            yield Proposal(Kind.TILING, line, deepest, statements, goal)
        if count == len(deepest) > 2 and len(nest.loops) < 3 and len(nest.component.positions) <= MOST:
            outer = ", ".join(f"{loop}={SIZE}" for loop in deepest[:-1])
            line = f"{nest.definition}tile({nest.handle}, {outer}, skew)"
            rows = deepest[-1]
            yield Proposal(Kind.TILING, line, deepest[:-1], statements, f"{goal} but for {rows}", whole=rows)


def _is_short(plan: Plan, component: Component, loop: int) -> bool:
    """Whether the loop never has more iterations than a tile would, whatever the parameters are."""
    for points in plan.iterations(component, loop + 1):
        values = points.project_out(DIM, 0, loop)
        values = values.project_out(PARAM, 0, values.dim(PARAM))
        if not values.is_bounded():
            return False
        if not values.is_empty() and values.dim_max_val(0).sub(values.dim_min_val(0)).ge(isl.Val(SIZE)):
            return False
    return True


def _tile(handle: str, loops: tuple[str, ...]) -> str:
    return f"tile({handle}, {', '.join(f'{loop}={SIZE}' for loop in loops)})"


def _apart(plan: Plan, nest: Nest) -> Iterator[Proposal]:
    """What becomes possible for a statement when it has its loops for itself."""
    positions = nest.component.positions
    if len(positions) < 2 or len(positions) > MOST or nest.component.first[:1] != nest.component.last[:1]:
        return
    if _inside(plan, nest.component.first[:1]) != nest.component:
        return
    names = [handle_of(plan, Component.of([position])) for position in positions]
    apart = f"distribute({', '.join(map(str, names))})\n"
    statements = plan.statements_at(nest.component)
    deepest = max(plan.leaf(position).depth for position in positions)
    for name, position in zip(names, positions, strict=True):
        loops = plan.leaf(position).loops
        if len(loops) < max(2, deepest):
            continue
        (own,) = plan.statements_at(Component.of([position]))
        for loop in loops[:-1]:
            line = f"interchange({name}, {loop}, {loops[-1]})"
            unless = tuple(_exchanged(one, loop, loops[-1]) for one in (positions, (position,)))
            yield Proposal(
                Kind.INTERCHANGE, apart + line, (loop, loops[-1]), statements, line, own, unless=unless
            )
        if any(_is_short(plan, Component.of([position]), loop) for loop in range(len(loops))):
            continue
        line, goal = apart + _tile(str(name), loops), f"tile {position} apart"
        unless = tuple(f"tile {one} {loops}" for one in (positions, (position,)))
        yield Proposal(Kind.TILING, line, loops, statements, goal, own, unless=unless)


def _fusions(plan: Plan, dependences: Sequence[Dependence]) -> Iterator[Proposal]:
    """Neighbours in one body, joined in as many loops as can be, the second behind the first if need be."""
    for one, two in _neighbours(plan):
        names = (
            handle_of(plan, one) or handle_of(plan, Component.of([one.last])),
            handle_of(plan, two) or handle_of(plan, Component.of([two.first])),
        )
        shared = plan.common_loops(Component.of((*one.positions, *two.positions)))
        most = min(plan.leaf(one.last).depth, plan.leaf(two.first).depth)
        statements = plan.statements_at(Component.of((*one.positions, *two.positions)))
        loops = plan.leaf(two.first).loops
        goal = f"fuse {one.last} {two.first}"
        for common in range(most, shared, -1):
            line = f"fuse({names[0]}, {names[1]}, {common})"
            behind = delays(plan, one, two, range(shared, common), dependences)
            if behind is not None and any(behind):
                moves = ", ".join(
                    f"{loop}={amount}"
                    for loop, amount in zip(loops[shared:common], behind, strict=True)
                    if amount
                )
                line = f"shift({names[1]}, {moves})\n{line}"
            yield Proposal(Kind.FUSION, line, loops[:common], statements, goal)


def _neighbours(plan: Plan) -> Iterator[tuple[Component, Component]]:
    """Pairs of loops with nothing between them, in the body of one loop or of the region."""
    for first, second in pairwise(plan.leaves):
        shared = plan.common_loops(Component.of([first.position, second.position]))
        if first.depth > shared and second.depth > shared:
            one = _inside(plan, first.position[: shared + 1])
            two = _inside(plan, second.position[: shared + 1])
            yield one, two
