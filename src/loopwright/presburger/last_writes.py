"""Computes the writes that reads see: isl's data flow, with checks.

isl (0.27, and what was before it) gives a wrong last write for some sets with remainders in them:

    for (i = 0; i < n; i++) { for (j = 0; j < m / 4 * 4; j += 4) s = ..; .. = s; }

where it takes j = 0 for the last one, and for times in which a dimension counts for some statements and is a
constant for others that are not told apart before it, [i, 0, j] and [i, j, 1].  So if a set has integer
divisions, or times have this form, its result is checked.  If all writes happen for certain, a write is the
last one if it is before the read and none is between:

    found <= before,    no k with r -> w in found, w before k and r -> k in before,    dom before <= dom found

Otherwise, if that fails, and if isl gives up, as it does for some sets with strides ("affine expression
involves some of the domain dimensions"), the writes seen are computed by definition: of the sources before a
read of a cell, those after which no killer of the cell comes,

    seen = before - { r -> w : some killer k of the cell is before r, and w is before k }
"""

from __future__ import annotations

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.sets import maps_of


@dataclass(frozen=True, eq=False)
class SeenWrites:
    """{ source -> read }, and the reads { read -> cell } for which there may be no certain write before."""

    dependences: isl.UnionMap
    without: isl.UnionMap


def seen_writes(
    reads: isl.UnionMap, must: isl.UnionMap, times: isl.UnionMap, *, may: isl.UnionMap | None = None
) -> SeenWrites:
    """What reads of cells may see, of writes that happen for certain and of writes that may happen."""
    info = isl.UnionAccessInfo.from_sink(reads).set_must_source(must)
    info = info if may is None else info.set_may_source(may)
    sources = must if may is None or may.is_empty() else must.union(may)
    flow = _flow(info, times)
    if flow is None:
        return _by_definition(reads, sources, must, times)
    found = SeenWrites(flow.get_may_dependence(), flow.get_may_no_source())
    if not any(map(_has_divisions, (reads, sources, times))) and _are_aligned(times):
        return found
    if sources is must and _are_last(flow, reads, must, times):
        return found
    exact = _by_definition(reads, sources, must, times)
    if found.dependences.is_equal(exact.dependences) and found.without.is_equal(exact.without):
        return found
    return exact


def reads_before(
    writes: isl.UnionMap, reads: isl.UnionMap, must: isl.UnionMap, times: isl.UnionMap
) -> isl.UnionMap:
    """{ read -> write }: the reads of a cell after which nothing writes it for certain before the write."""
    info = isl.UnionAccessInfo.from_sink(writes).set_may_source(reads).set_kill(must)
    flow = _flow(info, times)
    if flow is None:
        return _by_definition(writes, reads, must, times).dependences
    found = flow.get_may_dependence()
    if not any(map(_has_divisions, (reads, writes, must, times))) and _are_aligned(times):
        return found
    exact = _by_definition(writes, reads, must, times).dependences
    return found if found.is_equal(exact) else exact


def _flow(info: isl.UnionAccessInfo, times: isl.UnionMap) -> isl.UnionFlow | None:
    """isl's data flow; None if isl gives up."""
    try:
        return info.set_schedule_map(times).compute_flow()
    except isl.Error:
        return None


def _has_divisions(relation: isl.UnionMap) -> bool:
    return any(part.dim(isl.dim_type.div) > 0 for one in maps_of(relation) for part in one.get_basic_maps())


def _are_aligned(times: isl.UnionMap) -> bool:
    """Whether each dimension is a constant for all statements or for none, of those not told apart before."""
    maps = [part for one in maps_of(times) for part in one.get_basic_maps()]
    together, dimension = [maps], 0
    while together:
        apart: list[list[isl.BasicMap]] = []
        for group in together:
            by_value: dict[str, list[isl.BasicMap]] = {}
            for one in (one for one in group if dimension < one.dim(isl.dim_type.out)):
                value = one.plain_get_val_if_fixed(isl.dim_type.out, dimension)
                by_value.setdefault(str(value), []).append(one)
            if len(by_value) > 1 and _NO_CONSTANT in by_value:
                return False
            apart += [each for each in by_value.values() if len(each) > 1]
        together, dimension = apart, dimension + 1
    return True


_NO_CONSTANT = str(isl.Val.nan(isl.DEFAULT_CONTEXT))


def _are_last(flow: isl.UnionFlow, reads: isl.UnionMap, writes: isl.UnionMap, times: isl.UnionMap) -> bool:
    """Whether the writes found are the last ones, and the reads without one have none before."""
    found = flow.get_full_may_dependence().reverse()
    earlier = _before(reads, writes, times)
    order = times.intersect_domain(writes.domain())
    between = found.apply_range(order.lex_lt_union_map(order)).intersect(earlier)
    without = reads.wrap().subtract(earlier.domain())
    return bool(
        found.is_subset(earlier)
        and between.is_empty()
        and earlier.domain().is_subset(found.domain())
        and flow.get_may_no_source().wrap().is_equal(without)
    )


def _before(reads: isl.UnionMap, others: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    """{ [r -> cell] -> x }: x touches the cell, and is before r."""
    own, early = reads.domain_map().apply_range(times), times.intersect_domain(others.domain())
    return reads.range_map().apply_range(others.reverse()).intersect(own.lex_gt_union_map(early))


def _by_definition(
    sinks: isl.UnionMap, sources: isl.UnionMap, killers: isl.UnionMap, times: isl.UnionMap
) -> SeenWrites:
    """What is seen, by sets alone; each read of a cell is a point [r -> cell]."""
    possible = _before(sinks, sources, times)
    killing = possible if killers is sources else _before(sinks, killers, times)
    ends, earlier = (times.intersect_domain(one.domain()) for one in (killers, sources))
    hidden = killing.apply_range(ends.lex_gt_union_map(earlier))
    seen = possible.subtract(hidden).domain_factor_domain().reverse()
    without = sinks.wrap().subtract(killing.domain()).unwrap()
    return SeenWrites(seen.coalesce(), without.coalesce())
