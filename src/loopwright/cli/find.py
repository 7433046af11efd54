"""`loopwright find FILE`: the loops of a C file that can be read, and why the others cannot."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from loopwright.cli.frame import Invocation, Printed, as_lines, asked
from loopwright.cli.options import Verbs, add_compiler_options, add_stated, compiler_options
from loopwright.read.c.options import ReadOptions
from loopwright.source import called

if TYPE_CHECKING:
    from loopwright.progress import Progress
    from loopwright.read.c.find import Nest


EXAMPLE = ("loopwright find kernel.c", "list the loops that can be analysed")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "find",
        help="list the loops of a C file that can be analysed",
        description="List the loop nests of a C file in the largest units that can be analysed: whole "
        "functions, outermost loops, or inner loops. For each, print the option that selects it in the other "
        "verbs, its lines and its statements, or the reason why it cannot be analysed.",
    )
    parser.set_defaults(invocation=find)
    add = parser.add_argument
    add("file", metavar="FILE", help="a C file, or - for standard input")
    add_stated(parser)
    add("--json", action="store_true", help="print JSON")
    add_compiler_options(parser)


def find(arguments: argparse.Namespace) -> Invocation[tuple[Nest, ...]]:
    return asked(arguments, _nests, _printed, {"nests": []})


def _nests(arguments: argparse.Namespace, progress: Progress) -> tuple[Nest, ...]:
    from loopwright.c.typed.options import refuse_cplusplus_ending
    from loopwright.read.c.find import nests_of
    from loopwright.read.c.reader import load_c

    progress(f"reading {arguments.file}")
    refuse_cplusplus_ending(arguments.file)
    stated = (tuple(arguments.pure), tuple(arguments.assume))
    return nests_of(load_c(arguments.file), ReadOptions(*stated, compiled=compiler_options(arguments)))


def _printed(arguments: argparse.Namespace, found: tuple[Nest, ...]) -> Printed:
    from loopwright.report.program_text import nests_data, nests_text

    if arguments.json:
        return Printed(as_lines(nests_data(arguments.file, found)))
    return Printed(nests_text(called(arguments.file), found))
