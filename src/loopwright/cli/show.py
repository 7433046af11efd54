"""`loopwright show FILE [SCRIPT]`: pictures, and a report that explains what a script does."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.cli.diagnostics import as_json, exit_code, verdict_word
from loopwright.cli.diagnostics import show as show_error
from loopwright.cli.extract import add_reading_options
from loopwright.cli.outcome import failures_named, placed, write_out
from loopwright.cli.progress import progress_line
from loopwright.cli.script import add_script, script_of
from loopwright.errors import BadInput, Code, LoopwrightError

if TYPE_CHECKING:
    from loopwright.report.regions import HtmlReport

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "show",
        help="pictures, and a report that explains a script",
        description="Draw what the regions of a C file run and in which order, before and after a script, "
        "what depends on what, and what a wrong script breaks; write it all into one HTML file.",
    )
    parser.set_defaults(run=show)
    add = parser.add_argument
    add("file", metavar="FILE", help="a C file")
    add_script(parser, "the program as it is written")
    add("-o", "--output", metavar="PATH", help="the report; by default FILE's name with .html, here")
    add("--pictures", metavar="DIR", help="write each picture there too, as SVG and as PNG, light and dark")
    add_reading_options(parser)
    add("--openmp", action="store_true", help="an OpenMP pragma in front of each outermost parallel loop")
    add("--allow-reassociation", action="store_true", help="sums and products may be computed in any order")
    add("--json", action="store_true", help="what was written and the verdict, as JSON")


EXIT_CODES = {"proved": 0, "illegal": 1, "could not decide": 3}


@dataclass(frozen=True)
class Written:
    """The files that were made, and the verdict in them."""

    report: HtmlReport
    files: tuple[str, ...]


def show(arguments: argparse.Namespace) -> int:
    """Do what the command line says; the exit status is the verdict's."""
    try:
        made = failures_named(lambda: _written(arguments))
    except LoopwrightError as error:
        error = placed(error, arguments.file)
        if arguments.json:
            found = {"file": arguments.file, "verdict": verdict_word(error), "files": []}
            found["diagnostics"] = [as_json(error, arguments.file)]
            write_out(json.dumps(found, indent=2) + "\n")
        show_error(error, sys.stderr, arguments.file)
        return exit_code(error)
    if arguments.json:
        data = {"file": arguments.file, "verdict": made.report.status.value, "files": list(made.files)}
        write_out(json.dumps(data, indent=2) + "\n")
    else:
        write_out("".join(f"{name}\n" for name in made.files))
        missing = f" ({made.report.missing})" if made.report.missing else ""
        sys.stderr.write(f"{arguments.file}: {made.report.status.value}{missing}\n")
    return EXIT_CODES[made.report.status.value]


def _written(arguments: argparse.Namespace) -> Written:
    from loopwright.cli.transform import replace_file
    from loopwright.report.regions import can_draw, report_on
    from loopwright.rewrite.request import Request
    from loopwright.show.draw import HOW, MISSING

    script, script_file = script_of(arguments)
    request = Request(
        file=arguments.file,
        script=script,
        script_file=script_file,
        pure=tuple(arguments.pure),
        assume=tuple(arguments.assume),
        openmp=arguments.openmp,
        allow_reassociation=arguments.allow_reassociation,
    )
    if arguments.pictures is not None and not can_draw():
        raise BadInput(Code.MISSING_PART, MISSING, hint=HOW)
    target = arguments.output or f"{Path(arguments.file).stem}.html"
    with progress_line(sys.stderr) as progress:
        made = report_on(request, progress)
        replace_file(target, made.html.encode("utf-8", "replace"))
        files = [target]
        if arguments.pictures is not None:
            progress("drawing")
            files += _pictures(made, arguments.pictures, Path(arguments.file).stem)
    return Written(made, tuple(files))


def _pictures(made: HtmlReport, folder: str, stem: str) -> list[str]:
    from loopwright.cli.transform import replace_file

    os.makedirs(folder, exist_ok=True)
    files: list[str] = []
    for ending, data in made.pictures():
        name = os.path.join(folder, f"{stem}{ending}")
        replace_file(name, data)
        files.append(name)
    return files
