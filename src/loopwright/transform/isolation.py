"""Full tiles: where every point loop runs over all of its tile [Grosser2015, section 5.6].

For the loops 0 to L of a directive and its point loops, two instances of a statement are
neighbours if they agree in the iteration numbers of all loops but the point loops.  A prefix of
iteration numbers is full if no neighbour of an instance scheduled there is missing:

    full = θ(D) − θ(neighbours(D) − D),   θ cut after loop L.

θ itself bounds the neighbours: a tile loop [i/32] leaves the point loop i 32 values.
"""

from __future__ import annotations

import islpy as isl

from loopwright.presburger.sets import OUT
from loopwright.transform.plan import Directive, Plan
from loopwright.transform.vectors import entry, iteration_numbers, pieces


def full_part(plan: Plan, directive: Directive) -> isl.Set:
    """The iteration vectors (j1, ..., j(L+1)) of the part to generate apart."""
    wanted = set(directive.positions)
    scheduled: isl.Set | None = None
    partial: isl.Set | None = None
    for statement in plan.program.statements:
        for position, piece in pieces(statement.schedule):
            if position not in wanted:
                continue
            prefix = iteration_numbers(piece, directive.loop + 1)
            instances = statement.domain.intersect(piece.domain()).intersect_params(plan.program.context)
            missing = instances.apply(_neighbours(piece, directive.points)).subtract(instances)
            missing = missing.intersect_params(plan.program.context)
            here, cut = instances.apply(prefix), missing.apply(prefix)
            scheduled = here if scheduled is None else scheduled.union(here)
            partial = cut if partial is None else partial.union(cut)
    if scheduled is None or partial is None:
        length = directive.loop + 1
        return isl.Set.empty(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, length))
    return scheduled.subtract(partial).coalesce()


def _neighbours(piece: isl.Map, points: tuple[int, ...]) -> isl.Map:
    """{ x -> y : θ(x) and θ(y) agree but for the point loops }, at one position."""
    others = piece
    for loop in sorted(points, reverse=True):
        others = others.project_out(OUT, entry(loop), 1)
    return others.apply_range(others.reverse())
