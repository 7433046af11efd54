"""`loopwright extract FILE`: what the regions of a C file mean, or an OpenScop file."""

from __future__ import annotations

import argparse

from loopwright.cli.frame import Invocation, Printed, asked
from loopwright.cli.options import Verbs, add_reading_options, reading_options
from loopwright.progress import Progress

EXAMPLE = ("loopwright extract kernel.c", "show the polyhedral model of a C file")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "extract",
        help="show the polyhedral model of the regions of a C file",
        description="Show the statements between '#pragma scop' and '#pragma endscop': their domains, "
        "accesses, schedule, dependences and assumptions.",
    )
    parser.set_defaults(invocation=extract)
    add = parser.add_argument
    add("file", metavar="FILE", help="C, OpenScop (.scop) or MLIR (.mlir), or - for C on standard input")
    add_reading_options(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--scop", action="store_true", help="write OpenScop")
    form.add_argument("--mlir", action="store_true", help="write functions of MLIR's affine dialect")


def extract(arguments: argparse.Namespace) -> Invocation[str]:
    return asked(arguments, _extracted, lambda _, text: Printed(text), {})


def _extracted(arguments: argparse.Namespace, progress: Progress) -> str:
    from loopwright.report.program_text import extracted

    progress(f"reading {arguments.file}")
    form = next((one for one in ("json", "scop", "mlir") if getattr(arguments, one)), "text")
    return extracted(arguments.file, form, reading_options(arguments))
