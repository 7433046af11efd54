"""`loopwright prove`: whether two files compute the same, for every size, or whether directives are legal.

prove OLD NEW            two files of C, of OpenScop or of MLIR
prove FILE.c             the file's own OpenMP directives about loops
prove --git REV FILE...      each file compared with what it was
prove --directives FILE...   the OpenMP directives of each file, by itself; the status is the worst of all
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from loopwright.cli.frame import Invocation, Printed, as_lines, named
from loopwright.cli.options import (
    LARGEST,
    LIMITS,
    Verbs,
    add_prover_options,
    add_reading_options,
    add_reassociation,
    add_sarif,
    add_time_limits,
    coq_library,
    proof_lines,
    reading_options,
    refuse_twice,
    separate_proof,
)
from loopwright.errors import BadInput, Code, Diagnostic, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.source import STANDARD, Span, called, plain_data

if TYPE_CHECKING:
    from loopwright.progress import Progress
    from loopwright.prove.equivalence.answer import OnlyFor
    from loopwright.rewrite.directives import DirectivesProved
    from loopwright.rewrite.opinions import Confirmed
    from loopwright.rewrite.request import Request
    from loopwright.run.revisions import Revision


FOR_THE_CHECKER = 1500
"""The longest region, in characters, that is sent to the verified checker."""


EXAMPLE = ("loopwright prove old.c new.c", "prove two files equivalent")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "prove",
        help="prove two files of C, OpenScop or MLIR equivalent, or OpenMP directives legal",
        description="Prove that the regions of NEW compute the same as those of OLD, for every problem size. "
        "NEW may be tiled, unrolled, split or shifted, with other iterators, temporaries and subexpressions. "
        "If the answer is no, print problem sizes, an array cell and its two values. Two OpenScop files are "
        "one program in two orders, before and after scheduling by another tool. For two MLIR files, compare "
        "the functions of the affine dialect before and after a pass. For one C file, prove its OpenMP loop "
        "directives legal: tile, stripe, interchange, reverse, unroll, fuse, split, and parallel for above "
        "them.",
    )
    parser.set_defaults(invocation=prove)
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="OLD and NEW: C, OpenScop (.scop) or MLIR (.mlir); or one C file",
    )
    text = "compare each FILE with its version at this revision"
    parser.add_argument("--git", metavar="REV", help=text)
    text = "prove the OpenMP directives of each FILE"
    parser.add_argument("--directives", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_sarif(parser.add_argument)
    proof = parser.add_argument_group("the proof").add_argument
    add_reassociation(proof)
    text = "treat fused multiply-adds of vectors as separate operations, which round differently"
    proof("--allow-contraction", action="store_true", help=text)
    add_prover_options(proof, "--proof")
    add_time_limits(parser.add_argument_group(LIMITS).add_argument, 30.0)
    add_reading_options(parser)


def prove(arguments: argparse.Namespace) -> Invocation[Any]:
    if arguments.git is not None or arguments.directives:
        return prove_several(arguments)
    if len(arguments.files) == 1:
        return _of_directives(arguments)
    old, new = arguments.files[0], arguments.files[-1]
    data = {"old": old, "new": new, "verdict": "proved", "diagnostics": []}
    return Invocation(
        work=lambda progress: _agreement(arguments, progress),
        render=lambda found: _printed(arguments, data, found),
        file=new,
        failed=(lambda: data) if arguments.json else None,
        seconds=arguments.timeout,
        wall=arguments.wall_timeout,
        prepare=lambda progress: _prepare(arguments.prover, progress),
        sarif=arguments.sarif,
    )


def _prepare(prover: str, progress: Progress) -> None:
    """Load what both the process that works and the one that prints need, once."""
    import loopwright.prove.comparison.files
    import loopwright.rewrite.opinions  # noqa: F401

    compile_library = coq_library(prover)
    if compile_library is not None:
        compile_library(progress)


def _agreement(arguments: argparse.Namespace, progress: Progress) -> Confirmed:
    from loopwright.prove.comparison.files import agreement
    from loopwright.prove.comparison.texts import ComparisonOptions
    from loopwright.rewrite.opinions import confirmed

    if len(arguments.files) > 2:
        message = f"{len(arguments.files)} files were given: two are compared, or one by its directives"
        raise BadInput(Code.OPTION, message, span=Span.start_of(arguments.files[2]))
    old, new = arguments.files
    refuse_twice(old, new)
    request = separate_proof(arguments)
    options = ComparisonOptions(
        reading_options(arguments),
        allow_reassociation=arguments.allow_reassociation,
        for_provers=_longest(request.prover),
        allow_contraction=arguments.allow_contraction,
    )
    found = agreement(old, new, options, progress)
    return confirmed(found, old, request, progress)


def _longest(prover: str) -> int:
    """The longest region, in characters, that is compared in the way that other provers can confirm."""
    from loopwright.prove.certificates.checker import checker

    if prover != "isl":
        return LARGEST
    return 0 if checker() is None else FOR_THE_CHECKER


def _printed(arguments: argparse.Namespace, data: dict[str, Any], confirmed: Confirmed) -> Printed:
    from loopwright.report.results import proof_data, prover_data

    found = confirmed.agreement
    statuses = dict.fromkeys(line for line in (one.line() for one in confirmed.statuses) if line is not None)
    trusted = f"  {found.only_for}\n" if found.only_for else ""
    trusted += "".join(f"  taken on trust: {text}\n" for text in found.assumptions)
    trusted += f"  contract: {found.contract}\n" if found.contract else ""
    trusted += proof_lines((*confirmed.remarks, *statuses))
    if arguments.json:
        answer = {
            "obligations": found.obligations,
            "ways": list(found.ways),
            "assumptions": list(found.assumptions),
            "contract": found.contract,
            "only_for": None if found.only_for is None else plain_data(found.only_for),
            "provers": prover_data(arguments.prover, confirmed.remarks),
            "proof": proof_data(confirmed.statuses),
        }
        return Printed(as_lines(data | answer), trusted)
    how = " and ".join(dict.fromkeys(found.ways))
    same = f"{called(data['new'])} is equivalent to {called(data['old'])} ({found.obligations} obligations)"
    return Printed(f"proved {how}: {same}\n", trusted)


def _of_directives(arguments: argparse.Namespace) -> Invocation[DirectivesProved]:
    data: dict[str, Any] = {"file": arguments.files[0], "verdict": "proved", "diagnostics": []}
    return Invocation(
        work=lambda progress: _directives(arguments, progress),
        render=lambda found: _printed_directives(arguments, data, found),
        file=arguments.files[0],
        failed=(lambda: data) if arguments.json else None,
        seconds=arguments.timeout,
        wall=arguments.wall_timeout,
        sarif=arguments.sarif,
    )


def _directives(arguments: argparse.Namespace, progress: Progress) -> DirectivesProved:
    from loopwright.rewrite.directives import prove_directives

    if arguments.prover == "coq":
        hint = "'transform --apply-directives --prover coq' proves the loops they ask for"
        raise BadInput(Code.OPTION, "directives alone have no proof for coq", hint=hint)
    return prove_directives(directives_request(arguments, arguments.files[0]), progress)


def _printed_directives(
    arguments: argparse.Namespace, data: dict[str, Any], found: DirectivesProved
) -> Printed:
    lines = "".join(f"  taken on trust: {text}\n" for text in found.assumptions)
    if arguments.json:
        answer = {
            "directives": found.directives,
            "obligations": found.obligations,
            "assumptions": list(found.assumptions),
        }
        return Printed(as_lines(data | answer), lines)
    count = f"{found.directives} directive{'' if found.directives == 1 else 's'}"
    kept = f"{called(data['file'])} computes the same with its {count} as without"
    return Printed(f"proved: {kept} ({found.obligations} obligations)\n", lines)


WORST_FIRST = (1, 4, 2, 3, 0)
"""Exit statuses: a wrong file is worse than one that could not be read or decided."""


@dataclass(frozen=True)
class FileVerdict:
    """`verdict` is proved, unchanged, new, no loop changed, no directive, or what the diagnostic says."""

    file: str
    verdict: str
    obligations: int = 0
    ways: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    diagnostic: Diagnostic | None = None
    only_for: OnlyFor | None = None

    @property
    def status(self) -> int:
        return 0 if self.diagnostic is None else self.diagnostic.code.exit_code

    def line(self) -> str:
        detail = ""
        if self.verdict == "proved":
            ways = " and ".join(dict.fromkeys(self.ways))
            detail = f" {ways} ({self.obligations} obligations)"
            detail += f"; {self.only_for}" if self.only_for else ""
        if self.diagnostic is not None:
            detail = f": {self.diagnostic.summary}"
        return f"{self.file}: {self.verdict}{detail}\n"

    def data(self) -> dict[str, Any]:
        from loopwright.report.diagnostics import as_json

        found: dict[str, Any] = {"file": self.file, "verdict": self.verdict}
        if self.verdict == "proved":
            found["obligations"] = self.obligations
            found["ways"] = list(self.ways)
            found["assumptions"] = list(self.assumptions)
            found |= {} if self.only_for is None else {"only_for": plain_data(self.only_for)}
        diagnostics = [] if self.diagnostic is None else [as_json(self.diagnostic, self.file)]
        return found | {"diagnostics": diagnostics}


def prove_several(arguments: argparse.Namespace) -> Invocation[tuple[FileVerdict, ...]]:
    data: dict[str, Any] = {"revision": arguments.git, "verdict": "", "files": [], "diagnostics": []}
    return Invocation(
        work=lambda progress: _answers(arguments, progress),
        render=lambda found: _each_told(arguments, data, found),
        file=arguments.files[0],
        failed=(lambda: data) if arguments.json else None,
        sarif=arguments.sarif,
        revision=arguments.git or "",
    )


def _answers(arguments: argparse.Namespace, progress: Progress) -> tuple[FileVerdict, ...]:
    from loopwright.run.revisions import revision

    for wrong, message in (
        (STANDARD in arguments.files, "standard input is not one of several files"),
        (arguments.prover != "isl", "several files and --prover exclude each other"),
        (bool(arguments.git and arguments.build), "--git and -p exclude each other: give -I and -D"),
        (bool(arguments.git and arguments.directives), "--git and --directives exclude each other"),
    ):
        if wrong:
            raise BadInput(Code.OPTION, message, span=Span.start_of(arguments.files[0]))
    if arguments.directives:
        return tuple(
            _one(arguments, file, partial(_of_each_directive, arguments, file), progress)
            for file in arguments.files
        )
    with revision(arguments.git, arguments.files[0]) as old:
        found = [
            _one(arguments, file, partial(_beside, arguments, file, old), progress)
            for file in arguments.files
        ]
        return tuple(replace(one, diagnostic=old.renamed(one.diagnostic)) for one in found)


def _one(
    arguments: argparse.Namespace, file: str, answer: Callable[[Progress], FileVerdict], progress: Progress
) -> FileVerdict:
    """One file under its own time limit; what is wrong with it does not stop the others."""
    from loopwright.run.supervise import within

    progress(f"reading {file}")
    try:
        return within(
            arguments.timeout,
            lambda inner: named(lambda: answer(inner)),
            progress,
            hint="allow more time with --timeout",
            wall=arguments.wall_timeout,
        )
    except LoopwrightError as error:
        if error.code is Code.INTERRUPTED:
            raise
        if isinstance(error, BadInput):
            error.at(Span.start_of(file))
        return FileVerdict(file, error.code.verdict, diagnostic=error.diagnostic)


def _of_each_directive(arguments: argparse.Namespace, file: str, progress: Progress) -> FileVerdict:
    from loopwright.c.openmp import loop_directives
    from loopwright.read.c.reader import load_c
    from loopwright.rewrite.directives import prove_directives

    if not loop_directives(load_c(file)):
        return FileVerdict(file, "no directive")
    found = prove_directives(directives_request(arguments, file), progress)
    return FileVerdict(file, "proved", found.obligations, ("by its dependences",), found.assumptions)


def directives_request(arguments: argparse.Namespace, file: str) -> Request:
    """What is asked about the directives of a file."""
    from loopwright.rewrite.request import Request

    return Request(
        file=file,
        reading=reading_options(arguments),
        allow_reassociation=arguments.allow_reassociation,
        prover=separate_proof(arguments),
    )


def _beside(arguments: argparse.Namespace, file: str, old: Revision, progress: Progress) -> FileVerdict:
    from loopwright.c.typed.preprocess import different_header
    from loopwright.prove.comparison.files import agreement
    from loopwright.prove.comparison.regions import to_compare
    from loopwright.prove.comparison.texts import ComparisonOptions
    from loopwright.read.c.reader import load_c

    before = old.path(file)
    now = load_c(file)
    if before is None:
        return FileVerdict(file, "new")
    then = load_c(before)
    reading = reading_options(arguments)
    old_compiled = replace(reading.compiled, arguments=old.options(reading.compiled.arguments))
    header = different_header(then, now, old_compiled, reading.compiled)
    if then.text == now.text and header is None:
        return FileVerdict(file, "unchanged")
    if reading.choice.is_empty and file.endswith(".c"):
        wanted = to_compare(then, now, headers=header is not None)
        if wanted is None:
            return FileVerdict(file, "no loop changed")
        reading = replace(reading, choice=wanted)
    options = ComparisonOptions(
        reading, old_compiled, arguments.allow_reassociation, allow_contraction=arguments.allow_contraction
    )
    found = agreement(str(before), file, options, progress)
    answer = FileVerdict(file, "proved", found.obligations, found.ways, found.assumptions)
    return replace(answer, only_for=found.only_for)


def _each_told(arguments: argparse.Namespace, data: dict[str, Any], found: Sequence[FileVerdict]) -> Printed:
    from loopwright.report.diagnostics import as_text

    worst = min(found, key=lambda one: WORST_FIRST.index(one.status))
    diagnostics = tuple(one.diagnostic for one in found if one.diagnostic is not None)
    err = "".join(as_text(one, more=True) for one in diagnostics)
    trusted = dict.fromkeys(text for one in found for text in one.assumptions)
    err += "".join(f"  taken on trust: {text}\n" for text in trusted)
    if arguments.json:
        verdict = worst.verdict if worst.status else "proved"
        out = as_lines(data | {"verdict": verdict, "files": [one.data() for one in found]})
    else:
        out = "".join(one.line() for one in found) + _summary(found, arguments.git)
    return Printed(out, err, status=worst.status, diagnostics=diagnostics)


def _summary(found: Sequence[FileVerdict], revision: str | None) -> str:
    """How many files of each verdict there are."""
    counts: dict[str, int] = {}
    for one in found:
        counts[one.verdict] = counts.get(one.verdict, 0) + 1
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    compared = f" compared with {revision}" if revision else ""
    return f"{len(found)} file{'' if len(found) == 1 else 's'}{compared}: {summary}\n"
