"""Runs a program with other operations than its original, and compares the values that both leave.

An operation that matches nothing in the original shows that a program is not a reordering of it, not that its
results differ.  So the original is inserted before the segment and both run on the same data, the program's
own and generated data.  A cell with a different value afterwards is the witness; if there is none, or if the
two cannot run this way, nothing is decided.  The same applies to values in arrays that the original lacks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from loopwright.c.declarations import declared_name
from loopwright.c.file import CFile, c_file
from loopwright.c.syntax import field, walk
from loopwright.c.tokens import names_in, on_one_line
from loopwright.check.original.specification import Specification
from loopwright.check.program.addresses import blocks, bounds
from loopwright.check.program.instrument import inserted
from loopwright.check.program.outside import is_looked_at
from loopwright.check.program.reachable import ReachedCode
from loopwright.check.program.sites import Sites
from loopwright.check.run.execute import Built, Toolchain, compile_program, run_program, workspace
from loopwright.check.run.report import Answer, Report
from loopwright.check.runtime import PROGRAM_HEADER, runtime_text
from loopwright.errors import BadInput, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass

_SEEDS = ("0", "1", "2")
"""The program's own data first."""
_NOT_SHOWN = "the program has operations that the original lacks, and no run showed another result"
_HEADER = """
#define LW_KIND(cell) _Generic((cell), float: 1, double: 2, long double: 3, \\
  char: 4, signed char: 4, short: 4, int: 4, long: 4, long long: 4, \\
  _Bool: 5, unsigned char: 5, unsigned short: 5, unsigned int: 5, unsigned long: 5, unsigned long long: 5, \\
  default: 0)
void lw_area_of(int, const void *, long, long, int, int, const long *);
void lw_before(void), lw_between(void), lw_after(void);
"""


@dataclass(frozen=True)
class DifferingCell:
    """A cell with a different final value."""

    cell: str
    old: str
    new: str
    own_data: bool
    """Found with the program's own data, not with generated data."""

    def __str__(self) -> str:
        data = "" if self.own_data else ", with other initial values in the arrays"
        return f"{self.cell} ends up as {self.new}, and as {self.old} in the original{data}"


def with_difference(sites: Sites, spec: Specification, tools: Toolchain, report: Report) -> Report:
    """Confirm a violation by operations that the original lacks only if a run shows a different result."""
    if report.answer is not Answer.VIOLATION or all(site.candidates for site in report.sites):
        return report
    found = difference(sites.known, spec, tools)
    if found is not None:
        return replace(report, notes=(str(found), *report.notes))
    notes = (_NOT_SHOWN, *report.notes)
    return replace(report, answer=Answer.GAVE_UP, findings=(), violations=0, notes=notes)


def difference(known: ReachedCode, spec: Specification, tools: Toolchain) -> DifferingCell | None:
    """Return a cell in which the segment and the original leave different values; None if none is found."""
    arrays = blocks(spec, known)
    if set(arrays) != {one for one in spec.arrays if not spec.footprint(one).is_empty()}:
        return None
    if not _means_the_same(spec, known):
        return None
    built = _built(known, spec, arrays)
    with workspace() as folder:
        try:
            executable = compile_program(tools, built, folder, known.source)
            for seed in _SEEDS:
                ended = run_program(tools, executable, folder, {"LOOPWRIGHT_SEED": seed})
                if ended.status != 0 or ended.timed_out:
                    return None
                for line in ended.lines:
                    _, array, subscripts, old, new = line.split(" ")
                    cell = arrays[int(array)] + subscripts
                    return DifferingCell(cell, old, new, own_data=seed == _SEEDS[0])
        except (BadInput, GaveUp, InternalError):  # the two cannot be run together: nothing is shown
            return None
    return None


def _built(known: ReachedCode, spec: Specification, arrays: list[str]) -> Built:
    """The program with the original before its segment, and code around both that compares them."""
    areas = []
    for array in arrays:
        rank, (low, high) = spec.ranks[array], bounds(spec, array)
        first = f"{array}{'[0]' * rank}"
        strides = ", ".join(f"sizeof {array}{'[0]' * k}" for k in (*range(1, rank + 1), rank))
        seen = int(rank > 0 or is_looked_at(known, array))
        given = f"{seen}, &{first}, {low}, {high}, LW_KIND({first}), {rank}, (const long[]){{{strides}}}"
        areas.append(f"lw_area_of({given}); ")
    program, segment = spec.program, known.segment
    types = {
        name: kind
        for one in program.statements
        for name, kind in zip(one.iterators, one.iterator_types, strict=True)
    }
    declared = "".join(f"{kind} {name}; " for name, kind in types.items())
    body = f"{{ {declared}{{\n{program.region.text}\n}} }}"
    original = f"auto void lw_original(void); void lw_original(void) {body}"
    line = f"\n#line {segment.source.line_of(segment.place.start)}\n"
    begin = f"{''.join(areas)}lw_before(); {{ {original} lw_original(); }} lw_between();{line}"
    text = f'#include "{PROGRAM_HEADER}"\n' + inserted(segment, (), begin, "lw_after();")
    engine = f"#define LW_AREAS {max(1, len(arrays))}\n" + runtime_text("differing.c")
    return Built(text, _HEADER, engine, "", ("-O1", "-ffp-contract=off"), "differing")


def _means_the_same(spec: Specification, known: ReachedCode) -> bool:
    """Whether names in the original mean the same in both files: macros, functions, types of arrays."""
    program = spec.program
    if program.source.path == known.source.path:
        return True  # it is at the place of the segment
    before, after = _definitions(program.file), _definitions(c_file(known.source))
    words, named = set[str](), {*names_in(program.region.text)}
    while named:
        words |= named
        named = {word for name in named for word in names_in(before.get(name, ""))} - words
    if any(before.get(word) != after.get(word) for word in words):
        return False
    for array in spec.arrays:
        declared, here = program.file.declarations, known.at_segment(array)
        there = declared.visible(array, program.region)
        if here is None or there is None:
            return False
        if declared.resolved(there.type) != known.declarations.resolved(here.type):
            return False
    return True


def _definitions(file: CFile) -> Mapping[str, str]:
    """The texts of the macros and functions of a file."""
    found: dict[str, str] = {}
    for macro in file.macros:
        found[macro.name] = found.get(macro.name, "") + on_one_line(macro.place.text)
    for node in file.possible.named_children:
        if node.type == "function_definition":
            inner = node.child_by_field_name("declarator")
            while inner is not None and inner.type != "identifier":
                inner = inner.child_by_field_name("declarator")
            if inner is not None:
                found[inner.text] = on_one_line(field(node, "body").text)
    return found


_ALLOCATED = re.compile(r"=.*(\w*alloc\s*\(|\(void \*\))", re.DOTALL)
"""Matches a pointer to memory of its own, not into an array."""


def with_own_storage(sites: Sites, spec: Specification, report: Report) -> Report:
    """Withdraw a refutation if operations read arrays of the segment's own, whose values are not followed."""
    if report.answer is not Answer.VIOLATION:
        return report
    nodes = [node for body in sites.known.bodies for node in walk(body)]
    arrays = [declared_name(one) for one in nodes if one.type == "array_declarator" and "*" not in one.text]
    allocated = [node for node in nodes if node.type == "init_declarator" and _ALLOCATED.search(node.text)]
    found = [one for one in (*arrays, *map(declared_name, allocated)) if one is not None]
    declared = {name for name, _, _ in found} - {array.name for array in spec.program.arrays}
    values = [site.assignment.value for site in sites.sites if not site.candidates]
    own = sorted({name for value in values if value for name in names_in(value.text)} & declared)
    if not own:
        return report
    note = f"values are kept in {', '.join(own)}, which the original lacks: `prove` follows such storage"
    return replace(report, answer=Answer.GAVE_UP, findings=(), violations=0, notes=(*report.notes, note))
