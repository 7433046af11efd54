"""The inner level [Grosser2015, section 5.1]: one call a statement, or loops over what is left unordered."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from loopwright.generate.expressions import Place, expression
from loopwright.generate.grafts import Graft
from loopwright.generate.piecewise import piecewise_expression
from loopwright.generate.site import Executed, Run
from loopwright.generate.stock import Stock
from loopwright.loops.expressions import Expr
from loopwright.loops.nodes import Call
from loopwright.presburger.sets import OUT

Unordered = Callable[[Stock, isl.Map], list[Graft]]


def terminate(run: Run, stock: Stock, executed: Executed, unordered: Unordered) -> list[Graft]:
    """Calls in the statements' order; `unordered` scans a statement with many instances a point."""
    result: list[Graft] = []
    for relation in executed:
        here = relation.intersect_domain(stock.known)
        if here.is_empty():
            continue
        here = here.coalesce()
        if here.is_single_valued():
            result.append(_call(run, stock, here))
        else:
            result.extend(unordered(stock, relation))
    return result


def _call(run: Run, stock: Stock, relation: isl.Map) -> Graft:
    """The call at each point of the relation's domain, guarded by what is not yet enforced."""
    run.count_copy()
    guard = relation.domain().compute_divs().coalesce()
    place = Place(stock.names, stock.known.intersect(guard))
    name = relation.get_tuple_name(OUT) or ""
    transformation = run.arguments.get(name)
    values = relation if transformation is None else relation.apply_range(transformation)
    arguments = _arguments(values, stock, place)
    time = _time(stock, place) if run.hints else None
    universe = isl.Set.universe(stock.space)
    return Graft(Call(name, arguments, time), guard.gist(stock.generated).coalesce(), universe)


def _arguments(relation: isl.Map, stock: Stock, place: Place) -> tuple[Expr, ...]:
    """The instance as a function of the iterators, simplified by what is known here."""
    function = relation.as_pw_multi_aff().gist(stock.known).coalesce()
    return tuple(
        piecewise_expression(function.get_at(k), place) for k in range(relation.dim(OUT))
    )


def _time(stock: Stock, place: Place) -> tuple[Expr, ...]:
    """The schedule point of the call (see `Call.time`)."""
    return tuple(
        expression(stock.times.get_aff(k), place) for k in range(stock.times.dim(OUT))
    )
