"""`loopwright check PROGRAM`: whether any rewritten program reorders its affine original [Bao2016]."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.cli.diagnostics import as_json, exit_code, show, verdict_word
from loopwright.cli.options import seconds
from loopwright.cli.outcome import failures_named, placed, write_out
from loopwright.cli.progress import progress_line
from loopwright.errors import BadInput, Code, LoopwrightError
from loopwright.progress import Progress
from loopwright.source import Span

if TYPE_CHECKING:
    from loopwright.check.run.report import Report
    from loopwright.check.verify import Options

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

STATUS = (
    "exit status: 0 valid; 1 a violation was found; 2 bad input; 3 gave up; "
    "4 the checked program crashed or did not end, or internal error"
)


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "check",
        help="run a rewritten program and check every operation against its original",
        description="Instrument PROGRAM, run it, and tell whether it runs every operation of its affine "
        "original once and keeps all dependences, at one problem size. The original stands in a comment "
        "'/*@ polycheck start spec ... */ ... /*@ polycheck end */' of PROGRAM or in a file of its own.",
        epilog=STATUS,
    )
    parser.set_defaults(run=check)
    add = parser.add_argument
    add("file", metavar="PROGRAM", help="the C file to check")
    origin = parser.add_mutually_exclusive_group()
    origin.add_argument("--spec", metavar="ORIGINAL", help="the C file with the original, a region")
    origin.add_argument(
        "--self", metavar="SCRIPT", dest="script", help="check what this script makes of PROGRAM's region"
    )
    add("-D", action="append", default=[], metavar="NAME=N", dest="sizes", help="a problem size")
    add("--algorithm", choices=("auto", "a", "b", "codes"), default="auto", help="how to check")
    add("--only-checks", action="store_true", help="run the checks in place of the operations: faster")
    add("--one-by-one", action="store_true", help="check every operation by itself, no nest as a whole")
    add("--race", action="store_true", help="also run under ThreadSanitizer, to find data races")
    add("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="for each run (default 60)")
    add("--pure", action="append", default=[], metavar="NAME", help="this function has no side effects")
    add("--cc", "--compiler", default="gcc", metavar="COMPILER", help="the C compiler")
    add("--cc-option", action="append", default=[], metavar="OPTION", help="an option for the compiler")
    add("--keep", metavar="FOLDER", help="leave the instrumented programs there")
    add("--json", action="store_true", help="the report for machines")
    add("--args", default="", metavar="TEXT", help="the arguments the program runs with")


def check(arguments: argparse.Namespace) -> int:
    """Do what the command line says; the exit status."""
    file = arguments.file
    try:
        report = failures_named(lambda: _report(arguments))
        failures_named(lambda: _deliver(arguments, report))
    except LoopwrightError as error:
        error = placed(error, file)
        if arguments.json:
            failure = {"file": file, "verdict": verdict_word(error), "diagnostics": [as_json(error, file)]}
            write_out(json.dumps(failure, indent=2) + "\n")
        show(error, sys.stderr, file)
        return exit_code(error)
    return report.exit_code


def _report(arguments: argparse.Namespace) -> Report:
    from loopwright.check.verify import check_file

    options = _options(arguments)
    with progress_line(sys.stderr) as progress:
        if arguments.script is None:
            progress(f"checking {arguments.file}")
            return check_file(arguments.file, arguments.spec, options)
        return _transformed(arguments, options, progress)


def _transformed(arguments: argparse.Namespace, options: Options, progress: Progress) -> Report:
    """The report on what a script makes of the file."""
    from loopwright.check.verify import check_text
    from loopwright.read.text import load
    from loopwright.rewrite.pipeline import transformed
    from loopwright.rewrite.request import Request

    script = load(arguments.script).text
    request = Request(arguments.file, script, arguments.script, tuple(arguments.pure))
    outcome = transformed(request, progress)
    progress(f"checking {arguments.file}")
    return check_text(outcome.source.text, arguments.file, options, name=arguments.file)


def _options(arguments: argparse.Namespace) -> Options:
    from loopwright.check.run.execute import Toolchain
    from loopwright.check.verify import Options, definitions

    try:
        sizes = definitions(arguments.sizes)
    except ValueError as wrong:
        raise BadInput(
            Code.OPTION,
            f"-D {wrong} is not a problem size",
            span=Span.start_of(arguments.file),
            hint="write -D N=100",
        ) from None
    tools = Toolchain(
        arguments.cc,
        tuple(arguments.cc_option),
        tuple(shlex.split(arguments.args)),
        arguments.timeout,
        keep=None if arguments.keep is None else Path(arguments.keep),
    )
    pure = tuple(arguments.pure)
    wishes = (arguments.race, arguments.only_checks, arguments.one_by_one)
    return Options(sizes, arguments.algorithm, tools, pure, *wishes)


def _deliver(arguments: argparse.Namespace, report: Report) -> None:
    from loopwright.check.run.report import as_data, as_text

    text = json.dumps(as_data(report), indent=2) + "\n" if arguments.json else as_text(report)
    write_out(text)
