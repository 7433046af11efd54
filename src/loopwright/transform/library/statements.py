"""Changes which statements share loops, and their order: each operation is composed of `realign`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import islpy as isl

from loopwright.errors import Code
from loopwright.model.dependences import Dependence, memory_based
from loopwright.presburger.dimensions import beyond, equal_in
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM, IN
from loopwright.transform.operators import affine, realign
from loopwright.transform.plan import Component, Plan
from loopwright.transform.relations import constant, function, iterators
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import Position, iteration_numbers, pieces


def fuse(plan: Plan, components: Sequence[Component], common: int | None = None) -> tuple[Plan, Component]:
    """realign(A, B, n), realign(B, C, n), ...: by default n is as large as possible."""
    if common is None:
        ends = [(one.last, two.first) for one, two in pairwise(components)]
        common = min(plan.leaf(position).depth for pair in ends for position in pair)
    return _realigned(plan, components, common)


def delays(
    plan: Plan, one: Component, two: Component, loops: range, dependences: Iterable[Dependence]
) -> tuple[int, ...] | None:
    """The least d_l ≥ 0 for each of `loops` with x_l ≤ y_l + d_l whenever two[y] depends on one[x].

    Inside one iteration of the loops around `loops`, which both nests share.  With the second nest shifted by
    d, an iteration of the merged loops depends only on the same iteration, where the first nest's statements
    come first, or on earlier ones.  None if no constant suffices.
    """
    found = [0] * len(loops)
    for distances in _distances(plan, one, two, loops, dependences):
        for k in range(len(loops)):
            largest = distances.dim_max_val(k)
            if not largest.is_int():
                return None
            found[k] = max(found[k], int(largest.to_python()))
    return tuple(found)


def _distances(
    plan: Plan, one: Component, two: Component, loops: range, dependences: Iterable[Dependence]
) -> Iterator[isl.Set]:
    """{ (x_l - y_l) for l in loops } of the instances of two[y] that depend on one[x]."""
    current = {statement.name: statement for statement in plan.program.statements}
    for dependence in dependences:
        for p, earlier in pieces(current[dependence.source].schedule):
            for q, later in pieces(current[dependence.sink].schedule):
                if p not in one.positions or q not in two.positions:
                    continue
                x, y = (iteration_numbers(piece, loops.stop) for piece in (earlier, later))
                pairs = dependence.relation.apply_domain(x).apply_range(y)
                pairs = equal_in(pairs, range(loops.start))
                apart = pairs.reverse().intersect_params(plan.program.context).deltas()
                apart = without_parameters(beyond(apart, DIM, loops.start))
                if not apart.is_empty():
                    yield apart


def distribute(plan: Plan, components: Sequence[Component], common: int = 0) -> tuple[Plan, Component]:
    """realign(A, B, n), realign(B, C, n), ...: by default no loop is shared any more.

    A component alone is distributed into its statements.
    """
    if len(components) == 1:
        components = [Component.of([position]) for position in components[0].positions]
    return _realigned(plan, components, common)


def _realigned(plan: Plan, components: Sequence[Component], common: int) -> tuple[Plan, Component]:
    names = [f"{k} realigned" for k in range(len(components))]
    for name, component in zip(names, components, strict=True):
        plan = plan.named(name, component)
    for one, two in pairwise(names):
        plan = realign(plan, plan.components[one], plan.components[two], common)
    found = Component.of(p for name in names for p in plan.components[name].positions)
    return plan.without(set(names)), found


def distribute_legally(plan: Plan, component: Component) -> tuple[Plan, Component]:
    """realign(A, B, n) for all adjacent A, B in the component, each n the least that is legal.

    The statements before a cut execute all their iterations of the separated loops before those after it.
    That violates a dependence from a statement after the cut to one before it, unless a loop that is still
    shared carries it.  The cuts are independent of each other:

        n = max { l : loop l carries a dependence from after the cut to before it }
    """
    places = [leaf.position for leaf in plan.leaves]
    after = plan.named("all", component)
    for place in places:
        after = after.named(f"at {place}", Component.of([place]))
    for (p, q), shared in zip(pairwise(places), _needed(plan, places), strict=True):
        neighbours = Component.of([p, q])
        if {p, q} <= set(component.positions) and shared < plan.common_loops(neighbours):
            after = realign(after, after.components[f"at {p}"], after.components[f"at {q}"], shared)
    return after.without({"all", *(f"at {place}" for place in places)}), after.components["all"]


def _needed(plan: Plan, places: list[Position]) -> list[int]:
    """The number of loops that must stay shared, for each pair of adjacent places."""
    needed = [0] * (len(places) - 1)
    current = {statement.name: pieces(statement.schedule) for statement in plan.program.statements}
    for dependence in memory_based(plan.original):
        for p, earlier in current[dependence.source]:
            for q, later in current[dependence.sink]:
                if p <= q:
                    continue
                common = plan.common_loops(Component.of([p, q]))
                cuts = range(places.index(q), places.index(p))
                if common <= min(needed[k] for k in cuts):
                    continue
                x, y = iteration_numbers(earlier, common), iteration_numbers(later, common)
                deepest = _deepest_carrier(dependence.relation.apply_domain(x).apply_range(y))
                for k in cuts:
                    needed[k] = max(needed[k], deepest)
    return needed


def _deepest_carrier(pairs: isl.Map) -> int:
    """The last loop, from 1, that is the first in which two iterations of a pair differ; 0 without pairs."""
    carrier = 0
    while carrier < pairs.dim(IN) and not pairs.is_empty():
        pairs = equal_in(pairs, [carrier])
        carrier += 1
    return carrier


def sink(plan: Plan, component: Component, nest: Component, value: int) -> tuple[Plan, Component]:
    """Move statements into the loops of the adjacent nest that they lack, at iteration `value`.

    affine(L, {[i, j] -> [i, j, value]}) and realign(L, nest, number of loops).
    """
    depth, wanted = plan.depth(component), plan.depth(nest)
    if depth >= wanted:
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"the statements have {depth} loops around them already, the nest has {wanted}",
            argument="nest",
        )
    plan = plan.named("sunk here", component).named("sunk into", nest)
    outputs = [*iterators(depth), *[constant(depth, value)] * (wanted - depth)]
    loops = plan.leaf(nest.first).loops
    names: list[str | None] = [*(None,) * depth, *loops[depth:wanted]]
    plan = affine(plan, component, function(outputs, names))
    one, two = plan.components["sunk here"], plan.components["sunk into"]
    first, second = (one, two) if one.last < two.first else (two, one)
    after, found = fuse(plan, [first, second], wanted)
    return after.without({"sunk here", "sunk into"}), found
