"""[Grosser2015, algorithms 1 and 2]: one schedule dimension after the other."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from loopwright.generate.components import components
from loopwright.generate.create import create
from loopwright.generate.endless import split_endless
from loopwright.generate.grafts import Graft, most_copies
from loopwright.generate.isolation import isolate, isolated_domain
from loopwright.generate.lookahead import contexts, refined_pieces
from loopwright.generate.ordering import sort_pieces
from loopwright.generate.pieces import schedule_domain
from loopwright.generate.regions import class_region
from loopwright.generate.shifts import align_shifts
from loopwright.generate.site import Executed, Site, restrict
from loopwright.generate.stock import Stock
from loopwright.presburger.sets import IN, eliminate_inner, local_domain


def generate_band(site: Site, stock: Stock, executed: Executed) -> list[Graft]:
    """Generate a band from its first dimension on, for each context its loops need [Quillere2000]."""
    parts = contexts(site, stock, executed)
    if len(parts) == 1:
        return next_level(site, stock, executed)
    return [
        graft.guarded(part)
        for part in parts
        for graft in next_level(site.cut(len(parts)), stock.assume(part, None), restrict(executed, part))
    ]


def next_level(site: Site, stock: Stock, executed: Executed) -> list[Graft]:
    """Generate the dimensions of the band from the current one on [Grosser2015, algorithm 1]."""
    if stock.innermost:
        return site.inner(site.run, stock, executed)
    result: list[Graft] = []
    for component in components(site, stock, executed):
        aligned, moved = align_shifts(site, stock, component)
        grafts = _component(site, aligned, moved)
        if aligned is not stock:
            grafts = [graft.without_dimension(stock.level + 1) for graft in grafts]
        result.extend(grafts)
    return result


def _component(site: Site, stock: Stock, executed: Executed) -> list[Graft]:
    if not site.splits:
        value = _constant(executed, stock.level)
        if value is not None:
            return _skip_constant(site, stock, executed, value)
    exact = schedule_domain(executed)
    domain = local_domain(exact, stock.level)
    wanted = _wanted_isolation(site, stock)
    parts = None
    if wanted is not None:
        parts = isolate(domain, eliminate_inner(exact, stock.level), wanted, stock.level)
    if parts is None:
        return _base(site, stock, executed, domain)
    result: list[Graft] = []
    for part, where in (
        (parts.before, site),
        (parts.center, site.inside_isolation()),
        (parts.after, site),
        (parts.other, site),
    ):
        inside = restrict(executed, part)
        if inside:
            result.extend(_base(where, stock, inside, part))
    return result


def _constant(executed: Executed, level: int) -> isl.Val | None:
    """The value of the current dimension if it is obviously the same constant everywhere."""
    values = [relation.plain_get_val_if_fixed(IN, level) for relation in executed]
    if all(value.is_int() and value.eq(values[0]) for value in values):
        return values[0]
    return None


def _skip_constant(site: Site, stock: Stock, executed: Executed, value: isl.Val) -> list[Graft]:
    """A dimension that only numbers the statements of a sequence needs no thought."""
    level = stock.level
    free = tuple(relation.eliminate(IN, level, 1) for relation in executed)
    constant = isl.Aff.val_on_domain_space(stock.space, value)
    return next_level(site, stock.eliminate(constant).enter(), free)


def _wanted_isolation(site: Site, stock: Stock) -> isl.Set | None:
    """The part to generate apart: the band's isolation option or an old separation class."""
    if site.band.isolate is not None:
        return isolated_domain(site.band.isolate, stock)
    return class_region(site, stock)


def _base(site: Site, stock: Stock, executed: Executed, domain: isl.Set) -> list[Graft]:
    """Pieces of `domain` in order, each made into a loop [Grosser2015, algorithm 2]."""
    inside, pieces = refined_pieces(site, stock, executed, domain)
    pieces = split_endless(pieces, executed, stock.level)
    made = [create(inside, stock, executed, piece, next_level) for piece in sort_pieces(pieces, stock.level)]
    result = [graft for grafts in made for graft in grafts]
    if not site.unrolls(stock):
        return result
    copies = sum(most_copies(grafts) for grafts in made if grafts)
    return [replace(graft, copies=copies) for graft in result]
