"""Computes the first, next and last writer of a cell, and the writer before a read [Bao2016, section 4.1.1].

The time stamps that [Bao2016] minimises over are those of the original's own order, so isl's exact array
dataflow computes the functions: with the writes of A as sources and as sinks,

    NextWriter(A)      = the pairs (last write of the same cell before it, write)
    FirstWriter(A, w)  = the write of w that has no source
    LastWriter(A, w)   = the write of w that is not a source
    WriterBeforeRead   = the last write before the read; where there is none, Init

The writer functions as C: FirstWriter, NextWriter, WriterBeforeRead, LastWriter [Bao2016, section 4.1.1].

An instance is `struct lw_instance { int s; long x[]; }`: the statement's number and its iteration
vector; `s` is -1 for NIL and Init.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import islpy as isl

from loopwright.check.original.c_text import components, test, value
from loopwright.check.original.solving import solution_to_c, solve
from loopwright.check.original.specification import FixedAccess, Specification, Stated, unnamed
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.last_writes import SeenWrites, seen_writes
from loopwright.presburger.sets import IN, OUT, isl_failures, maps_of, union, union_map


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

    def previous(self, statement: Stated) -> tuple[isl.Map, ...]:
        """{ S[x] -> S'[y] }: the write of the same cell before S[x]; the inverse of NextWriter."""
        maps = self.arrays[statement.write.array].next
        name = statement.name
        return tuple(part.reverse() for part in maps if part.get_tuple_name(isl.dim_type.out) == name)


@isl_failures("isl could not compute the writers")
def writers(spec: Specification) -> Writers:
    """All writer functions of the original."""
    arrays = {array: _array_writers(spec, array) for array in spec.written}
    before = {s.name: tuple(_before(spec, read) for read in s.reads) for s in spec.statements}
    return Writers(arrays, before)


def _union(maps: Iterable[isl.Map]) -> isl.UnionMap:
    return union_map(maps, isl.UnionMap("{ }").get_space())


def _writes(spec: Specification, array: str) -> isl.UnionMap:
    return _union(s.write.relation for s in spec.writers(array))


def _flow(spec: Specification, sink: isl.UnionMap, source: isl.UnionMap) -> SeenWrites:
    return seen_writes(sink, source, _union(s.schedule.intersect_domain(s.domain) for s in spec.statements))


def _maps(relation: isl.UnionMap) -> tuple[isl.Map, ...]:
    """The parts, in an order that depends only on their names."""
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


def writer_functions(spec: Specification, found: Writers) -> str:
    """Return the C source of all functions that Algorithm A calls."""
    pieces = [
        _by_array("lw_first", spec, found, lambda array: array.first),
        _by_array("lw_last", spec, found, lambda array: array.last),
        _next(spec, found),
        _before_function(spec, found),
        _expected(spec),
        _time(spec),
        _from_reads(spec),
    ]
    return "\n".join(pieces)


def _locals(target: str, count: int, letter: str) -> str:
    text = "".join(f"const long {letter}{k} = {target}[{k}]; " for k in range(count))
    return text + "".join(f"(void){letter}{k}; " for k in range(count))


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{k}" for k in range(count)]


def _branches(spec: Specification, parts: Iterable[isl.Map], names: Sequence[str], known: isl.Set) -> str:
    """`if (domain) { r = image; return; }` for each part of a function to instances."""
    numbers = {statement.name: statement.number for statement in spec.statements}
    lines = []
    for part in parts:
        domain = unnamed(part.domain())
        target = numbers[part.get_tuple_name(OUT)]
        sets = "".join(f" r->x[{k}] = {value(one, names, domain)};" for k, one in enumerate(components(part)))
        lines.append(f"    if ({test(domain, names, known)}) {{ r->s = {target};{sets} return; }}\n")
    return "".join(lines)


def _switch(head: str, selector: str, cases: Iterable[tuple[object, str, str]]) -> str:
    """A C function that returns an instance by branches for each case, NIL if none applies."""
    lines = [f"  case {case}: {{ {opening}\n{body}    break; }}\n" for case, opening, body in cases]
    return f"static void {head}  r->s = -1;\n  switch ({selector}) {{\n{''.join(lines)}  }}\n}}\n"


def _by_array(
    name: str, spec: Specification, found: Writers, parts: Callable[[ArrayWriters], tuple[isl.Map, ...]]
) -> str:
    def cases() -> Iterator[tuple[object, str, str]]:
        for number, array in enumerate(spec.arrays):
            if array in found.arrays:
                rank = spec.ranks[array]
                everything = isl.Set.universe(unnamed(found.arrays[array].write_set).get_space())
                body = _branches(spec, parts(found.arrays[array]), _names("w", rank), everything)
                yield number, _locals("w", rank, "w"), body

    return _switch(f"{name}(int array, const long *w, struct lw_instance *r)\n{{\n", "array", cases())


def _next(spec: Specification, found: Writers) -> str:
    def cases() -> Iterator[tuple[object, str, str]]:
        for one in spec.statements:
            maps = found.arrays[one.write.array].next
            parts = [part for part in maps if part.get_tuple_name(IN) == one.name]
            body = _branches(spec, parts, _names("x", one.depth), one.domain)
            yield one.number, _locals("p->x", one.depth, "x"), body

    head = "lw_next(const struct lw_instance *p, struct lw_instance *r)\n{\n"
    return _switch(head, "p->s", cases())


def _before_function(spec: Specification, found: Writers) -> str:
    def cases() -> Iterator[tuple[object, str, str]]:
        for one in spec.statements:
            for number, parts in enumerate(found.before[one.name]):
                if body := _branches(spec, parts, _names("x", one.depth), one.domain):
                    yield f"{one.number} * LW_READS + {number}", _locals("x", one.depth, "x"), body

    head = "lw_before(int s, int read, const long *x, struct lw_instance *r)\n{\n  (void)x;\n"
    return _switch(head, "s * LW_READS + read", cases())


def _expected(spec: Specification) -> str:
    """S.w and S.r of an instance, in the order in which a site observes them."""
    lines = ["static void lw_expected(int s, const long *x, long *o)\n{\n  switch (s) {\n"]
    for statement in spec.statements:
        names = _names("x", statement.depth)
        functions = subscripts(statement)
        texts = [value(one, names, statement.domain) for one in functions]
        sets = "".join(f" o[{k}] = {text};" for k, text in enumerate(texts))
        lines.append(f"  case {statement.number}: {{ {_locals('x', statement.depth, 'x')}{sets} break; }}\n")
    lines.append("  }\n}\n")
    return "".join(lines)


def subscripts(statement: Stated) -> tuple[isl.PwAff, ...]:
    """The subscripts written, then those read."""
    return tuple(one for touched in (statement.write, *statement.reads) for one in touched.subscripts)


def _time(spec: Specification) -> str:
    """Sched_S: the time stamp of an instance."""
    lines = ["static void lw_time(const struct lw_instance *p, long *t)\n{\n  switch (p->s) {\n"]
    for statement in spec.statements:
        names = _names("x", statement.depth)
        times = components(statement.schedule.intersect_domain(statement.domain))
        texts = [value(one, names, statement.domain) for one in times]
        sets = "".join(f" t[{k}] = {text};" for k, text in enumerate(texts))
        opening = _locals("p->x", statement.depth, "x")
        lines.append(f"  case {statement.number}: {{ {opening}{sets} break; }}\n")
    lines.append("  }\n}\n")
    return "".join(lines)


def _from_reads(spec: Specification) -> str:
    """The instance that reads these cells, if the subscripts read determine it."""
    lines = [
        "static int lw_from_reads(int s, const long *o, long *x)\n{\n  (void)o;\n  (void)x;\n  switch (s) {\n"
    ]
    for statement in spec.statements:
        reads = [one for touched in statement.reads for one in touched.subscripts]
        solution = solve(reads, statement.depth)
        if solution.free:
            continue
        skipped = len(statement.write.subscripts)
        texts = solution_to_c(solution, {row: f"o[{skipped + row}]" for row in solution.rows})
        sets = "".join(f" x[{k}] = {text};" for k, text in enumerate(texts))
        names = _names("x", statement.depth)
        everything = isl.Set.universe(unnamed(statement.domain).get_space())
        inside = test(statement.domain, names, everything)
        lines.append(
            f"  case {statement.number}: {{{sets} {_locals('x', statement.depth, 'x')}return {inside}; }}\n"
        )
    lines.append("  default: return 0;\n  }\n}\n")
    return "".join(lines)
