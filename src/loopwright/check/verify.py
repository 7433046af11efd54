"""Runs the whole check: read, analyse the original, instrument the program, run it, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from loopwright.c.file import c_file
from loopwright.c.macros import refuse_unknown_sizes
from loopwright.c.regions import refusal_of
from loopwright.c.selection.chosen import with_places
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.refusals import refused_directive
from loopwright.check.algorithms.codes import CodeScheme, codes
from loopwright.check.algorithms.fast import fast_call, fast_check
from loopwright.check.algorithms.fronts import Front, fronts, insertions
from loopwright.check.algorithms.precise import HEADER, precise_tables
from loopwright.check.algorithms.scheme import Scheme
from loopwright.check.algorithms.versions import can_count, versions
from loopwright.check.original.specification import specification
from loopwright.check.original.writers import Writers, writers
from loopwright.check.program.addresses import addresses, shared_memory
from loopwright.check.program.control import doubt
from loopwright.check.program.directives import uses_openmp
from loopwright.check.program.doubts import unseen
from loopwright.check.program.guards import guards
from loopwright.check.program.instrument import (
    Insertion,
    around_sites,
    precise_call,
    size_texts,
    with_insertions,
)
from loopwright.check.program.meaning import with_same_meaning
from loopwright.check.program.outside import other_effect
from loopwright.check.program.reachable import reached
from loopwright.check.program.segment import Input, in_same_function, parse_input
from loopwright.check.program.sites import depends_on_values, find_sites
from loopwright.check.program.unset import has_own_memory
from loopwright.check.run.execute import (
    Built,
    Ended,
    Toolchain,
    compile_only,
    compile_program,
    run_program,
    with_races,
    workspace,
)
from loopwright.check.run.findings import run_log
from loopwright.check.run.judged import Job, has_other_sizes, judged
from loopwright.check.run.report import Answer, Report
from loopwright.check.run.sizes import find_sizes, not_reached
from loopwright.check.run.undefined import with_other_memory, with_undefined
from loopwright.check.runtime import runtime_text
from loopwright.check.values.differing import with_difference, with_own_storage
from loopwright.check.values.terms import compared_by_terms, compared_in_one, may_be_valid
from loopwright.errors import BadInput, Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.comparison.outside import rest_difference, uncompared
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.read.c.paired_wordings import in_lanes
from loopwright.read.c.reader import load_unmarked
from loopwright.source import Source


@dataclass(frozen=True)
class CheckOptions:
    """The options of the user: sizes, the algorithm ("auto", "a", "b" or "codes"), the tools."""

    defined: Mapping[str, int] = field(default_factory=dict)
    algorithm: str = "auto"
    tools: Toolchain = field(default_factory=Toolchain)
    race: bool = False
    """Search for data races too."""
    only_checks: bool = False
    """Run the checks instead of the operations, for programs whose control flow does not depend on data."""
    one_by_one: bool = False
    """Check every operation individually, even if a nest can be checked as a whole."""
    reading: ReadOptions = AS_MARKED


def check_file(
    program: str | Path, spec: str | Path | None = None, options: CheckOptions | None = None
) -> Report:
    """Check whether `program` reorders its original, given in it or as the file `spec`."""
    return check_source(load_unmarked(program), spec, options)


def check_text(
    text: str, spec: str | Path | None = None, options: CheckOptions | None = None, name: str = "p.c"
) -> Report:
    """`check_file` for a source string."""
    return check_source(Source(name, text), spec, options)


def check_source(
    source: Source, spec: str | Path | None = None, options: CheckOptions | None = None
) -> Report:
    """`check_file` for a `Source`; vectors are checked lane by lane."""
    options = options or CheckOptions()
    lanes = in_lanes(source, options.reading.compiled)
    if lanes.source == source or not lanes.has_vectors or lanes.is_fused or lanes.needs_aligned:
        return _checked(source, spec, options)
    report = _checked(lanes.source, spec, options)
    return replace(report, notes=(*report.notes, LANE_BY_LANE))


LANE_BY_LANE = "vectors are checked lane by lane, by the functions of the compiler's own header"


def _checked(source: Source, spec: str | Path | None, options: CheckOptions) -> Report:
    originals = [] if spec is None else [load_unmarked(spec)]
    refuse_unknown_sizes(source, options.defined, *originals)
    for original in originals:
        options = replace(options, reading=in_same_function(source, original, options.reading))
    try:
        report = check(parse_input(source, spec, options.reading), options)
    except (BadInput, GaveUp):
        found = _by_terms(source, spec, options)
        if found is None:
            raise
        return found
    found = _by_terms(source, spec, options) if may_be_valid(report, options.reading) else None
    return report if found is None else found


def _by_terms(source: Source, spec: str | Path | None, options: CheckOptions) -> Report | None:
    """Return the report of a comparison of the terms; None if it is inconclusive or not wanted."""
    if options.algorithm != "auto" or options.only_checks:
        return None
    tools = _tools(source, options)
    if spec is None:
        return compared_in_one(source, options.reading, tools)
    return compared_by_terms(source, spec, options.reading, tools)


def prepared(given: Input, options: CheckOptions) -> Job:
    """Prepare everything needed before instrumentation."""
    tools = _tools(given.segment.source, options)
    ranks = {array.name: array.rank for array in given.original.arrays}
    known = reached(given.segment, ranks, options.reading.pure)
    sizes = find_sizes(given, known, options.defined, tools)
    spec = specification(given.original, sizes.values)
    arguments = (*tools.fast, *(("-fopenmp",) if tools.openmp else ()), *compile_only(tools.options))
    sites = with_same_meaning(spec, find_sites(spec, known), CompilerOptions(arguments, tools.compiler))
    return Job(given, spec, sites, sizes, tools)


def _tools(source: Source, options: CheckOptions) -> Toolchain:
    """The tools, with the given sizes."""
    definitions = tuple(f"-D{name}={number}" for name, number in options.defined.items())
    openmp = uses_openmp(source) or options.tools.openmp
    return replace(options.tools, options=(*definitions, *options.tools.options), openmp=openmp)


def check(given: Input, options: CheckOptions) -> Report:
    """Return the verdict at one problem size."""
    job = prepared(given, options)
    found = writers(job.spec)
    report = _with_rest(given, verdict(job, found, options))
    report = _with_data(job, with_own_storage(job.sites, job.spec, report), options)
    report = with_difference(job.sites, job.spec, job.tools, report)
    report = with_undefined(job.sites, job.tools, report)
    if report.answer is Answer.VALID and has_own_memory(job.sites):
        built = _built(job, found, options)
        report = with_other_memory(job.given.segment.source, job.tools, built, report)
    note = unseen(job.sites) if report.answer is Answer.VALID else None
    if note is not None:
        report = replace(report, answer=Answer.GAVE_UP, notes=(*report.notes, note))
    return with_races(job.given, job.tools, report) if options.race else report


def _built(job: Job, found: Writers, options: CheckOptions) -> Built:
    """The program with the checks that `verdict` chooses."""
    try:
        chosen = None if options.algorithm == "a" else _chosen(job, found, options)
    except GaveUp:
        chosen = None
    return precise_program(job, found) if chosen is None else delayed(job, found, options, chosen.scheme)


def _with_data(job: Job, report: Report, options: CheckOptions) -> Report:
    """Withhold "valid" from a program that may execute other operations for other data or later, or modify
    what the original does not.
    """
    if report.answer is not Answer.VALID:
        return report
    note = doubt(job.sites) or other_effect(job.spec, job.sites.known) or _refused(job, options)
    return report if note is None else replace(report, answer=Answer.GAVE_UP, notes=(*report.notes, note))


def _refused(job: Job, options: CheckOptions) -> str | None:
    """A directive of the segment that has no meaning: other runs may do something else."""
    place = job.given.segment.place
    source = replace(place.source, chosen=())
    if not job.tools.openmp or refusal_of(place, c_file(source).directives) is not None:
        return None  # the branches of an '#if' are not told apart here
    refused = refused_directive(with_places(source, [place]), options.reading.compiled)
    return None if refused is None else f"no compiler need accept an OpenMP directive of it: {refused}"


def _with_rest(given: Input, report: Report) -> Report:
    """Limit the answer for a program that leaves the segment in another way or differs around it: its final
    values are not known to be the original's.
    """
    if report.answer is not Answer.VALID:
        return report
    if report.ending:
        return replace(report, answer=Answer.GAVE_UP)
    if given.marked is None:
        return report
    old, new = given.original.region, given.marked
    reason = uncompared(old, new)
    difference = rest_difference(old, new) if reason is None else None
    answer = Answer.VALID if difference is None else Answer.GAVE_UP
    return replace(report, answer=answer, around=reason or difference or "")


def verdict(job: Job, found: Writers, options: CheckOptions) -> Report:
    """Check whether the program of `job` reorders the original, except for races."""
    if options.algorithm == "a":
        return precise(job, found, "it was requested")
    try:
        chosen = _chosen(job, found, options)
    except GaveUp as failure:
        if options.algorithm != "auto":
            raise
        return precise(job, found, failure.message)
    ended = run_built(job, delayed(job, found, options, chosen.scheme))
    if ended.timed_out and job.tools.is_late:
        return judged(job, ended, chosen.scheme.name, chosen.because)
    quick = _verdict_of_delayed(job, ended, chosen)
    return quick if quick is not None else _second_opinion(job, found, ended)


@dataclass(frozen=True)
class Chosen:
    """The chosen contents of shadows, with the reason."""

    scheme: Scheme
    because: str


def delayed(job: Job, found: Writers, options: CheckOptions, scheme: Scheme | None = None) -> Built:
    """Build the program that only accumulates differences; raises GaveUp if no single number is a shadow."""
    if options.only_checks and depends_on_values(job.spec, job.sites):
        raise GaveUp(
            Code.ALGORITHM, "the program uses values it computes", hint="check it without --only-checks"
        )
    scheme = scheme or _chosen(job, found, options).scheme
    ahead: tuple[Front, ...] = ()
    if not options.one_by_one:
        ahead = fronts(job.sites, scheme, job.sizes.values, only_checks=options.only_checks)
    fast = fast_check(job.spec, found, scheme, job.sites, ahead, parallel=job.tools.openmp)
    where, guarded = addresses(job.spec, job.sites), guards(job.spec, job.sites)
    begin = f"LW_CLEAR(), {where.begin}{guarded.begin}lw_begin({size_texts(job.sizes.texts)});"
    marks = [*_marks(job, ahead, options), *guarded.insertions]
    program = with_insertions(job.given.segment, marks, begin, guarded.end + "LW_FINISH();")
    header = where.header + guarded.header + fast.header
    engine, flags = runtime_text("delayed.c") + guarded.engine, (*job.tools.fast, *guarded.options)
    return Built(program, header, engine, fast.tables, flags, "delayed")


def _marks(job: Job, ahead: Sequence[Front], options: CheckOptions) -> list[Insertion]:
    """Checks before nests, and checks of the operations outside them."""
    covered = {site.number for front in ahead for site in front.sites}
    single = [site for site in job.sites.sites if site.number not in covered]
    marks = around_sites(job.sites, single, fast_call, only_checks=options.only_checks)
    return [*marks, *(mark for one in ahead for mark in insertions(one, only_checks=options.only_checks))]


def _chosen(job: Job, found: Writers, options: CheckOptions) -> Chosen:
    """Choose the scheme: codes apply wherever version numbers do, and their checks are never longer."""
    if options.algorithm == "b":
        return Chosen(versions(job.spec, found), "it was requested")
    try:
        scheme = CodeScheme(job.spec, found, codes(job.spec))
    except GaveUp as failure:
        if options.algorithm == "auto" and can_count():
            return Chosen(versions(job.spec, found), failure.message)
        raise
    size = max(scheme.size.values())
    room = "one byte" if size == 1 else f"{size} bytes"
    fits = f"a number of {room} identifies the last writer of each cell"
    return Chosen(scheme, "it was requested" if options.algorithm == "codes" else f"{fits} at this size")


def _verdict_of_delayed(job: Job, ended: Ended, chosen: Chosen) -> Report | None:
    """ "Valid" if the run shows no difference; otherwise the precise run decides."""
    if ended.crashed is not None or ended.timed_out:
        return None
    log = run_log(ended.lines)
    if log.aliases:
        raise shared_memory(job.spec, job.sites.known, log.aliases)
    if not log.entries:
        raise not_reached(job.given, ended)
    is_clean = not log.violations and log.done == log.entries and not has_other_sizes(job, log)
    return judged(job, ended, chosen.scheme.name, chosen.because) if is_clean else None


def _second_opinion(job: Job, found: Writers, first: Ended) -> Report:
    """Run the precise check; if it finds nothing, the two runs disagree and nothing is decided."""
    difference = run_log(first.lines).violations > 0
    why = "showed a difference" if difference else "did not end as it should"
    report = precise(job, found, f"a first run, with one number per cell, {why}")
    if report.answer is not Answer.VALID:
        return report
    if first.crashed is not None or first.timed_out:
        how = "did not end in time" if first.timed_out else f"crashed ({first.crashed})"
        note = f"a first run, compiled with -O3, {how}; the verdict is that of a second, slower one"
        return replace(report, notes=(*report.notes, note))
    if not difference:
        return report
    note = "a first run showed a violation and a second one did not: does the program always do the same?"
    return replace(report, answer=Answer.GAVE_UP, notes=(*report.notes, note))


def precise(job: Job, found: Writers, because: str) -> Report:
    """Run Algorithm A: check every operation in turn, with the reason if one is wrong."""
    return judged(job, run_built(job, precise_program(job, found)), "algorithm A", because)


def precise_program(job: Job, found: Writers) -> Built:
    """The program that checks every operation in turn."""
    where, guarded = addresses(job.spec, job.sites), guards(job.spec, job.sites)
    begin = f"{where.begin}{guarded.begin}lw_begin({size_texts(job.sizes.texts)});"
    marks = [*around_sites(job.sites, job.sites.sites, precise_call), *guarded.insertions]
    program = with_insertions(job.given.segment, marks, begin, f"{guarded.end}lw_end();")
    tables = precise_tables(job.spec, found, job.sites.sites)
    header = where.header + guarded.header + HEADER
    engine, flags = runtime_text("precise.c") + guarded.engine, (*job.tools.precise, *guarded.options)
    return Built(program, header, engine, tables, flags, "precise")


def run_built(job: Job, built: Built) -> Ended:
    with workspace() as folder:
        source = job.given.segment.source
        return run_program(job.tools, compile_program(job.tools, built, folder, source), folder)
