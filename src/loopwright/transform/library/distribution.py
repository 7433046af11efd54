"""Loops taken apart as far as the dependences let them be, the order of the text kept."""

from __future__ import annotations

from itertools import pairwise

import islpy as isl

from loopwright.model.dependences import memory_based
from loopwright.presburger.sets import IN, OUT
from loopwright.transform.operators import realign
from loopwright.transform.plan import Component, Plan
from loopwright.transform.vectors import Position, iteration_numbers, pieces


def distribute_legally(plan: Plan, component: Component) -> tuple[Plan, Component]:
    """realign(A, B, n) for all neighbours A, B in the component, each n the least that is legal.

    The statements in front of a cut run all their iterations of the loops the cut takes apart
    before those behind it.  That is wrong for a dependence from behind the cut to the front of it,
    unless a loop that is still shared carries it.  What one cut needs does not depend on the
    others:

        n = max { l : loop l carries a dependence from behind the cut to the front of it }
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
    """How many loops have to stay shared, for each two neighbouring places."""
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
        pairs = pairs.equate(IN, carrier, OUT, carrier)
        carrier += 1
    return carrier
