"""Isolation (002, 5.6): a part of the schedule domain apart from what is before, after and beside."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from loopwright.generate.stock import Stock
from loopwright.presburger.sets import after, before, local_domain, shared_constraints


@dataclass(frozen=True)
class Parts:
    before: isl.Set
    center: isl.Set
    after: isl.Set
    other: isl.Set


def isolate(domain: isl.Set, wanted: isl.Set, level: int) -> Parts | None:
    """Split `domain` around the part of `wanted` inside it; None if there is no such part."""
    center = wanted.intersect(domain)
    if center.is_empty():
        return None
    contiguous = shared_constraints(local_domain(center, level)).to_set()
    center = contiguous.intersect(domain)
    first = before(center, level).intersect(domain).subtract(center)
    last = after(center, level).intersect(domain).subtract(center).subtract(first)
    other = domain.subtract(center).subtract(first).subtract(last)
    return Parts(first.coalesce(), center.coalesce(), last.coalesce(), other.coalesce())


def isolated_domain(isolate_map: isl.Map, stock: Stock) -> isl.Set:
    """The isolation option, given in schedule dimensions, in terms of the iterators."""
    return isolate_map.wrap().flatten().preimage_multi_aff(stock.times)
