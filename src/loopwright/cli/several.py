"""`loopwright prove` of several files, each by itself, and the worst status of all.

prove --git REV FILE...      each file beside what it was
prove --directives FILE...   the OpenMP directives of each file
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from loopwright.cli.frame import Invocation, Printed, as_lines, named
from loopwright.cli.options import reading_options, separate_proof
from loopwright.errors import BadInput, Code, Diagnostic, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.source import STANDARD, Span, plain_data

if TYPE_CHECKING:
    from loopwright.progress import Progress
    from loopwright.prove.equivalence.answer import OnlyFor
    from loopwright.rewrite.request import Request
    from loopwright.run.revisions import Revision

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
        render=lambda found: _printed(arguments, data, found),
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
            _one(arguments, file, partial(_of_directives, arguments, file), progress)
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
        if isinstance(error, BadInput):
            error.at(Span.start_of(file))
        return FileVerdict(file, error.code.verdict, diagnostic=error.diagnostic)


def _of_directives(arguments: argparse.Namespace, file: str, progress: Progress) -> FileVerdict:
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


def _printed(arguments: argparse.Namespace, data: dict[str, Any], found: Sequence[FileVerdict]) -> Printed:
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
    beside = f" beside {revision}" if revision else ""
    return f"{len(found)} file{'' if len(found) == 1 else 's'}{beside}: {summary}\n"
