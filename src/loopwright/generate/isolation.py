"""Isolation [Grosser2015, section 5.6]: a part of the schedule domain apart from all the rest."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from loopwright.generate.stock import Stock
from loopwright.presburger.sets import after, before, eliminate_unknown, local_domain, shared_constraints


@dataclass(frozen=True)
class Parts:
    """`other` is where the outer dimensions leave no center: it may run with any of the others."""

    before: isl.Set
    center: isl.Set
    after: isl.Set
    other: isl.Set


def isolate(domain: isl.Set, exact: isl.Set, wanted: isl.Set, level: int) -> Parts | None:
    """Split `domain` around the part of `wanted` inside it; None if there is no such part.

    `exact` is what `domain` approximates.
    """
    center = wanted.intersect(domain)
    if center.is_empty():
        return None
    contiguous = shared_constraints(local_domain(center, level)).to_set()
    center = contiguous.intersect(domain)
    first = before(center, level).intersect(domain).subtract(center)
    last = after(center, level).intersect(domain).subtract(center).subtract(first)
    other = domain.subtract(center).subtract(first).subtract(last)
    together = _together(last.intersect(exact), other.intersect(exact), exact, level)
    if together is not None:
        last, other = together.intersect(domain), isl.Set.empty(other.get_space())
    return Parts(first.coalesce(), center.coalesce(), last.coalesce(), other.coalesce())


def _together(one: isl.Set, two: isl.Set, domain: isl.Set, level: int) -> isl.Set | None:
    """The constraints both share, if those a loop at `level` can have describe the two inside `domain`.

    It is so of the last, partial tile, and of the same where it is the only one.
    """
    both = one.union(two)
    shared = eliminate_unknown(shared_constraints(both).to_set(), level)
    return shared if shared.intersect(domain).is_subset(both) else None


def isolated_domain(isolate_map: isl.Map, stock: Stock) -> isl.Set:
    """The isolation option, given in schedule dimensions, in terms of the iterators."""
    return isolate_map.wrap().flatten().preimage_multi_aff(stock.times)
