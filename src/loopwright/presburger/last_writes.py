"""Where what is read was written: isl's data flow, checked.

isl (0.27, and what was before it) gives a wrong last write for some sets with remainders in them:

    for (i = 0; i < n; i++) { for (j = 0; j < m / 4 * 4; j += 4) s = ..; .. = s; }

where it takes j = 0 for the last one.  So where a set has integer divisions, what it finds is compared with
the definition: of the sources before a read of a cell, those after which no killer of the cell comes,

    seen = before - { r -> w : some killer k of the cell is before r, and w is before k }

and this is taken where they differ.
"""

from __future__ import annotations

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.unions import maps_of


@dataclass(frozen=True, eq=False)
class SeenWrites:
    """{ source -> read }, and the reads { read -> cell } for which there may be no certain write before."""

    dependences: isl.UnionMap
    without: isl.UnionMap


def seen_writes(
    reads: isl.UnionMap,
    must: isl.UnionMap,
    times: isl.UnionMap,
    *,
    may: isl.UnionMap | None = None,
) -> SeenWrites:
    """What reads of cells may see, of writes that happen for certain and of writes that may happen."""
    info = isl.UnionAccessInfo.from_sink(reads).set_must_source(must)
    info = info if may is None else info.set_may_source(may)
    flow = info.set_schedule_map(times).compute_flow()
    found = SeenWrites(flow.get_may_dependence(), flow.get_may_no_source())
    sources = must if may is None or may.is_empty() else must.union(may)
    if not any(map(_has_divisions, (reads, sources, times))):
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
    found = info.set_schedule_map(times).compute_flow().get_may_dependence()
    if not any(map(_has_divisions, (reads, writes, must, times))):
        return found
    exact = _by_definition(writes, reads, must, times).dependences
    return found if found.is_equal(exact) else exact


def _has_divisions(relation: isl.UnionMap) -> bool:
    return any(
        part.dim(isl.dim_type.div) > 0 for one in maps_of(relation) for part in one.get_basic_maps()
    )


def _by_definition(
    sinks: isl.UnionMap, sources: isl.UnionMap, killers: isl.UnionMap, times: isl.UnionMap
) -> SeenWrites:
    """What is seen, by sets alone; each read of a cell is a point [r -> cell]."""
    cells, own = sinks.range_map(), sinks.domain_map().apply_range(times)

    def before(others: isl.UnionMap) -> isl.UnionMap:
        early = times.intersect_domain(others.domain())
        return cells.apply_range(others.reverse()).intersect(own.lex_gt_union_map(early))

    possible = before(sources)
    killing = possible if killers is sources else before(killers)
    ends, earlier = (times.intersect_domain(one.domain()) for one in (killers, sources))
    hidden = killing.apply_range(ends.lex_gt_union_map(earlier))
    seen = possible.subtract(hidden).domain_factor_domain().reverse()
    without = cells.domain().subtract(killing.domain()).unwrap()
    return SeenWrites(seen.coalesce(), without.coalesce())
