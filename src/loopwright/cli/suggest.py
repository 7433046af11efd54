"""`loopwright suggest FILE`: what may be done to the loops of a C file, proved, as lines of a script."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from loopwright.cli.frame import Invocation, Printed, as_lines, asked
from loopwright.cli.options import (
    Verbs,
    add_prover_options,
    add_reading_options,
    add_time_limits,
    coq_library,
    reading_options,
)
from loopwright.source import called

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loopwright.progress import Progress
    from loopwright.report.results import Suggestions


EXAMPLE = ("loopwright suggest kernel.c", "list legal transformations")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "suggest",
        help="list legal tilings, interchanges, fusions, parallel loops and more",
        description="Try the usual operations on the loops of a C file and list those that preserve every "
        "dependence when applied alone. Each is a script line followed by the reason and by the speedup that "
        "the cost model of 'loopwright optimise' predicts.",
    )
    parser.set_defaults(invocation=suggest)
    add = parser.add_argument
    add("file", metavar="FILE", help="a C file, or - for standard input")
    add_reading_options(parser)
    add(
        "--target",
        choices=("c", "cuda"),
        default="c",
        help="cuda: map loops to the blocks and threads of a GPU",
    )
    add(
        "--all",
        action="store_true",
        help="list all, including illegal ones as comments with a counterexample",
    )
    add_prover_options(add, "")
    add("--json", action="store_true", help="print JSON")
    add_time_limits(add)


def suggest(arguments: argparse.Namespace) -> Invocation[Sequence[Suggestions]]:
    prepare = coq_library(arguments.prover)
    return asked(arguments, _suggestions, _printed, {"regions": []}, prepare=prepare)


def _suggestions(arguments: argparse.Namespace, progress: Progress) -> Sequence[Suggestions]:
    """For each region what was tried."""
    from loopwright.optimise.pricing import priced_suggestions
    from loopwright.prove.legality.suggest import suggestions
    from loopwright.read.c.reader import read_c
    from loopwright.report.results import Suggestions
    from loopwright.rewrite.opinions import demand
    from loopwright.rewrite.request import ProverRequest
    from loopwright.transform import plan_of
    from loopwright.transform.suggest import mappings

    request = ProverRequest(arguments.prover, None, arguments.prover_timeout)
    demand(request)
    progress(f"reading {arguments.file}")
    plans = [plan_of(program) for program in read_c(arguments.file, reading_options(arguments))]
    found = []
    for plan in plans:
        mapped = arguments.target == "cuda"
        tried = suggestions(plan, progress, mappings(plan)) if mapped else priced_suggestions(plan, progress)
        found.append(Suggestions(plan.original, list(tried)))
    if request.prover == "isl":
        return found
    from loopwright.rewrite.pipeline import confirmed_suggestion

    return [
        Suggestions(
            region.program,
            [confirmed_suggestion(one, plans, number, request, progress) for one in region.tried],
        )
        for number, region in enumerate(found)
    ]


def _printed(arguments: argparse.Namespace, found: Sequence[Suggestions]) -> Printed:
    from loopwright.report.results import suggestions_data, suggestions_text

    if arguments.json:
        return Printed(as_lines(suggestions_data(arguments.file, found)))
    return Printed(suggestions_text(called(arguments.file), found, refused=arguments.all))
