"""`loopwright suggest FILE`: what may be done to the loops of a C file, proved, as lines of a script."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from loopwright.cli.diagnostics import as_json, exit_code, show, verdict_word
from loopwright.cli.extract import add_reading_options
from loopwright.cli.options import seconds
from loopwright.cli.outcome import failures_named, placed, write_out
from loopwright.cli.progress import progress_line
from loopwright.errors import LoopwrightError
from loopwright.progress import Progress

if TYPE_CHECKING:
    from loopwright.prove.legality.suggest import Suggestion

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]
    Found = list[tuple[int, list[Suggestion]]]


HEADINGS = {
    "parallel loop": "loops whose iterations are independent",
    "interchange": "loops that can change places",
    "tiling": "loops that can be tiled",
    "fusion": "loops that can be joined",
}


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "suggest",
        help="list interchanges, fusions, tilings and parallel loops that are proved legal",
        description="Try the usual operations on the loops of a C file and list those that keep every "
        "dependence, each alone, as lines of a script with the reason behind them.",
    )
    parser.set_defaults(run=suggest)
    add = parser.add_argument
    add("file", metavar="FILE", help="a C file")
    add_reading_options(parser)
    add("--all", action="store_true", help="the illegal ones too, as comments with a counterexample")
    add("--json", action="store_true", help="the same for machines")
    add("--timeout", type=seconds, metavar="SECONDS", help="give up after so long")


def suggest(arguments: argparse.Namespace) -> int:
    """Do what the command line says; the exit status."""
    try:
        found = failures_named(lambda: _run(arguments))
    except LoopwrightError as error:
        error = placed(error, arguments.file)
        if arguments.json:
            data = {"file": arguments.file, "verdict": verdict_word(error), "regions": []}
            data["diagnostics"] = [as_json(error, arguments.file)]
            write_out(json.dumps(data, indent=2) + "\n")
        show(error, sys.stderr, arguments.file)
        return exit_code(error)
    write_out(_json(arguments, found) if arguments.json else _text(arguments, found))
    return 0


def _run(arguments: argparse.Namespace) -> Found:
    with progress_line(sys.stderr) as progress:
        if arguments.timeout is None:
            return _found(arguments, progress)
        from loopwright.run.supervise import within

        return within(
            arguments.timeout, lambda progress: failures_named(lambda: _found(arguments, progress)), progress
        )


def _found(arguments: argparse.Namespace, progress: Progress) -> Found:
    """For each region its line and what was tried."""
    from loopwright.prove.legality.suggest import suggestions
    from loopwright.read.c.reader import read_c
    from loopwright.transform import plan_of

    progress(f"reading {arguments.file}")
    programs = read_c(arguments.file, pure=arguments.pure, assume=arguments.assume)
    return [
        (program.region.line, list(suggestions(plan_of(program), progress)))
        for program in programs
    ]


def _json(arguments: argparse.Namespace, found: Found) -> str:
    regions = [
        {"line": line, "suggestions": [_suggestion(one) for one in tried]} for line, tried in found
    ]
    return json.dumps({"file": arguments.file, "regions": regions}, indent=2) + "\n"


def _suggestion(one: Suggestion) -> dict[str, Any]:
    return {
        "kind": one.kind.value,
        "script": one.script,
        "reason": one.reason,
        "legal": one.legal,
        "reassociation": one.reassociation,
        "gain": one.gain,
    }


def _text(arguments: argparse.Namespace, found: Found) -> str:
    lines = [
        f"# {arguments.file}: each suggestion, up to its reason, is legal by itself; what comes of several",
        "# together is proved when 'loopwright transform' applies them.",
    ]
    for line, tried in found:
        if len(found) > 1:
            lines += ["", f"# the region at line {line}"]
        lines += _region(tried, refused=arguments.all)
    return "".join(f"{line}\n" for line in lines)


def _region(tried: list[Suggestion], *, refused: bool) -> list[str]:
    lines: list[str] = []
    for kind, heading in HEADINGS.items():
        own = [one for one in tried if one.kind.value == kind]
        legal = sorted((one for one in own if one.legal), key=lambda one: -one.gain)
        lines += ["", f"# {heading}" + ("" if legal else ": none")]
        for one in legal:
            lines += _entry(one)
        if refused:
            lines += [f"# not {one.steps[-1]}: {one.reason}" for one in own if not one.legal]
    return lines


def _entry(one: Suggestion) -> list[str]:
    *before, last = one.steps
    mark = "# " if one.reassociation else ""
    return [*(f"{mark}{line}" for line in before), f"{mark}{last}  # {one.reason}"]
