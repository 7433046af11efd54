"""Splitting a loop by what its inner loops will need [Quillere2000, sections 6 and 7].

Both extensions look one level ahead.  The second separation cuts a piece along the contexts in
which each inner loop is not empty; the removal of minima and maxima cuts it along the conditions
under which one bound of an inner loop is the larger one.  A cut gives a loop new bounds, so the
levels are refined from the inside out; what the outermost loops need is asked of the parameters.
"""

from __future__ import annotations

from itertools import combinations

import islpy as isl

from loopwright.generate.components import components
from loopwright.generate.pieces import pieces_of, schedule_domain
from loopwright.generate.separation import MANY_PIECES, split_by_conditions
from loopwright.generate.site import Executed, Site, restrict
from loopwright.generate.stock import Stock
from loopwright.presburger.sets import DIM, basic_sets, has_one_value, local_domain, merge_overlapping


def refined_pieces(
    site: Site, stock: Stock, executed: Executed, domain: isl.Set
) -> tuple[Site, list[isl.BasicSet]]:
    """The pieces of `domain`, cut by what the loops right below the current level need.

    With them the site inside, which has fewer cuts left.
    """
    pieces = pieces_of(site, stock, executed, domain)
    options = site.run.options
    if not (options.dead_loops or options.split_bounds) or stock.enter().innermost:
        return site, pieces
    result: list[isl.BasicSet] = []
    for piece in pieces:
        if has_one_value(piece, stock.level):  # no loop to split
            result.append(piece)
            continue
        inside = restrict(executed, piece.to_set())
        found: list[isl.Set] = []
        for new in conditions_at(site, stock.enter(), inside, dead_loops=options.dead_loops):
            if not any(new.is_equal(old) for old in found):
                found.append(new)
        result.extend(split_by_conditions([piece], found, stock.level, site.run.cuts))
    result = merge_overlapping(result)
    return site.cut(-(-len(result) // len(pieces)) if pieces else 1), result


def contexts(site: Site, stock: Stock, executed: Executed) -> list[isl.Set]:
    """The parameter values cut by how the bounds of the outermost loops compare.

    That an outermost loop is empty costs one test a run: no cut is worth it.
    """
    whole = [stock.known]
    if stock.level > 0 or stock.innermost or not site.run.options.split_bounds:
        return whole
    for condition in conditions_at(site, stock, executed, dead_loops=False):
        if len(whole) > MANY_PIECES:
            break
        halves = [part for old in whole for part in (old.intersect(condition), old.subtract(condition))]
        whole = [part.coalesce() for part in halves if not part.is_empty()]
    return whole


def conditions_at(site: Site, stock: Stock, executed: Executed, *, dead_loops: bool) -> list[isl.Set]:
    """What the loops at the current level ask of the dimensions outside it."""
    found: list[isl.Set] = []
    if not executed:
        return found
    for component in components(site, stock, executed):
        domain = local_domain(schedule_domain(component), stock.level)
        _, pieces = refined_pieces(site, stock, component, domain)
        for piece in pieces:
            if dead_loops:
                found.append(piece.to_set().eliminate(DIM, stock.level, 1).compute_divs())
            if site.run.options.split_bounds:
                found.extend(_bound_comparisons(piece.to_set().gist(stock.known), stock.level))
    return found


def _bound_comparisons(domain: isl.Set, level: int) -> list[isl.Set]:
    """{ outer : first bound ≥ second bound } for two lower or two upper bounds.

    a/p ≥ b/q implies ⌈a/p⌉ ≥ ⌈b/q⌉, and a/p < b/q implies ⌈a/p⌉ ≤ ⌈b/q⌉: compared as fractions, the
    bounds are cut as well, and without integer divisions.
    """
    lower: list[isl.Aff] = []
    upper: list[isl.Aff] = []
    for piece in basic_sets(domain):
        for constraint in piece.get_constraints():
            if not constraint.involves_dims(DIM, level, 1) or constraint.is_div_constraint():
                continue
            if constraint.is_equality():
                continue
            bound = constraint.get_bound(DIM, level)
            if constraint.is_lower_bound(DIM, level):
                lower.append(bound)
            else:
                upper.append(bound)
    return [
        first.ge_set(second) for bounds in (lower, upper) for first, second in combinations(bounds, 2)
    ]
