"""Who writes a cell first, next, last, and before a read [Bao2016, section 4.1.1].

The time stamps that [Bao2016] minimises over are those of the original's own order, so the functions
are isl's exact array dataflow on it: with the writes of A as sources and as sinks,

    NextWriter(A)      = the pairs (last write of the same cell before it, write)
    FirstWriter(A, w)  = the write of w that has no source
    LastWriter(A, w)   = the write of w that is not a source
    WriterBeforeRead   = the last write before the read; where there is none, Init
"""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from loopwright.check.original.specification import FixedAccess, Specification, Stated
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.last_writes import SeenWrites, seen_writes
from loopwright.presburger.sets import isl_failures, union
from loopwright.presburger.unions import maps_of, union_map


@dataclass(frozen=True)
class ArrayWriters:
    """{ A[w] -> S[x] } for first and last, { S[x] -> S'[y] } for next, both single-valued."""

    array: str
    first: tuple[isl.Map, ...]
    next: tuple[isl.Map, ...]
    last: tuple[isl.Map, ...]
    write_set: isl.Set


@dataclass(frozen=True)
class Writers:
    """`before[S][r]` has the parts { S[x] -> S'[y] } of WriterBeforeRead for the r-th read of S."""

    arrays: dict[str, ArrayWriters]
    before: dict[str, tuple[tuple[isl.Map, ...], ...]]
    input_set: dict[str, isl.Set]

    def previous(self, statement: Stated) -> tuple[isl.Map, ...]:
        """{ S[x] -> S'[y] }: the write of the same cell before S[x]; NextWriter turned round."""
        maps = self.arrays[statement.write.array].next
        name = statement.name
        return tuple(part.reverse() for part in maps if part.get_tuple_name(isl.dim_type.out) == name)


@isl_failures("isl could not compute the writers")
def writers(spec: Specification) -> Writers:
    """All writer functions of the original."""
    arrays = {array: _array_writers(spec, array) for array in spec.written}
    before = {s.name: tuple(_before(spec, read) for read in s.reads) for s in spec.statements}
    inputs = {array: input_set(spec, array) for array in spec.arrays}
    return Writers(arrays, before, {array: cells for array, cells in inputs.items() if cells is not None})


def _union(maps: Iterable[isl.Map]) -> isl.UnionMap:
    return union_map(maps, isl.UnionMap("{ }").get_space())


def _schedule(spec: Specification) -> isl.UnionMap:
    return _union(s.schedule.intersect_domain(s.domain) for s in spec.statements)


def _writes(spec: Specification, array: str) -> isl.UnionMap:
    return _union(s.write.relation for s in spec.writers(array))


def _flow(spec: Specification, sink: isl.UnionMap, source: isl.UnionMap) -> SeenWrites:
    return seen_writes(sink, source, _schedule(spec))


def _maps(relation: isl.UnionMap) -> tuple[isl.Map, ...]:
    """The parts, in an order that depends on their names alone."""
    names = (isl.dim_type.in_, isl.dim_type.out)
    return tuple(
        sorted(
            maps_of(relation.coalesce()), key=lambda part: tuple(part.get_tuple_name(side) for side in names)
        )
    )


def _array_writers(spec: Specification, array: str) -> ArrayWriters:
    writes = _writes(spec, array)
    flow = _flow(spec, writes, writes)
    following = flow.dependences
    first = flow.without.reverse()
    last = writes.subtract_domain(following.domain()).reverse()
    cells = union(statement.write.relation.range() for statement in spec.writers(array)).coalesce()
    return ArrayWriters(array, _maps(first), _maps(following), _maps(last), cells)


def _before(spec: Specification, read: FixedAccess) -> tuple[isl.Map, ...]:
    if read.array not in spec.written:
        return ()
    flow = _flow(spec, isl.UnionMap.from_map(read.relation), _writes(spec, read.array))
    return _maps(flow.dependences.reverse())


def input_set(spec: Specification, array: str) -> isl.Set | None:
    """InputSet(A): the cells some read finds as they were before the original ran."""
    reads = _union(t.relation for s in spec.statements for t in s.reads if t.array == array)
    if reads.is_empty():
        return None
    outside = _flow(spec, reads, _writes(spec, array)).without
    return None if outside.is_empty() else isl.Set.from_union_set(outside.range()).coalesce()
