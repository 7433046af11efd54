"""Expressions from piecewise functions [Grosser2015, section 5.10], and minima and maxima of several."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from loopwright.generate.conditions import condition
from loopwright.generate.expressions import Place, expression
from loopwright.loops.expressions import Expr, Int, Max, Min, Select
from loopwright.loops.measure import operations
from loopwright.loops.traverse import variables


def piecewise_expression(function: isl.PwAff, place: Place) -> Expr:
    """An expression for a piecewise function; its domain is known to hold at `place`.

    A function that is right on all pieces stands alone.  The maximum (minimum) of the pieces'
    functions is written as such where on each piece its own function is the largest (smallest);
    otherwise conditions choose.
    """
    if function.n_piece() == 1:
        return expression(function.get_pieces()[0][1].gist(place.known), place)
    pieces = [
        (domain, value)
        for domain, value in function.intersect_domain(place.known).coalesce().get_pieces()
        if not domain.is_empty()
    ]
    if not pieces:
        return Int(0)
    for _, value in pieces:
        if all(domain.is_subset(value.eq_set(other)) for domain, other in pieces if other is not value):
            return expression(value.gist(place.known), place)
    for combine, is_best in ((Max, isl.Aff.ge_set), (Min, isl.Aff.le_set)):
        if all(
            domain.is_subset(is_best(value, other))
            for domain, value in pieces
            for _, other in pieces
            if other is not value
        ):
            return combined(combine, (expression(value, place) for _, value in pieces), place)
    domain, value = pieces[0]
    inside = place.where(domain)
    outside = Place(place.names, place.known.subtract(domain))
    return Select(
        condition(domain.gist(place.known), place),
        expression(value, inside),
        piecewise_expression(function.subtract_domain(domain), outside),
    )


def combined(kind: type[Max] | type[Min], arguments: Iterable[Expr], place: Place) -> Expr:
    """Max or Min of the distinct arguments; the argument itself if there is one.

    Outer ones come first, so that what does not change in the loops around stands together, and of
    these the shorter.
    """

    def key(argument: Expr) -> tuple[int, int, list[str]]:
        return place.depth(argument), operations(argument), sorted(variables(argument))

    distinct = sorted(dict.fromkeys(arguments), key=key)
    return distinct[0] if len(distinct) == 1 else kind(tuple(distinct))
