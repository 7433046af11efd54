"""`loopwright codegen FILE`: loops from a polyhedral description, proved before they are printed."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loopwright.cli import options
from loopwright.cli.frame import Invocation, Printed, as_lines

if TYPE_CHECKING:
    from loopwright.generate.context import GenerationOptions
    from loopwright.progress import Progress
    from loopwright.rewrite.generation import Generated


EXAMPLE = ("loopwright codegen loops.poly", "generate loops from a schedule")


def add_to(verbs: options.Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "codegen",
        help="generate loops that execute a schedule",
        description="Generate loops that execute every instance of a schedule exactly once, in order. "
        "The loops are proved before they are printed, unless --no-prove is given.",
    )
    parser.set_defaults(invocation=codegen)
    add = parser.add_argument
    add("file", metavar="FILE", help="a .poly, .in, .st, .cloog or .scop file, or - with --format")
    forms = ("poly", "in", "st", "cloog", "scop")
    add("--format", choices=forms, help="the format of FILE (default: from its extension)")
    _add_generator_options(parser.add_argument_group("the generator"))
    _add_output_options(parser.add_argument_group("what is printed"))
    limits = parser.add_argument_group(options.LIMITS)
    options.add_time_limits(limits.add_argument)
    limits.add_argument(
        "--max-statements", type=options.integer(1), metavar="N", help="maximum number of statement copies"
    )
    limits.add_argument(
        "--max-unroll",
        type=options.integer(1),
        metavar="N",
        help="maximum number of copies of an unrolled loop",
    )


def _add_generator_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    loop_types = ("default", "separate", "atomic", "unroll")
    add("--loop-type", choices=loop_types, default="default", help="default for dimensions that specify none")
    add("--separate-from", type=options.integer(0), metavar="N", help="separate at depth N and deeper only")
    add(
        "--separate-depth",
        type=options.integer(0),
        metavar="N",
        help="stop separating at depth N, which bounds code size",
    )
    add(
        "--upper-bound",
        choices=("single", "conjunction"),
        default="single",
        help="use min, or && in the loop test",
    )
    add("--no-nested-bounds", action="store_true", help="keep conditions that inner loops enforce")
    add("--split-bounds", action="store_true", help="remove min and max from bounds by splitting loops")
    add("--dead-loops", action="store_true", help="separate a second time so that no loop is empty")


def _add_output_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("-o", "--output", metavar="PATH", help="write to this file instead of standard output")
    add("--standalone", action="store_true", help="print a complete C file, including helper macros")
    add("--openmp", action="store_true", help="print an OpenMP pragma before each outermost parallel loop")
    add("--json", action="store_true", help="print code, verdict, statistics and diagnostics as JSON")
    add("--no-prove", action="store_true", help="print the program without a proof")
    options.add_prover_options(add)
    add("--stats", action="store_true", help="print size and times to standard error")


def codegen(arguments: argparse.Namespace) -> Invocation[Generated]:
    return Invocation(
        work=lambda progress: _generated(arguments, progress),
        render=lambda found: _printed(arguments, found),
        file=arguments.file,
        failed=(lambda: _data(arguments, None)) if arguments.json else None,
        seconds=arguments.timeout,
        wall=arguments.wall_timeout,
        prepare=options.coq_library(arguments.prover),
        slow="allow more time with --timeout, or try --loop-type atomic, which makes less code",
    )


def _generated(arguments: argparse.Namespace, progress: Progress) -> Generated:
    from loopwright.rewrite.generation import GenerationRequest, generated

    request = GenerationRequest(
        arguments.file,
        _options(arguments),
        prove=not arguments.no_prove,
        standalone=arguments.standalone,
        openmp=arguments.openmp,
        prover=options.prover_request(arguments),
        form=arguments.format,
    )
    return generated(request, progress)


def _options(arguments: argparse.Namespace) -> GenerationOptions:
    from loopwright.generate.context import GenerationOptions
    from loopwright.model.schedule import LoopType

    limits = {"separate_from": arguments.separate_from, "max_unroll": arguments.max_unroll}
    return GenerationOptions(
        loop_type=LoopType(arguments.loop_type),
        separate_depth=arguments.separate_depth,
        single_upper_bound=arguments.upper_bound == "single",
        nested_bounds=not arguments.no_nested_bounds,
        split_bounds=arguments.split_bounds,
        dead_loops=arguments.dead_loops,
        max_statements=arguments.max_statements,
        **{name: value for name, value in limits.items() if value is not None},
    )


def _printed(arguments: argparse.Namespace, found: Generated) -> Printed:
    from loopwright.report.results import proof_lines as status_lines
    from loopwright.report.results import stats_text

    text = as_lines(_data(arguments, found)) if arguments.json else found.code
    stats = stats_text(found.stats) if arguments.stats else ""
    proofs = options.proof_lines((*found.remarks, *status_lines([found.proof])))
    return Printed(err=proofs + stats, files=((options.code_path(arguments), text.encode()),))


def _data(arguments: argparse.Namespace, found: Generated | None) -> dict[str, Any]:
    from loopwright.report.results import proof_data, prover_data

    return {
        "file": arguments.file,
        "verdict": "not proved" if arguments.no_prove else "proved",
        "code": found.code if found else None,
        "stats": asdict(found.stats) if found else None,
        "provers": prover_data(arguments.prover, found.remarks if found else ()),
        "proof": proof_data([found.proof]) if found else None,
        "diagnostics": [],
    }
