"""Checks that a function computes the same as its original, with any operations and any storage.

Both programs are compiled with numbers replaced by codes of terms (`runtime/terms.h`), and run: on entry, the
variables of the file get terms of their own, and on exit they must have the same terms as in the original.
The control flow of the run holds for all data, since branches on the value of a number are detected, and the
source shows that the program inspects numbers in no other way.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loopwright.c.regions import without_hint
from loopwright.c.selection.choice import Choice
from loopwright.c.syntax import Node, field
from loopwright.c.tokens import names_in
from loopwright.check.original.specification import specification
from loopwright.check.program.directives import unkept_promise
from loopwright.check.program.doubts import unseen_in
from loopwright.check.program.reachable import ReachedCode, reached
from loopwright.check.program.segment import Segment
from loopwright.check.run.execute import Ended, Toolchain, compile_only, run_program, workspace
from loopwright.check.run.findings import ErrorClass
from loopwright.check.run.report import Answer, Report
from loopwright.check.run.undefined import is_clean
from loopwright.check.runtime import TERMS, runtime_text
from loopwright.check.values.followed import is_followed, parameters
from loopwright.check.values.functions import FunctionPair, paired
from loopwright.check.values.segments import MarkedText, apart, around_region, marked_segment
from loopwright.errors import BadInput, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.model.parameters import Parameter
from loopwright.model.program import Program
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import load_unmarked, read_source
from loopwright.source import Source, Span

_COMPILER = "g++"
_OPTIONS = (
    *("-std=gnu++17", "-O1", "-w", "-fpermissive", "-fno-operator-names"),
    "-ftrivial-auto-var-init=pattern",
)
_SEEDS = ("1", "7919")
_USUAL = re.compile(r"-([DUIOWglL]|std=(c99|c1[178]|gnu))")
"""Options that do not change the results of a program, or do so in C++ too."""
_SECONDS = 20.0
"""The time limit for each run."""
_COPIES = re.compile(r"\bmem(set|cpy|move)\s*\(")


def may_be_valid(report: Report, reading: ReadOptions) -> bool:
    """Whether a program whose report is not "valid" may still compute the same.

    It may, if it has operations that the original lacks, by their text or by the cells that they read
    (`b + a` reads those of `a + b` in another order), or if more than the segment was selected.
    """
    if report.answer is not Answer.VIOLATION:
        return report.answer is Answer.GAVE_UP
    other = any(not site.candidates for site in report.sites)
    other = other or any(one.kind is ErrorClass.WRONG_READ for one in report.findings)
    return other or bool(reading.choice.functions) or _COPIES.search(report.source.text) is not None


def compared_by_terms(
    source: Source, spec: str | Path, reading: ReadOptions, tools: Toolchain
) -> Report | None:
    """`same_terms` with the original of a file, in functions or in segments of them."""
    try:
        originals = read_source(load_unmarked(spec), reading)
    except BadInput:  # the first error has the reason
        return None
    if len(originals) != 1:
        return None
    (original,) = originals
    found = same_terms(original, source, tools, reading.pure)
    new = None if found is not None or reading.choice.functions else marked_segment(source)
    if new is None or original.source.chosen:
        return found
    return _in_segments(MarkedText(original.source, *around_region(original.region)), new, tools, reading)


def compared_in_one(source: Source, reading: ReadOptions, tools: Toolchain) -> Report | None:
    """`same_terms` of a segment and the original in the comment before it."""
    new = marked_segment(source)
    if new is None or new.original is None:
        return None
    return _in_segments(replace(new, inner=new.original), new, tools, reading)


def _in_segments(old: MarkedText, new: MarkedText, tools: Toolchain, reading: ReadOptions) -> Report | None:
    """`same_terms` of segments outlined into functions of their own."""
    try:
        before = apart(old.source, old.outer, old.inner, is_region=True)
        after = apart(new.source, new.outer, new.inner)
        if before is None or after is None:
            return None
        originals = read_source(before, replace(reading, choice=Choice()))
    except BadInput:
        return None
    return same_terms(originals[0], after, tools, reading.pure) if len(originals) == 1 else None


def same_terms(original: Program, new: Source, tools: Toolchain, pure: Sequence[str]) -> Report | None:
    """Return the report that the function computes the same as the original; None if that is not shown."""
    if shutil.which(_COMPILER) is None or tools.openmp or not all(map(_USUAL.match, tools.options)):
        return None
    plain = [Source(one.path, without_hint(one.text)) for one in (original.source, new)]
    if any(unkept_promise(one) is not None for one in plain):
        return None
    pair = paired(original.region, new)
    if pair is None or not is_followed(pair) or {"errno", "math_errhandling"} & {*names_in(new.text)}:
        return None
    try:
        known = _known(original, pair.new.function, pure)
        first = _run(pair.old.function, pair.variables, tools, original.parameters, _data(original, pair))
        second = _run(pair.new.function, pair.variables, tools, forgotten=(pair.extra, pair.lasting))
        if first is None or second != replace(first, sizes=()):
            return None
        if unseen_in(known) is not None or not is_clean(known, tools):
            return None
        spec = specification(original, dict(first.sizes))
    except (BadInput, GaveUp):
        return None
    because = "the program has other operations than the original, and computes the same values by them"
    notes = ("'restrict' is taken on trust",) if "restrict" in names_in(pair.new.text) else ()
    entries = len(first.states) // (2 * len(_SEEDS))
    if entries > 1:
        notes = (*notes, f"the function was entered {entries} times")
    return Report(Answer.VALID, spec, (), new, "terms", because, None, notes=notes, by_values=True)


def _data(original: Program, pair: FunctionPair) -> list[str]:
    """The variables and parameters that the original function names, except sizes and iterators: the
    comparison holds for all their values.
    """
    body = field(pair.old.function, "body")
    outside = body.text.replace(original.region.text, "", 1)
    iterators = {name for one in original.statements for name in one.iterators} - {*names_in(outside)}
    sizes = {name for one in original.parameters for name in names_in(one.text)}
    visible = {*pair.variables, *parameters(pair.old.function)}
    return sorted((pair.old.names & visible) - sizes - iterators)


def _known(original: Program, function: Node, pure: Sequence[str]) -> ReachedCode:
    """Return the code of a function; raises BadInput if it cannot be read."""
    body = field(function, "body")
    place = Span(function.source, body.start + 1, body.end - 1)
    ranks = {array.name: array.rank for array in original.arrays}
    return reached(Segment(function.source, place, ()), ranks, pure)


@dataclass(frozen=True)
class _Computed:
    """The codes of all variables at each entry and exit of the function, in each run."""

    states: tuple[str, ...]
    sizes: tuple[tuple[str, int], ...] = ()


def _run(
    function: Node,
    variables: Sequence[str],
    tools: Toolchain,
    sizes: Sequence[Parameter] = (),
    data: Sequence[str] = (),
    forgotten: tuple[Sequence[str], Sequence[Span]] = ((), ()),
) -> _Computed | None:
    """Return the results of a program; None if data decide branches or are integers, or a number is unset.

    Variables, and those declared with these `static` keywords, are `forgotten` at each call.
    """
    states: list[str] = []
    found: dict[str, int] = {}
    with workspace() as folder:
        checks = [f' lw_size("{one.name}", (long long)({one.text}));' for one in sizes]
        checks += [f" lw_data({name});" for name in data]
        checks += [f" lw_forget({name});" for name in forgotten[0]]
        text = _instrumented(function, variables, checks, forgotten[1])
        if not _compiled(text, function.source.path, tools, folder):
            return None
        limited = replace(tools, timeout=min(tools.timeout, _SECONDS))
        for seed in _SEEDS:
            given = {"LOOPWRIGHT_SEED": seed, "MALLOC_PERTURB_": "1"}
            ended = run_program(limited, folder / "program", folder, given)
            if not _has_left(ended):
                return None
            for line in ended.lines:
                if line.startswith("size "):
                    name, _, value = line.removeprefix("size ").partition("=")
                    if found.setdefault(name, int(value)) != int(value):
                        return None
                else:
                    states.append(line)
    return _Computed(tuple(states), tuple(found.items()))


def _has_left(ended: Ended) -> bool:
    """Whether the function was entered and always left, and no branch depended on data or unset numbers."""
    if ended.timed_out or ended.crashed is not None:
        return False
    entered = [line for line in ended.lines if line.startswith("enter ")]
    left = [line for line in ended.lines if line.startswith("leave ")]
    return 0 < len(entered) == len(left) and all(line.endswith(" 0 0") for line in left)


def _instrumented(
    function: Node, variables: Sequence[str], checks: Sequence[str], lasting: Sequence[Span]
) -> str:
    """The source instrumented to print the terms of variables; `lasting` variables are local to one call."""
    source = function.source
    start = field(function, "body").start + 1
    visited = (f' lw_visit(false, "{name}", {name});' for name in parameters(function))
    inserted = "".join(("lw_scope lw_here; if (lw_inside == 1) {", *visited, *checks, " }"))
    edits = sorted([(start, start, inserted), *((one.start, one.end, "") for one in lasting)])
    visits = "".join(f'lw_visit(ends, "{name}", {name});' for name in variables)
    return source.edited(edits).text + f"\nstatic void lw_visit_all(bool ends) {{ {visits} }}\n"


def _compiled(text: str, path: str, tools: Toolchain, folder: Path) -> bool:
    (folder / TERMS).write_text(runtime_text(TERMS))
    (folder / "program.cc").write_text(text, "utf-8", "surrogateescape")
    around = ("-iquote", str(Path(path).resolve().parent))
    header = ("-include", str(folder / TERMS))
    given = [one for one in compile_only(tools.options) if one.startswith(("-D", "-U", "-I"))]
    files = [str(folder / "program.cc"), "-o", str(folder / "program")]
    done = replace(tools, compiler=_COMPILER).compile([*_OPTIONS, *header, *around, *given, *files, "-lm"])
    return done.returncode == 0
