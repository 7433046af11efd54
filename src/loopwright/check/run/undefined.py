"""Detects undefined behaviour of a program, with the compiler's sanitizers and with flags.

A correct run shows only one possible behaviour of an undefined program.  So the program itself runs once
more, under AddressSanitizer and UndefinedBehaviorSanitizer, with a flag beside every variable that is not
definitely assigned before it is read.  What they report in operations is in the original too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loopwright.check.program.doubts import counts_away
from loopwright.check.program.instrument import Insertion, inserted
from loopwright.check.program.reachable import ReachedCode
from loopwright.check.program.sites import Sites
from loopwright.check.program.unset import (
    UnsetRead,
    flags,
    is_own_line,
    is_own_place,
    may_be_undefined,
    own_code,
    unset_reads,
)
from loopwright.check.run.execute import (
    Built,
    Ended,
    Toolchain,
    compile_only,
    compile_program,
    run_program,
    workspace,
)
from loopwright.check.run.findings import run_log
from loopwright.check.run.report import Answer, Report
from loopwright.check.runtime import runtime_text
from loopwright.errors import Code, GaveUp
from loopwright.source import Source

_SANITIZERS = (
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize=object-size",  # AddressSanitizer reports more about these
    "-fsanitize-recover=all",
)
_OPTIONS = ("-O0", "-g", "-fno-builtin-malloc", "-fno-builtin-free", *_SANITIZERS)
"""Not optimised: a compiler removes accesses whose values it does not need, undefined or not."""
_STRICT = (
    "-fsanitize=pointer-compare,pointer-subtract",
    *(f"-Werror={one}" for one in ("int-conversion", "incompatible-pointer-types", "implicit-int")),
)
"""Options that refuse implementation-defined conversions and comparing pointers to different objects."""
_SECONDS = 20.0
"""The time limit for a run that is many times slower than the program."""
_CHARACTERS = 1 << 20
_OVERFLOW = re.compile(r"^(.*):(\d+):(\d+): runtime error: (.*)$", re.MULTILINE)
_ERROR = "ERROR: AddressSanitizer"
_ACCESS = re.compile(rf"{_ERROR}: (?:attempting )?([\w-]+).*?(?={_ERROR}|\Z)", re.DOTALL)
_USED = "__attribute__((used)) static"
_DECLARED = (
    f"int lw_unset(int); {_USED} char lw_zeros[32]; {_USED} char lw_data[32] = {{1}};"
    f" {_USED} const char lw_constant[32] = {{1}};\n"
)
"""What precedes the program: AddressSanitizer sees accesses past a variable, and those before the first
variable of a section only if another one precedes it."""
_IN_ORDER = "-fno-toplevel-reorder"
"""Variables are in memory in the order of their declarations; clang needs no option for that."""


def with_undefined(sites: Sites, tools: Toolchain, report: Report) -> Report:
    """Return `report`, or a violation if an otherwise correct program has undefined behaviour."""
    reads = unset_reads(sites.known)
    if report.answer is not Answer.VALID or not (reads or may_be_undefined(sites)):
        return report
    told = reads if _can_have_flags(sites) else []
    try:
        found = _seen(sites, tools, told)
    except GaveUp as failure:
        endless = any(counts_away(node) for node in own_code(sites))
        answer = Answer.GAVE_UP if reads or endless else Answer.VALID
        note = f"undefined behaviour was not looked for: {failure.message}"
        return replace(report, answer=answer, notes=(*report.notes, note, *_doubts(reads)))
    if found is not None:
        notes = (*report.notes, f"undefined: {found}")
        return replace(report, answer=Answer.VIOLATION, violations=report.violations + 1, notes=notes)
    rest = [one for one in reads if one not in told]
    return replace(report, answer=Answer.GAVE_UP, notes=(*report.notes, *_doubts(rest))) if rest else report


def _doubts(reads: Sequence[UnsetRead]) -> tuple[str, ...]:
    """The message about the first read that is not shown to be correct."""
    places = [f"'{one.node.text}' may be read at {one.node.span.place} before it is set" for one in reads[:1]]
    return tuple(f"{place}: give it a value where it is declared" for place in places)


def _can_have_flags(sites: Sites) -> bool:
    """Whether nothing starts a team: its threads have private variables, and would share a flag."""
    return re.search(r"\bomp\b|_Pragma|\\\n", sites.known.source.text) is None


def _seen(sites: Sites, tools: Toolchain, told: Sequence[UnsetRead]) -> str | None:
    """Return the first undefined behaviour of a run; raises GaveUp if the run is inconclusive."""
    marks = tuple(flags(sites.known, told))
    source = sites.known.source
    with workspace() as folder:
        _compile(sites.known, tools, folder, marks)
        ended, seen = _watched(tools, folder)
    for line in ended.lines:
        if line.startswith("unset "):
            read = told[int(line.split()[1])]
            return f"'{read.node.text}' is read at {read.node.span.place}, and nothing has set it"
    found = _first_undefined(sites, source, marks, seen)
    if found is None and (ended.timed_out or ended.crashed is not None):
        what = "took too long" if ended.timed_out else f"crashed ({ended.crashed})"
        raise GaveUp(Code.UNDECIDED, f"the run under sanitizers {what}")
    return found


def _watched(tools: Toolchain, folder: Path, more: str = "") -> tuple[Ended, str]:
    """A run under sanitizers, with their output."""
    log = f"log_path={folder / 'seen'}:{more}"
    options = f"{log}halt_on_error=0:detect_leaks=0:detect_stack_use_after_return=1"
    limited = replace(tools, timeout=min(tools.timeout, _SECONDS))
    ended = run_program(limited, folder / "program", folder, {"ASAN_OPTIONS": options})
    return ended, "".join(_start_of(path) for path in (folder / "errors", *sorted(folder.glob("seen.*"))))


def _start_of(path: Path) -> str:
    """The start of a sanitizer's messages, which may be mixed with the program's output."""
    with open(path, errors="replace") as file:
        return file.read(_CHARACTERS)


def _first_undefined(sites: Sites, source: Source, marks: Sequence[Insertion], seen: str) -> str | None:
    """The first report of the sanitizers in the code of the segment."""
    name = Path(source.path).name
    for found in _OVERFLOW.finditer(seen):
        place = source.at(_original_offset(source, marks, int(found[2]), int(found[3])))
        if Path(found[1]).name == name and is_own_place(sites, place):
            return f"{found[4]} ({source.path}:{place.line}:{place.column})"
    for found in _ACCESS.finditer(seen):
        frame = re.search(rf"{re.escape(name)}:(\d+)", found[0])
        if frame is not None and is_own_line(sites, int(frame[1])):
            return f"{found[1]} ({source.path}:{frame[1]})"
    return None


def _original_offset(source: Source, marks: Sequence[Insertion], line: int, column: int) -> int:
    """Map a place in the source with insertions, which add no lines, to the source without them."""
    start = source.offset(line, 1)
    left, at = column - 1, start
    for mark in sorted((one for one in marks if one.offset >= start), key=lambda one: (one.offset, one.rank)):
        if mark.offset - at >= left:
            break
        left -= mark.offset - at
        at = mark.offset
        if left <= len(mark.text):
            return at
        left -= len(mark.text)
    return at + left


def is_clean(known: ReachedCode, tools: Toolchain) -> bool:
    """Whether a run shows neither undefined behaviour nor a read of an uninitialised value in the program."""
    reads = unset_reads(known)
    with workspace() as folder:
        _compile(known, tools, folder, tuple(flags(known, reads)), _STRICT)
        ended, seen = _watched(tools, folder, "detect_invalid_pointer_pairs=2:")
    is_seen = _OVERFLOW.search(seen) is not None or _ERROR in seen
    has_unset = any(line.startswith("unset ") for line in ended.lines)
    return not (is_seen or has_unset or ended.timed_out or ended.crashed is not None)


def _compile(
    known: ReachedCode,
    tools: Toolchain,
    folder: Path,
    marks: Sequence[Insertion],
    warnings: Sequence[str] = ("-w",),
) -> None:
    """Compile the program with its flags; raises GaveUp with the compiler's first error."""
    source = known.source
    path = Path(source.path)
    text = inserted(known.segment, marks, "", "")
    (folder / "program.c").write_text(f'{_DECLARED}#line 1 "{path.name}"\n{text}', "utf-8", "surrogateescape")
    (folder / "unset.c").write_text(runtime_text("unset.c"))
    parallel = ("-fopenmp",) if tools.openmp else ()
    has_order = tools.compile(["-x", "c", "-fsyntax-only", _IN_ORDER, os.devnull]).returncode == 0
    order = (_IN_ORDER,) if has_order else ()
    objects = [str(folder / "program.o"), str(folder / "unset.o")]
    given = ("-iquote", str(path.resolve().parent), *compile_only(tools.options))
    steps = [
        [*_OPTIONS, *order, *warnings, *parallel, "-c", str(folder / "program.c"), "-o", objects[0], *given],
        ["-O1", "-w", "-c", str(folder / "unset.c"), "-o", objects[1]],
        [*_SANITIZERS, *parallel, *objects, "-o", str(folder / "program"), *tools.options, "-lm"],
    ]
    for step in steps:
        done = tools.compile(step)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
            raise GaveUp(Code.UNDECIDED, lines[0].strip() if lines else done.stderr[:200].strip())


FILLS = (("zero", "255"), ("pattern", "90"))
"""Fill patterns for uninitialised variables, by the compiler, and allocated memory, by the library."""


def with_other_memory(source: Source, tools: Toolchain, built: Built, report: Report) -> Report:
    """Return `report`, or another answer if the program depends on uninitialised memory."""
    for locals_, allocated in FILLS:
        option = f"-ftrivial-auto-var-init={locals_}"
        filled = replace(built, options=(*built.options, option), title="")
        if tools.compile(["-x", "c", "-fsyntax-only", option, os.devnull]).returncode:
            note = f"'{tools.compiler}' has no {option}: reads of unset elements were not looked for"
            return replace(report, notes=(*report.notes, note))
        with workspace() as folder:
            executable = compile_program(tools, filled, folder, source)
            ended = run_program(tools, executable, folder, {"MALLOC_PERTURB_": allocated})
        log = run_log(ended.lines)
        if log.violations or ended.crashed is not None or ended.timed_out:
            note = "undefined: with other values in uninitialised memory, the program does other operations"
            answer = Answer.VIOLATION if log.violations else Answer.GAVE_UP
            return replace(report, answer=answer, violations=log.violations, notes=(*report.notes, note))
    return report
