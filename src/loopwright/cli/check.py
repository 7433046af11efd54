"""`loopwright check PROGRAM`: whether any rewritten program reorders its affine original [Bao2016]."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.c.selection.choice import choice
from loopwright.cli.frame import Invocation, Printed, as_lines, asked
from loopwright.cli.options import (
    Verbs,
    add_choice,
    add_compiler_options,
    add_sarif,
    add_time_limits,
    compiler_options,
    sizes,
)
from loopwright.errors import BadInput, Code
from loopwright.read.c.options import ReadOptions
from loopwright.rewrite.request import Request
from loopwright.source import Span

if TYPE_CHECKING:
    from loopwright.check.run.report import Report
    from loopwright.check.verify import CheckOptions
    from loopwright.progress import Progress

STATUS = (
    "exit status: 0 valid; 1 a violation was found; 2 invalid input; 3 gave up; "
    "4 the checked program crashed or did not terminate, or internal error"
)

LEAST = 10.0
"""Seconds that reading, analysis and the compiler get in any case; `--timeout` then is for each run."""
GRACE = 2.0
"""Seconds after which work is ended that does not end by itself when the time is up."""


EXAMPLE = ("loopwright check new.c --spec old.c -D N=50", "check a rewritten program at run time")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "check",
        help="run a rewritten program and check every operation against the original",
        description="Instrument PROGRAM, run it, and check at one problem size that it executes every "
        "operation of its affine original exactly once and preserves all dependences. The original is either "
        "in a comment of PROGRAM, '/*@ polycheck start spec ... */ ... /*@ polycheck end */', or in a "
        "separate file.",
        epilog=STATUS,
    )
    parser.set_defaults(invocation=check)
    add = parser.add_argument
    add("file", metavar="PROGRAM", help="the C file to check")
    origin = parser.add_mutually_exclusive_group()
    origin.add_argument("--spec", metavar="ORIGINAL", help="the C file that holds the original region")
    origin.add_argument(
        "--self",
        metavar="SCRIPT",
        dest="own_script",
        help="apply this script to PROGRAM's region and check the result",
    )
    add("--json", action="store_true", help="print the report as JSON")
    add_sarif(add)
    add = parser.add_argument_group("the run").add_argument
    add("-D", action="append", default=[], metavar="NAME=N", dest="sizes", help="a problem size")
    add("--args", default="", metavar="TEXT", help="arguments of the program")
    add("--algorithm", choices=("auto", "a", "b", "codes"), default="auto", help="the checking algorithm")
    add(
        "--only-checks", action="store_true", help="run the checks instead of the operations, which is faster"
    )
    add("--one-by-one", action="store_true", help="check every operation separately, never a whole nest")
    add("--race", action="store_true", help="also run under ThreadSanitizer, to find data races")
    add_time_limits(add, 120.0)
    add("--keep", metavar="FOLDER", help="keep the instrumented programs in this folder")
    add("--cc", "--compiler", default="gcc", metavar="COMPILER", help="the C compiler")
    add("--cc-option", action="append", default=[], metavar="OPTION", help="an option for the compiler")
    add("--pure", action="append", default=[], metavar="NAME", help="this function has no side effects")
    add_choice(parser)
    add_compiler_options(parser, definitions=False)


def check(arguments: argparse.Namespace) -> Invocation[Printed]:
    limit = max(arguments.timeout, LEAST) + GRACE
    return asked(arguments, _checked, lambda _, printed: printed, {}, seconds=limit)


def _checked(arguments: argparse.Namespace, progress: Progress) -> Printed:
    return _printed(arguments, _report(arguments, progress))


def _report(arguments: argparse.Namespace, progress: Progress) -> Report:
    from loopwright.check.run.execute import time_used
    from loopwright.check.verify import check_file, check_source
    from loopwright.read.mlir.parsing import is_mlir

    if is_mlir(arguments.file):
        raise BadInput(
            Code.OPTION,
            "check runs C programs",
            span=Span.start_of(arguments.file),
            hint="`loopwright prove BEFORE.mlir AFTER.mlir` compares functions of MLIR",
        )
    options = _options(arguments, time_used() + max(arguments.timeout, LEAST))
    if arguments.own_script is None:
        progress(f"checking {arguments.file}")
        return check_file(arguments.file, arguments.spec, options)
    from loopwright.read.text import load
    from loopwright.rewrite.pipeline import transformed

    script = load(arguments.own_script).text
    asked = Request(
        file=arguments.file, script=script, script_file=arguments.own_script, reading=options.reading
    )
    outcome = transformed(asked, progress)
    progress(f"checking {arguments.file}")
    return check_source(outcome.source, arguments.file, options)


def _options(arguments: argparse.Namespace, deadline: float) -> CheckOptions:
    from loopwright.check.run.execute import Toolchain
    from loopwright.check.verify import CheckOptions

    defined = sizes(arguments.sizes, arguments.file)
    try:
        words = tuple(shlex.split(arguments.args))
    except ValueError as wrong:
        message, place = f"--args cannot be split into words: {wrong}", Span.start_of(arguments.file)
        raise BadInput(Code.OPTION, message, span=place) from None
    tools = Toolchain(
        arguments.cc,
        (*arguments.as_compiled, *arguments.cc_option),
        words,
        arguments.timeout,
        deadline,
        keep=None if arguments.keep is None else Path(arguments.keep),
    )
    checks = (arguments.race, arguments.only_checks, arguments.one_by_one)
    reading = ReadOptions(
        tuple(arguments.pure),
        choice=choice(arguments.function, arguments.loop),
        compiled=compiler_options(arguments, arguments.sizes, arguments.cc),
    )
    return CheckOptions(defined, arguments.algorithm, tools, *checks, reading)


def _printed(arguments: argparse.Namespace, report: Report) -> Printed:
    from loopwright.check.run.report import as_data, as_diagnostics, as_text

    text = as_lines(as_data(report)) if arguments.json else as_text(report)
    return Printed(text, status=report.exit_code, diagnostics=as_diagnostics(report))
