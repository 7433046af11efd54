"""`loopwright prove OLD NEW`: whether two files compute the same, for every size.

Of two C files the texts are compared; of two OpenScop files, the orders.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from loopwright.cli.frame import Invocation, Printed, as_lines
from loopwright.cli.options import (
    LARGEST,
    Verbs,
    add_prover_options,
    add_reading_options,
    add_time_limits,
    choice_of,
    compiler_options,
    coq_library,
    proof_lines,
    refuse_twice,
    separate_proof,
)
from loopwright.source import called

if TYPE_CHECKING:
    from loopwright.progress import Progress
    from loopwright.rewrite.comparison import Confirmed

FOR_THE_CHECKER = 1500
"""Characters of a region: the verified checker is asked about short ones."""


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "prove",
        help="prove that two C files, or two OpenScop files, do the same",
        description="Prove that the regions of NEW compute what those of OLD do, for every problem "
        "size. NEW may be tiled, unrolled, split, shifted, its iterators renamed, its temporaries others, "
        "its expressions taken apart or put together. A no comes with sizes, a cell, and its two values. "
        "Two OpenScop files are one program in two orders, before and after another tool's scheduling.",
    )
    parser.set_defaults(invocation=prove)
    parser.add_argument("old", metavar="OLD", help="a C file, or an OpenScop file (.scop)")
    parser.add_argument("new", metavar="NEW", help="the rewritten file")
    add_reading_options(parser)
    parser.add_argument("--json", action="store_true", help="the answer for machines")
    parser.add_argument(
        "--allow-reassociation",
        action="store_true",
        help="let sums and products be computed in any order, which rounds differently",
    )
    add_prover_options(parser.add_argument, "--proof")
    add_time_limits(parser.add_argument, 30.0)


def prove(arguments: argparse.Namespace) -> Invocation[Confirmed]:
    data = {"old": arguments.old, "new": arguments.new, "verdict": "proved", "diagnostics": []}
    return Invocation(
        work=lambda progress: _agreement(arguments, progress),
        render=lambda found: _printed(arguments, data, found),
        file=arguments.new,
        failed=(lambda: data) if arguments.json else None,
        seconds=arguments.timeout,
        wall=arguments.wall_timeout,
        prepare=coq_library(arguments.prover),
    )


def _agreement(arguments: argparse.Namespace, progress: Progress) -> Confirmed:
    from loopwright.prove.equivalence.files import agreement
    from loopwright.rewrite.comparison import confirmed

    refuse_twice(arguments.old, arguments.new)
    request = separate_proof(arguments)
    found = agreement(
        arguments.old,
        arguments.new,
        pure=arguments.pure,
        assume=arguments.assume,
        choice=choice_of(arguments),
        options=compiler_options(arguments),
        allow_reassociation=arguments.allow_reassociation,
        for_provers=_longest(request.prover),
        progress=progress,
    )
    return confirmed(found, arguments.old, request, progress)


def _longest(prover: str) -> int:
    """The longest region, in characters, that is compared in the way that other provers can confirm."""
    from loopwright.prove.certificates.checker import checker

    if prover != "isl":
        return LARGEST
    return 0 if checker() is None else FOR_THE_CHECKER


def _printed(arguments: argparse.Namespace, data: dict[str, object], confirmed: Confirmed) -> Printed:
    from loopwright.report.results import proof_data, prover_data

    found = confirmed.agreement
    told = dict.fromkeys(line for line in (one.line() for one in confirmed.statuses) if line is not None)
    trusted = "".join(f"  taken on trust: {text}\n" for text in found.assumptions)
    trusted += proof_lines((*confirmed.remarks, *told))
    if arguments.json:
        answer = {
            "obligations": found.obligations,
            "ways": list(found.ways),
            "assumptions": list(found.assumptions),
            "provers": prover_data(arguments.prover, confirmed.remarks),
            "proof": proof_data(confirmed.statuses),
        }
        return Printed(as_lines(data | answer), trusted)
    how = " and ".join(dict.fromkeys(found.ways))
    same = f"{called(arguments.new)} does what {called(arguments.old)} does ({found.obligations} obligations)"
    return Printed(f"proved {how}: {same}\n", trusted)
