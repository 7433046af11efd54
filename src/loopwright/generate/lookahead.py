"""Splitting a loop by what its inner loops will need (003, sections 6 and 7).

Both extensions look one level ahead.  The second separation cuts a piece along the contexts in
which each inner loop is not empty; the removal of minima and maxima cuts it along the conditions
under which one bound of an inner loop is the larger one.
"""

from __future__ import annotations

from itertools import combinations

import islpy as isl

from loopwright.generate.components import components
from loopwright.generate.options import Options
from loopwright.generate.pieces import pieces_of, schedule_domain
from loopwright.generate.site import Executed, Site, restrict
from loopwright.generate.stock import Stock
from loopwright.presburger.sets import DIM, local_domain


def lookahead(
    site: Site, stock: Stock, executed: Executed, pieces: list[isl.BasicSet]
) -> list[isl.Set]:
    """Conditions on the dimensions up to the current one, from the loops right below it."""
    inside = stock.enter()
    if inside.innermost:
        return []
    found: list[isl.Set] = []
    for piece in pieces:
        for new in conditions_at(site, inside, restrict(executed, piece.to_set())):
            if not any(new.is_equal(old) for old in found):
                found.append(new)
    return found


def conditions_at(site: Site, stock: Stock, executed: Executed) -> list[isl.Set]:
    """What the loops at the current level ask of the dimensions outside it."""
    found: list[isl.Set] = []
    if not executed:
        return found
    for component in components(site, stock, executed):
        domain = local_domain(schedule_domain(component), stock.level)
        for piece in pieces_of(site, stock, component, domain):
            found.extend(_conditions_of(piece, stock, site.run.options))
    return found


def _conditions_of(piece: isl.BasicSet, stock: Stock, options: Options) -> list[isl.Set]:
    found: list[isl.Set] = []
    if options.dead_loops:
        alive = piece.to_set().eliminate(DIM, stock.level, 1).compute_divs()
        found.append(alive)
    if options.split_bounds:
        found.extend(_bound_comparisons(piece.to_set().gist(stock.known), stock.level))
    return found


def _bound_comparisons(domain: isl.Set, level: int) -> list[isl.Set]:
    """{ outer : first bound ≥ second bound } for two lower or two upper bounds."""
    lower: list[isl.Aff] = []
    upper: list[isl.Aff] = []
    for piece in domain.get_basic_sets():
        for constraint in piece.get_constraints():
            if not constraint.involves_dims(DIM, level, 1) or constraint.is_div_constraint():
                continue
            if constraint.is_equality():
                continue
            bound = constraint.get_bound(DIM, level)
            if constraint.is_lower_bound(DIM, level):
                lower.append(bound.ceil())
            else:
                upper.append(bound.floor())
    return [
        first.ge_set(second) for bounds in (lower, upper) for first, second in combinations(bounds, 2)
    ]
