"""Determines the problem size to check: given, annotated, or read from the program where the segment starts.

Problem sizes found from the operations that run [Bao2016, section 5, "Problem-size parameters"].

[Bao2016] relates "properties of a full polyhedron — number of integer points, ... extremes on the
array locations read/written" to observations of the running program.  Here: for every written array,
the least and greatest subscripts written, and the number of writes.  A size is accepted only if no other one
gives the same; it relies on the program under test, and the report says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce

import islpy as isl

from loopwright.c.macros import constant_macro, definitions
from loopwright.c.tokens import names_in
from loopwright.check.original.specification import Specification, specification
from loopwright.check.program.addresses import addresses
from loopwright.check.program.instrument import instrumented, precise_call, size_texts, with_insertions
from loopwright.check.program.reachable import ReachedCode
from loopwright.check.program.segment import Input
from loopwright.check.program.sites import Sites, find_sites
from loopwright.check.run.execute import Built, Ended, Toolchain, compile_program, run_program, workspace
from loopwright.check.runtime import runtime_text
from loopwright.errors import BadInput, Code, Crashed, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.presburger.dimensions import only
from loopwright.presburger.named import at_parameters, number, parameter_space, variable, without_parameters
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import DIM, union
from loopwright.source import Span


@dataclass(frozen=True)
class Sizes:
    """The value of each parameter; `texts` must have that value where the segment starts."""

    values: dict[str, int]
    texts: tuple[tuple[str, str], ...]
    solved: tuple[str, ...] = ()
    """Parameters whose values were determined from the operations of the program."""


def find_sizes(given: Input, known: ReachedCode, defined: Mapping[str, int], tools: Toolchain) -> Sizes:
    """Return the size of every parameter of the original; raises BadInput naming an unknown one."""
    for name in defined:
        _refuse_variable(given, known, name)
    annotated = dict(given.segment.sizes)
    values: dict[str, int] = {}
    asked: list[tuple[str, str]] = []
    solved: list[str] = []
    for parameter in given.original.parameters:
        stated = annotated.get(parameter.name, defined.get(parameter.name))
        if stated is not None:
            values[parameter.name] = stated
        elif _is_visible(known, parameter.text, defined):
            _refuse_other_definition(given, known, parameter.text)
            asked.append((parameter.name, parameter.text))
        elif (fixed := _constant(given.original, parameter.text)) is not None:
            values[parameter.name] = fixed
        else:
            solved.append(parameter.name)
    values |= _asked(given, asked, tools)
    if solved:
        values |= _solved(given, known, values, solved, tools)
    texts = tuple(
        (one.name, one.text if _is_visible(known, one.text, defined) else str(values[one.name]))
        for one in given.original.parameters
    )
    return Sizes({name: values[name] for name in given.original.params}, texts, tuple(solved))


def _constant(original: Program, name: str) -> int | None:
    """The value that the original's file gives a size, whatever the compiler's options are."""
    declared = original.file.declarations.visible(name, original.region)
    return constant_macro(original.file.macros, name) if declared is None else declared.value


def _refuse_variable(given: Input, known: ReachedCode, name: str) -> None:
    """Refuse `-D n=4` for a variable: the macro would also replace the name in its declaration."""
    declared = known.declarations.visible(name, given.segment.place)
    if declared is not None:
        message = f"'{name}' is a variable of the program: -D {name}=... would replace its name"
        hint = f"without -D {name} the check takes its value from the program"
        raise BadInput(Code.OPTION, message, span=declared.place, hint=hint)


def _refuse_other_definition(given: Input, known: ReachedCode, name: str) -> None:
    """Refuse a size with different definitions in the two files: they do not run at one size."""
    old, new = definitions(given.original.file.macros, name), definitions(known.macros, name)
    if old and new and [one.body for one in old] != [one.body for one in new]:
        value = new[-1].body
        message = f"{name} is '{old[-1].body}' in the original and '{value}' in the program"
        hint = f"define it alike, or say -D {name}={value} to compare them at that size"
        raise GaveUp(Code.UNDECIDED, message, span=new[-1].place, hint=hint)


def _solved(
    given: Input, known: ReachedCode, values: dict[str, int], open_names: list[str], tools: Toolchain
) -> dict[str, int]:
    try:
        return discovered(given, known, values, tools)
    except GaveUp as failure:
        name = open_names[0]
        hint = f"give it with -D {name}=..., or write /*@ polycheck size {name} = ... */"
        message = f"the problem size {name} is not known: {failure.message}"
        raise BadInput(
            Code.OPTION, message, span=Span.start_of(given.segment.source.path), hint=hint
        ) from None


def _is_visible(known: ReachedCode, text: str, defined: Mapping[str, int]) -> bool:
    """Whether the program can evaluate `text` where the segment starts."""
    words = names_in(_MEMBER.sub("", text))
    macros = {macro.name for macro in known.macros} | set(defined)
    return bool(words) and all(word in macros or known.at_segment(word) is not None for word in words)


def _asked(given: Input, names: list[tuple[str, str]], tools: Toolchain) -> dict[str, int]:
    """Run the program up to the segment."""
    if not names:
        return {}
    begin = f"lw_probe({len(names)}, {size_texts(names)});"
    program = with_insertions(given.segment, (), begin, "")
    built = Built(
        program, "void lw_probe(int count, const long *sizes);\n", runtime_text("probe.c"), options=("-O1",)
    )
    with workspace() as folder:
        ended = run_program(tools, compile_program(tools, built, folder, given.segment.source), folder)
    if not ended.lines:
        raise not_reached(given, ended)
    numbers = [int(word) for word in ended.lines[0].split()[1:]]
    return {name: number for (name, _), number in zip(names, numbers, strict=True)}


def not_reached(given: Input, ended: Ended) -> BadInput | Crashed:
    """The error for a program that ended, or did not, before its segment."""
    where = given.segment.place
    if ended.timed_out:
        message = "time ran out before the segment was entered"
        return Crashed(Code.CRASHED, message, span=where, hint="raise --timeout")
    hint = "does it need arguments? give them with --args"
    if ended.crashed is not None:
        message = f"the program crashed ({ended.crashed}) before the segment was entered"
        return Crashed(Code.CRASHED, message, span=where, hint=hint)
    status = f" and ends with status {ended.status}" if ended.status else ""
    return BadInput(Code.SEGMENT, f"the program never enters the segment{status}", span=where, hint=hint)


_MEMBER = re.compile(r"(?:\.|->)\s*\w+")
MOST_OPERATIONS = 200_000
"""The most instances that are counted one by one to distinguish sizes."""
MOST_SIZES = 10_000

HEADER = "void lw_begin(void);\nvoid lw_end(void);\nvoid lw_operation(int site, const long *observed);\n"


@dataclass(frozen=True)
class Shown:
    """The observations of an array in a run: the number of writes and the range of subscripts."""

    writes: int
    extent: tuple[tuple[int, int], ...]


def discovered(given: Input, known: ReachedCode, fixed: dict[str, int], tools: Toolchain) -> dict[str, int]:
    """Return the sizes of the parameters not in `fixed`; raises GaveUp if the run does not determine them."""
    program = given.original
    spec = specification(program, _any_sizes(program, fixed))
    sites = find_sites(spec, known)
    shown = _observed(given, sites, spec, tools)
    possible = _with_extents(program, _context(program, fixed), shown)
    return _told_apart(program, possible, shown)


def _at_sizes(program: Program, sizes: Mapping[str, int]) -> isl.Set:
    """The parameters, with the values of `sizes`."""
    return at_parameters(isl.Set.universe(parameter_space(program.params)), sizes)


def _context(program: Program, fixed: dict[str, int]) -> isl.Set:
    return _at_sizes(program, fixed).intersect(program.context)


def _any_sizes(program: Program, fixed: dict[str, int]) -> dict[str, int]:
    """Some sizes that the context allows: the texts of statements do not depend on them."""
    context = _context(program, fixed)
    large = [variable(name).ge_set(number(4)) for name in program.params if name not in fixed]
    wished = reduce(isl.Set.intersect, large, context)
    return _sizes(program, context if wished.is_empty() else wished)


def _sizes(program: Program, possible: isl.Set) -> dict[str, int]:
    point = smallest_point(possible)
    if point is None:
        raise GaveUp(Code.SIZES_UNKNOWN, "the original allows no problem size", hint="give the sizes with -D")
    return {name: point.parameters[name] for name in program.params}


def extents_tables(spec: Specification, sites: Sites) -> str:
    """`lw_tables.h` of `extents.c`; arrays that the original does not write count as one more array."""
    order = {array: number for number, array in enumerate(spec.written)}
    numbers = [order.get(site.write.array, len(order)) for site in sites.sites]
    ranks = [*(spec.ranks[array] for array in spec.written), 0]
    return (
        f"#define LW_ARRAYS {len(ranks)}\n#define LW_RANKS {max(ranks)}\n"
        f"static const int lw_site_array[] = {{{', '.join(map(str, numbers))}}};\n"
        f"static const int lw_ranks[] = {{{', '.join(map(str, ranks))}}};\n"
    )


def _observed(given: Input, sites: Sites, spec: Specification, tools: Toolchain) -> dict[str, Shown]:
    """Run the program to the end of its segment, and record what it writes."""
    where = addresses(spec, sites)
    program = instrumented(sites, precise_call, f"{where.begin}lw_begin();", "lw_end();")
    header, tables = where.header + HEADER, extents_tables(spec, sites)
    built = Built(program, header, runtime_text("extents.c"), tables, ("-O1",))
    with workspace() as folder:
        executable = compile_program(tools, built, folder, given.segment.source)
        ended = run_program(tools, executable, folder)
    return _parsed(ended, spec.written)


def _parsed(ended: Ended, arrays: tuple[str, ...]) -> dict[str, Shown]:
    if len(ended.lines) < len(arrays):
        raise GaveUp(
            Code.SIZES_UNKNOWN, "the program ends before its size is known", hint="give the sizes with -D"
        )
    found = {}
    for array, line in zip(arrays, ended.lines, strict=False):
        writes, *ends = (int(word) for word in line.split())
        found[array] = Shown(writes, tuple(zip(ends[::2], ends[1::2], strict=True)))
    return found


def _with_extents(program: Program, possible: isl.Set, shown: dict[str, Shown]) -> isl.Set:
    """The sizes at which the subscript range of each array is exactly as observed."""
    for array, seen in shown.items():
        for statement in program.statements:
            if seen.writes == 0 and statement.writes[0].array == array:
                possible = possible.subtract(statement.writes[0].relation.domain().params())
        for k, (low, high) in enumerate(seen.extent if seen.writes else ()):
            values = _subscript_values(program, array, k)
            for end, beyond in ((low, "v < "), (high, "v > ")):
                here = values.intersect(isl.Set(f"{{ [v] : v = {end} }}")).params()
                further = values.intersect(isl.Set(f"{{ [v] : {beyond}{end} }}")).params()
                possible = possible.intersect(here.subtract(further))
    return possible


def _subscript_values(program: Program, array: str, k: int) -> isl.Set:
    """{ [v] : some statement writes a cell of `array` whose k-th subscript is v }."""
    writes = [one for statement in program.statements for one in statement.writes if one.array == array]
    return union(only(write.relation.range().reset_tuple_id(), DIM, k) for write in writes)


def _told_apart(program: Program, possible: isl.Set, shown: dict[str, Shown]) -> dict[str, int]:
    """The only sizes left, or the only ones with the observed numbers of writes."""
    first = _sizes(program, possible)
    if possible.subtract(_at_sizes(program, first)).is_empty():
        return first
    open_names = [name for name in program.params if not _is_fixed(program, possible, name, first[name])]
    writes = sum(seen.writes for seen in shown.values())
    hint = "give the sizes with -D"
    if len(open_names) != 1 or writes > MOST_OPERATIONS:
        message = f"what the program writes does not determine {', '.join(open_names)}"
        raise GaveUp(Code.SIZES_UNKNOWN, message, hint=hint)
    (name,) = open_names
    for size in range(MOST_SIZES):
        sizes = {**first, name: size}
        total = _instances(program, sizes)
        if total == writes and _instances(program, {**first, name: size + 1}) > writes:
            return sizes
        if total > writes:
            break
    raise GaveUp(Code.SIZES_UNKNOWN, f"what the program writes does not determine {name}", hint=hint)


def _is_fixed(program: Program, possible: isl.Set, name: str, size: int) -> bool:
    return bool(possible.is_subset(_at_sizes(program, {name: size})))


def _instances(program: Program, sizes: dict[str, int]) -> int:
    here = _at_sizes(program, sizes)
    total = 0
    for statement in program.statements:
        domain = statement.domain.intersect_params(here)
        total += without_parameters(domain).count_val().to_python()
    return total
