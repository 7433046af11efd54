"""The writer functions as C: FirstWriter, NextWriter, WriterBeforeRead, LastWriter [Bao2016, section 4.1.1].

An instance is `struct lw_instance { int s; long x[]; }`: the statement's number and its iteration
vector; `s` is -1 for NIL and Init.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import islpy as isl

from loopwright.check.original.c_text import components, test, value
from loopwright.check.original.solving import solution_to_c, solve
from loopwright.check.original.specification import Specification, Stated, unnamed
from loopwright.check.original.writers import ArrayWriters, Writers
from loopwright.presburger.sets import IN, OUT


def writer_functions(spec: Specification, found: Writers) -> str:
    """The C text of all functions Algorithm A calls."""
    pieces = [
        _by_array("lw_first", spec, found, lambda array: array.first),
        _by_array("lw_last", spec, found, lambda array: array.last),
        _next(spec, found),
        _before(spec, found),
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


def _by_array(
    name: str, spec: Specification, found: Writers, parts: Callable[[ArrayWriters], tuple[isl.Map, ...]]
) -> str:
    lines = [f"static void {name}(int array, const long *w, struct lw_instance *r)\n{{\n  r->s = -1;\n"]
    lines.append("  switch (array) {\n")
    for number, array in enumerate(spec.arrays):
        if array in found.arrays:
            rank = spec.ranks[array]
            names = _names("w", rank)
            everything = isl.Set.universe(unnamed(found.arrays[array].write_set).get_space())
            body = _branches(spec, parts(found.arrays[array]), names, everything)
            lines.append(f"  case {number}: {{ {_locals('w', rank, 'w')}\n{body}    break; }}\n")
    lines.append("  }\n}\n")
    return "".join(lines)


def _next(spec: Specification, found: Writers) -> str:
    lines = [
        "static void lw_next(const struct lw_instance *p, struct lw_instance *r)\n"
        "{\n  r->s = -1;\n  switch (p->s) {\n"
    ]
    for statement in spec.statements:
        maps = found.arrays[statement.write.array].next
        parts = [part for part in maps if part.get_tuple_name(IN) == statement.name]
        body = _branches(spec, parts, _names("x", statement.depth), statement.domain)
        opening = _locals("p->x", statement.depth, "x")
        lines.append(f"  case {statement.number}: {{ {opening}\n{body}    break; }}\n")
    lines.append("  }\n}\n")
    return "".join(lines)


def _before(spec: Specification, found: Writers) -> str:
    lines = [
        "static void lw_before(int s, int read, const long *x, struct lw_instance *r)\n"
        "{\n  (void)x;\n  r->s = -1;\n  switch (s * LW_READS + read) {\n"
    ]
    for statement in spec.statements:
        names = _names("x", statement.depth)
        for number, parts in enumerate(found.before[statement.name]):
            body = _branches(spec, parts, names, statement.domain)
            if body:
                case = f"{statement.number} * LW_READS + {number}"
                lines.append(f"  case {case}: {{ {_locals('x', statement.depth, 'x')}\n{body}    break; }}\n")
    lines.append("  }\n}\n")
    return "".join(lines)


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
    """The instance that reads these cells, where the subscripts read determine it."""
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
