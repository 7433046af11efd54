"""How far the second of two neighbouring nests has to run behind the first for both to share loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from loopwright.model.dependences import Dependence
from loopwright.presburger.dimensions import beyond, equal_in
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM
from loopwright.transform.plan import Component, Plan
from loopwright.transform.vectors import iteration_numbers, pieces


def delays(
    plan: Plan, one: Component, two: Component, loops: range, dependences: Iterable[Dependence]
) -> tuple[int, ...] | None:
    """The least d_l ≥ 0 for each of `loops` with x_l ≤ y_l + d_l wherever two[y] waits for one[x].

    Inside one iteration of the loops around `loops`, which both nests share.  With the second nest
    shifted by d, an iteration of the merged loops has all that it waits for at the same place, where
    the first nest's statements come first, or behind it.  None where no constant is enough.
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
    """{ (x_l - y_l) for l in loops } of the instances of two[y] that wait for one[x]."""
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
