"""Where the values that are read come from: exact, value-based data flow, access by access.

A read is an instance of a reader, under the name of the reader; a write is an instance of
`S writes k`, the access number k of a statement; what a cell held before the region is
`before A[c]`.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import at, padded
from loopwright.presburger.sets import IN, OUT
from loopwright.presburger.unions import nonempty_maps


def sources(
    program: Program, readers: list[tuple[str, isl.Map]], given: Mapping[str, isl.Map] | None = None
) -> dict[str, isl.UnionMap]:
    """{ reader -> write, or the cell that no write changed before }, by the names of the readers.

    An instance runs at [0, θ, 0] what it reads and at [0, θ, 1] what it writes; the end is [1, 0, ...].
    Readers that are not statements may have a `given` time θ.
    """
    space = program.context.get_space()
    reads, times = isl.UnionMap.empty(space), isl.UnionMap.empty(space)
    length = max((one.schedule.dim(OUT) for one in program.statements), default=0)
    timed = {one.name: _timed(one, length) for one in program.statements}
    for name, relation in readers:
        reads = reads.union(isl.UnionMap.from_map(relation))
        time = (given or {}).get(name)
        if time is None:
            time = _reading_time(name, relation, timed, length)
        else:
            time = _at_end(_started(padded(time, length)), 0).set_tuple_name(IN, name)
        times = times.union(isl.UnionMap.from_map(time))
    must, may = isl.UnionMap.empty(space), isl.UnionMap.empty(space)
    touched = {str(relation.get_tuple_name(OUT)) for _, relation in readers}
    for statement in program.statements:
        for k, access in enumerate(statement.accesses):
            if not access.is_write or access.array not in touched:
                continue
            name = f"{statement.name} writes {k}"
            write = access.relation.intersect_domain(statement.domain).set_tuple_name(IN, name)
            one = isl.UnionMap.from_map(write)
            must, may = (must.union(one), may) if access.must else (must, may.union(one))
            time = _at_end(timed[statement.name], 1).set_tuple_name(IN, name)
            times = times.union(isl.UnionMap.from_map(time))
    # Without its redundancies: isl fails to factorise some relations that have them.
    reads, must, may = (
        one.intersect_params(program.context).remove_redundancies() for one in (reads, must, may)
    )
    info = isl.UnionAccessInfo.from_sink(reads).set_must_source(must).set_may_source(may)
    flow = info.set_schedule_map(times.remove_redundancies()).compute_flow()
    found: dict[str, isl.UnionMap] = {}
    parts = [one.reverse() for one in nonempty_maps(flow.get_may_dependence())]
    parts += [_before(one) for one in nonempty_maps(flow.get_may_no_source())]
    for part in parts:
        name = str(part.get_tuple_name(IN))
        one = isl.UnionMap.from_map(part)
        found[name] = found[name].union(one) if name in found else one
    return found


def _timed(statement: Statement, length: int) -> isl.Map:
    """{ S[i] -> [0, θ] }."""
    return _started(padded(statement.schedule, length).intersect_domain(statement.domain))


def _started(times: isl.Map) -> isl.Map:
    return times.insert_dims(OUT, 0, 1).fix_val(OUT, 0, isl.Val(0))


def _at_end(times: isl.Map, value: int) -> isl.Map:
    return times.add_dims(OUT, 1).fix_val(OUT, times.dim(OUT), isl.Val(value))


def _reading_time(name: str, relation: isl.Map, timed: dict[str, isl.Map], length: int) -> isl.Map:
    statement = name.partition(" reads")[0]
    if statement not in timed:
        late = isl.Map.from_domain(relation.domain()).add_dims(OUT, length + 2)
        return at(late, OUT, (1, *(0,) * (length + 1)))
    times = _at_end(timed[statement], 0)
    if relation.domain().get_space().is_wrapping():
        pairs = relation.domain().unwrap()
        return pairs.domain_map().apply_range(times).set_tuple_name(IN, name)
    return times.set_tuple_name(IN, name)


def _before(untouched: isl.Map) -> isl.Map:
    """A cell with the value it had before the region."""
    return untouched.set_tuple_name(OUT, f"before {untouched.get_tuple_name(OUT)}")
