"""`loopwright show FILE [SCRIPT]`: pictures, and a report that explains what a script does."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.cli.frame import Invocation, Printed, as_lines, asked
from loopwright.cli.options import (
    Verbs,
    add_openmp,
    add_reading_options,
    add_reassociation,
    add_script,
    request_of,
)
from loopwright.errors import BadInput, Code
from loopwright.source import STANDARD, Span, called

if TYPE_CHECKING:
    from loopwright.progress import Progress
    from loopwright.report.regions import HtmlReport

EXIT_CODES = {"proved": 0, "illegal": 1, "could not decide": 3}


EXAMPLE = ("loopwright show kernel.c script.lw", "draw the loops and explain a script")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "show",
        help="draw iterations and dependences; explain a script",
        description="Write one HTML file that shows the iterations of the regions of a C file, their order "
        "before and after a script, the dependences between them, and the dependences that a wrong script "
        "breaks.",
    )
    parser.set_defaults(invocation=show)
    add = parser.add_argument
    add("file", metavar="FILE", help="a C file, a description of a schedule, or - for standard input")
    add_script(parser, "the program as it is written")
    add(
        "-o",
        "--output",
        metavar="PATH",
        help="the report (default: FILE's name with .html, in the current folder)",
    )
    add(
        "--pictures",
        metavar="DIR",
        help="also write each picture to this folder, as SVG and PNG, light and dark",
    )
    add_reading_options(parser)
    add_openmp(parser.add_argument)
    add_reassociation(parser.add_argument)
    add("--json", action="store_true", help="print the files written and the verdict as JSON")


def show(arguments: argparse.Namespace) -> Invocation[HtmlReport]:
    return asked(arguments, _report, _printed, {"files": []})


def _report(arguments: argparse.Namespace, progress: Progress) -> HtmlReport:
    from loopwright.read.schedules import SUFFIXES
    from loopwright.report.regions import can_draw, report_on
    from loopwright.show.draw import HOW, MISSING

    if arguments.file.endswith(SUFFIXES):
        return _described(arguments, progress)
    request = request_of(arguments)
    if arguments.pictures is not None and not can_draw():
        raise BadInput(Code.MISSING_PART, MISSING, hint=HOW)
    return report_on(request, progress)


def _described(arguments: argparse.Namespace, progress: Progress) -> HtmlReport:
    """The loops of a description, which no script changes and of which there is no still picture."""
    from loopwright.report.regions import report_on_description

    script = arguments.script or arguments.lines
    for given, what in ((script, "a script"), (arguments.pictures, "--pictures")):
        if given:
            message = f"this is a description of a schedule, and {what} needs a C file"
            hint = f"'loopwright show {arguments.file}' draws the order of its loops"
            raise BadInput(Code.OPTION, message, span=Span.start_of(arguments.file), hint=hint)
    return report_on_description(arguments.file, progress)


def _printed(arguments: argparse.Namespace, report: HtmlReport) -> Printed:
    """The page and the pictures; their names to standard output, unless that is where the page goes."""
    page = report.html.encode("utf-8", "replace")
    target = arguments.output or _target(arguments.file)
    files = [(target, page), *_pictures(report, arguments)]
    names = [name for name, _ in files if name != STANDARD]
    verdict, status = report.status.value, EXIT_CODES[report.status.value]
    if arguments.json:
        data = {"file": arguments.file, "verdict": verdict, "files": names}
        return Printed(as_lines(data), files=tuple(files), status=status)
    missing = f" ({report.missing})" if report.missing else ""
    out = "" if target == STANDARD else "".join(f"{name}\n" for name in names)
    return Printed(out, f"{called(arguments.file)}: {verdict}{missing}\n", tuple(files), status)


def _target(file: str) -> str:
    return STANDARD if file == STANDARD else f"{Path(file).stem}.html"


def _pictures(report: HtmlReport, arguments: argparse.Namespace) -> list[tuple[str, bytes]]:
    folder = arguments.pictures
    if folder is None:
        return []
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        message = f"cannot be made: {error.strerror}"
        raise BadInput(Code.FILE, message, span=Span.start_of(folder)) from None
    stem = "stdin" if arguments.file == STANDARD else Path(arguments.file).stem
    return [(os.path.join(folder, f"{stem}{ending}"), data) for ending, data in report.pictures()]
