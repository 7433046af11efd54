"""`loopwright tune FILE`: the fastest script for a C file that trying finds, proved."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopwright.cli.diagnostics import as_json as diagnostic
from loopwright.cli.diagnostics import exit_code, show, verdict_word
from loopwright.cli.extract import add_reading_options
from loopwright.cli.options import seconds
from loopwright.cli.outcome import failures_named, placed, write_out
from loopwright.cli.progress import progress_line
from loopwright.cli.transform import replace_file
from loopwright.errors import LoopwrightError

if TYPE_CHECKING:
    from loopwright.progress import Progress
    from loopwright.tune.tuning import Tuned

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "tune",
        help="search for the script that makes a C program fastest, proved",
        description="Try interchanges, fusions, tiles and register tiles on a C file that has a main, those "
        "that are proved legal; compile and time each; extend the best. The script that wins is proved as "
        "'transform' proves it, and written, for you to read, change and keep.",
    )
    parser.set_defaults(run=tune)
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


def tune(arguments: argparse.Namespace) -> int:
    """Do what the command line says; the exit status."""
    try:
        tuned = failures_named(lambda: _run(arguments))
        failures_named(lambda: _deliver(arguments, tuned))
    except LoopwrightError as error:
        error = placed(error, arguments.file)
        if arguments.json:
            data: dict[str, Any] = {"file": arguments.file, "verdict": verdict_word(error)}
            data |= {"script": None, "diagnostics": [diagnostic(error, arguments.file)]}
            write_out(json.dumps(data, indent=2) + "\n")
        show(error, sys.stderr, arguments.file)
        return exit_code(error)
    return 0


def _run(arguments: argparse.Namespace) -> Tuned:
    from loopwright.run.compiler import find_compiler
    from loopwright.tune.workshop import Workshop

    compiler = find_compiler(arguments.cc)
    flags = (*(f"-D{one}" for one in arguments.define), *arguments.cc_option)
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder, progress_line(sys.stderr) as progress:
        workshop = Workshop(Path(arguments.file), Path(folder), compiler, flags)
        return _tuned(arguments, workshop, progress)


def _tuned(arguments: argparse.Namespace, workshop: Any, progress: Progress) -> Tuned:
    from loopwright.rewrite.request import Request
    from loopwright.tune.tuning import tune

    request = Request(
        file=arguments.file,
        script_file="<tuned>",
        pure=tuple(arguments.pure),
        assume=tuple(arguments.assume),
        allow_reassociation=arguments.allow_reassociation,
    )
    return tune(request, workshop, arguments.budget, progress)


def _deliver(arguments: argparse.Namespace, tuned: Tuned) -> None:
    text = _json(arguments, tuned) if arguments.json else _text(arguments, tuned)
    if arguments.output in (None, "-") or arguments.json:
        write_out(text)
    else:
        replace_file(arguments.output, text.encode())
        sys.stderr.write(_summary(arguments, tuned))
    if arguments.code is not None and tuned.outcome is not None:
        replace_file(arguments.code, tuned.outcome.source.encode())


def _summary(arguments: argparse.Namespace, tuned: Tuned) -> str:
    counts = f"{tuned.tried} programs were run, {tuned.illegal} scripts were refused as illegal"
    if tuned.outcome is None:
        return f"{arguments.file}: nothing faster was found; {counts}\n"
    times = f"{tuned.tuned.median:.3g} s instead of {tuned.original.median:.3g} s"
    return f"{arguments.file}: {tuned.ratio:.2f} times as fast, {times}, proved; {counts}\n"


def _text(arguments: argparse.Namespace, tuned: Tuned) -> str:
    return f"# {_summary(arguments, tuned)}{tuned.script}"


def _json(arguments: argparse.Namespace, tuned: Tuned) -> str:
    data = {
        "file": arguments.file,
        "verdict": "proved" if tuned.outcome is not None else "nothing faster",
        "script": tuned.script,
        "ratio": tuned.ratio,
        "original_s": tuned.original.median,
        "tuned_s": tuned.tuned.median,
        "programs": tuned.tried,
        "illegal": tuned.illegal,
        "diagnostics": [],
    }
    return json.dumps(data, indent=2) + "\n"
