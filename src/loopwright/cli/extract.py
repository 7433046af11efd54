"""`loopwright extract FILE`: what the regions of a C file mean, or an OpenScop file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.cli.diagnostics import as_json as diagnostic
from loopwright.cli.diagnostics import exit_code, show, verdict_word
from loopwright.cli.outcome import failures_named, placed
from loopwright.errors import LoopwrightError

if TYPE_CHECKING:
    from loopwright.model.program import Program

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "extract",
        help="show what the regions of a C file mean",
        description="Show the statements between '#pragma scop' and '#pragma endscop': their domains, "
        "accesses, schedule and dependences, and what is taken on trust.",
    )
    parser.set_defaults(run=extract)
    add = parser.add_argument
    add("file", metavar="FILE", help="a C file, or an OpenScop file (.scop)")
    add_reading_options(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the same for machines")
    form.add_argument("--scop", action="store_true", help="write OpenScop")


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """The options of every verb that reads C."""
    add = parser.add_argument
    add("--pure", action="append", default=[], metavar="NAME", help="this function has no side effects")
    add("--assume", action="append", default=[], metavar="COND", help="this holds of the parameters")


def extract(arguments: argparse.Namespace) -> int:
    """Do what the command line says; the exit status."""
    file = arguments.file
    try:
        text = failures_named(
            lambda: run_extract(
                file,
                as_json=arguments.json,
                as_scop=arguments.scop,
                pure=arguments.pure,
                assume=arguments.assume,
            )
        )
    except LoopwrightError as error:
        error = placed(error, file)
        if arguments.json:
            failure = {"file": file, "verdict": verdict_word(error), "diagnostics": [diagnostic(error, file)]}
            sys.stdout.write(json.dumps(failure, indent=2) + "\n")
        show(error, sys.stderr, file)
        return exit_code(error)
    sys.stdout.write(text)
    sys.stdout.flush()
    return 0


def run_extract(
    path: str | Path,
    *,
    as_json: bool = False,
    as_scop: bool = False,
    pure: Sequence[str] = (),
    assume: Sequence[str] = (),
) -> str:
    """The regions of a C file, or an OpenScop file, as text, as JSON or as OpenScop."""
    from loopwright.emit.openscop import to_openscop
    from loopwright.model.dependences import dependences
    from loopwright.read.c.reader import read_c
    from loopwright.read.openscop import read_openscop
    from loopwright.report.program_text import as_data, as_text

    if str(path).endswith(".scop"):
        programs: Sequence[Program] = (read_openscop(path),)
    else:
        programs = read_c(path, pure=pure, assume=assume)
    if as_scop:
        return "\n".join(to_openscop(program) for program in programs)
    if as_json:
        regions = [as_data(program, dependences(program)) for program in programs]
        return json.dumps({"file": str(path), "regions": regions}, indent=2) + "\n"
    return "\n".join(as_text(program, dependences(program)) for program in programs)
