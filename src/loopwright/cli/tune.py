"""`loopwright tune FILE`: the fastest script for a C file that trying finds, proved."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopwright.cli.frame import Invocation, Printed, as_lines
from loopwright.cli.options import Verbs, add_reading_options, choice_of, seconds
from loopwright.rewrite.request import Request
from loopwright.source import STANDARD

if TYPE_CHECKING:
    from loopwright.progress import Progress
    from loopwright.tune.tuning import Tuned


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "tune",
        help="search for the script that makes a C program fastest, proved",
        description="Try interchanges, fusions, tiles and register tiles on a C file that has a main, those "
        "that are proved legal; compile and time each; extend the best. The script that wins is proved as "
        "'transform' proves it, and written, for you to read, change and keep.",
    )
    parser.set_defaults(invocation=tune)
    add = parser.add_argument
    add("file", metavar="FILE", help="a C file with a main that runs its regions")
    add("-o", "--output", metavar="PATH", help="write the script there instead of to standard output")
    add("--code", metavar="PATH", help="write the new C file there")
    add("--budget", type=seconds, default=60.0, metavar="SECONDS", help="how long to search (60)")
    add_reading_options(parser)
    add("-D", "--define", action="append", default=[], metavar="NAME=N", help="a size, as for gcc")
    add("--cc", "--compiler", default="gcc", metavar="COMPILER", help="the C compiler (gcc)")
    add("--cc-option", action="append", default=[], metavar="OPTION", help="an option or a file for it")
    add("--allow-reassociation", action="store_true", help="sums and products may be computed in any order")
    add("--json", action="store_true", help="script, times and counts as JSON")


def tune(arguments: argparse.Namespace) -> Invocation[Tuned]:
    empty: dict[str, Any] = {"file": arguments.file, "verdict": "", "script": None}
    return Invocation(
        work=lambda progress: _tuned(arguments, progress),
        render=lambda tuned: _printed(arguments, tuned),
        file=arguments.file,
        failed=(lambda: empty) if arguments.json else None,
    )


def _tuned(arguments: argparse.Namespace, progress: Progress) -> Tuned:
    from loopwright.run.compiler import find_compiler
    from loopwright.tune.runner import TrialRunner
    from loopwright.tune.tuning import tune

    flags = (*(f"-D{one}" for one in arguments.define), *arguments.cc_option)
    request = Request(
        file=arguments.file,
        script_file="<tuned>",
        pure=tuple(arguments.pure),
        assume=tuple(arguments.assume),
        choice=choice_of(arguments),
        allow_reassociation=arguments.allow_reassociation,
    )
    compiler = find_compiler(arguments.cc)
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        runner = TrialRunner(Path(arguments.file), Path(folder), compiler, flags)
        return tune(request, runner, arguments.budget, progress)


def _printed(arguments: argparse.Namespace, tuned: Tuned) -> Printed:
    from loopwright.report.results import tuned_data, tuned_text

    code = () if tuned.outcome is None else ((arguments.code, tuned.outcome.source.encode()),)
    files = () if arguments.code is None else code
    summary = tuned_text(arguments.file, tuned)
    if arguments.json:
        return Printed(as_lines(tuned_data(arguments.file, tuned)), files=files)
    script = f"# {summary}{tuned.script}"
    if arguments.output in (None, STANDARD):
        return Printed(script, files=files)
    return Printed(err=summary, files=((arguments.output, script.encode()), *files))
