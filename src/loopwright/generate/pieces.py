"""[Grosser2015, algorithm 2], its first half: the pieces of a dimension, each to become one loop."""

from __future__ import annotations

import islpy as isl

from loopwright.generate.regions import option_region
from loopwright.generate.separation import separate
from loopwright.generate.site import Executed, Site
from loopwright.generate.stock import Stock
from loopwright.generate.unrolling import unroll
from loopwright.model.schedule import LoopType
from loopwright.presburger.sets import (
    disjoint_pieces,
    eliminate_inner,
    eliminate_unknown,
    merge_overlapping,
    shared_constraints,
    union,
)

_POSITIONAL = (LoopType.UNROLL, LoopType.SEPARATE, LoopType.ATOMIC)


def schedule_domain(executed: Executed) -> isl.Set:
    return union(relation.domain() for relation in executed)


def pieces_of(site: Site, stock: Stock, executed: Executed, domain: isl.Set) -> list[isl.BasicSet]:
    """Disjoint pieces of `domain` by the loop types that apply to it."""
    parts = _parts_by_type(site, stock, domain)
    pieces = [
        piece for kind, part in parts for piece in _split(site, stock, executed, part, kind)
    ]
    return merge_overlapping(pieces) if len(parts) > 1 else pieces


def _parts_by_type(site: Site, stock: Stock, domain: isl.Set) -> list[tuple[LoopType, isl.Set]]:
    """`domain` cut along the regions that a flat schedule's options name."""
    if not site.options:
        return [(site.loop_type(stock), domain)]
    parts: list[tuple[LoopType, isl.Set]] = []
    rest = domain
    for kind in _POSITIONAL:
        region = option_region(site, stock, kind.value)
        if region is None:
            continue
        chosen = rest.intersect(eliminate_unknown(region, stock.level))
        if not chosen.is_empty():
            parts.append((kind, chosen.coalesce()))
            rest = rest.subtract(chosen)
    if not rest.is_empty():
        parts.append((site.loop_type(stock), rest.coalesce()))
    return parts


def _split(
    site: Site, stock: Stock, executed: Executed, domain: isl.Set, kind: LoopType
) -> list[isl.BasicSet]:
    match kind:
        case LoopType.UNROLL:
            exact = schedule_domain(executed).intersect(domain)
            return unroll(domain, exact, stock.level, site.run.options.max_unroll)
        case LoopType.SEPARATE:
            return separate(domain, executed, stock.level)
        case LoopType.ATOMIC:
            return [shared_constraints(domain)]
        case LoopType.DEFAULT:
            exact = eliminate_inner(schedule_domain(executed), stock.level).intersect(domain)
            return disjoint_pieces(exact.coalesce(), stock.level)
