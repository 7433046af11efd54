"""`loopwright transform FILE [SCRIPT]`: the loops of a C file rewritten, proved, then written."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from loopwright.cli import options
from loopwright.cli.frame import Invocation, Printed, as_lines, asked
from loopwright.errors import BadInput, Code
from loopwright.source import STANDARD, Span

if TYPE_CHECKING:
    from loopwright.progress import Progress
    from loopwright.rewrite.request import Outcome


EXAMPLE = ("loopwright transform kernel.c script.lw", "apply a script and prove the result")


def add_to(verbs: options.Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "transform",
        help="rewrite the loops of a C file with a script, and prove it",
        description="Apply a script to the regions between '#pragma scop' and '#pragma endscop'. Before "
        "anything is written, three things are proved: the script preserves every dependence, the loops "
        "execute the schedule, and so does the new source when read back. Regions that the script does not "
        "name stay as they are; without a script, the loops of all regions are regenerated in their original "
        "order.",
    )
    parser.set_defaults(invocation=transform)
    add = parser.add_argument
    add("file", metavar="FILE", help="a C file, or - for standard input")
    options.add_script(parser, "the order is unchanged")
    add(
        "--apply-directives",
        action="store_true",
        help="replace the OpenMP loop transformation directives in FILE (tile, stripe, interchange, reverse, "
        "unroll, fuse, split) with the loops they request",
    )
    written = parser.add_argument_group("output")
    target = written.add_mutually_exclusive_group()
    target.add_argument("-o", "--output", metavar="PATH", help="write to this file, not to standard output")
    target.add_argument("--in-place", action="store_true", help="replace FILE once the result is proved")
    options.add_openmp(written.add_argument)
    written.add_argument(
        "--target",
        choices=("c", "openmp", "cuda"),
        help="C, C with OpenMP (same as --openmp), or CUDA, which writes kernels to -o FILE.cu and the C "
        "file that launches them to FILE.host.c",
    )
    text = "test unproved assumptions at run time and run the original loops if one fails"
    written.add_argument("--guard", action="store_true", help=text)
    text = "print the region after each operation to standard error"
    written.add_argument("--step", action="store_true", help=text)
    text = "print code, proofs, assumptions and diagnostics as JSON"
    written.add_argument("--json", action="store_true", help=text)
    options.add_sarif(written.add_argument)
    proof = parser.add_argument_group("the proof").add_argument
    options.add_reassociation(proof)
    options.add_prover_options(proof)
    proof("--no-prove", action="store_true", help="skip the proofs")
    options.add_time_limits(parser.add_argument_group(options.LIMITS).add_argument)
    options.add_reading_options(parser)


def transform(arguments: argparse.Namespace) -> Invocation[Outcome]:
    prepare = options.coq_library(arguments.prover)
    return asked(arguments, _transformed, _printed, {"code": None, "regions": []}, prepare=prepare)


def _transformed(arguments: argparse.Namespace, progress: Progress) -> Outcome:
    from loopwright.rewrite.pipeline import transformed
    from loopwright.rewrite.request import TargetName

    _refuse_overwriting(arguments)
    _refuse_two_scripts(arguments)
    _settle_target(arguments)
    request = options.request_of(
        arguments,
        target=TargetName.CUDA if arguments.target == "cuda" else TargetName.C,
        directives=arguments.apply_directives,
        guard=arguments.guard,
        prove=not arguments.no_prove,
        steps=arguments.step,
        prover=options.prover_request(arguments),
    )
    return transformed(request, progress)


def _refuse_two_scripts(arguments: argparse.Namespace) -> None:
    if arguments.apply_directives and (arguments.script is not None or arguments.lines):
        message = "--apply-directives and a script exclude each other"
        raise BadInput(Code.OPTION, message, span=Span.start_of(arguments.file))


def _settle_target(arguments: argparse.Namespace) -> None:
    """--target openmp is --openmp; --target cuda writes two files, whose names -o or --in-place give."""
    start = Span.start_of(arguments.file)
    if arguments.target is None:
        return
    if arguments.openmp and arguments.target != "openmp":
        message = f"--openmp and --target {arguments.target} exclude each other"
        raise BadInput(Code.OPTION, message, span=start)
    arguments.openmp = arguments.target == "openmp"
    if arguments.target != "cuda":
        return
    if arguments.prover == "coq":
        raise BadInput(Code.OPTION, "--prover coq writes no kernels", span=start, hint="leave --prover out")
    if not arguments.in_place and not (arguments.output or "").endswith(".cu"):
        hint = "the C file that launches the kernels is written to FILE.host.c, or to FILE with --in-place"
        raise BadInput(Code.OPTION, "CUDA output needs a file name: -o FILE.cu", span=start, hint=hint)


def _refuse_overwriting(arguments: argparse.Namespace) -> None:
    """The input is replaced only by --in-place."""
    output = arguments.output
    if arguments.in_place and arguments.file == STANDARD:
        raise BadInput(Code.OPTION, "--in-place replaces a file, and this is standard input")
    if output is None or not os.path.exists(output):
        return
    for name in (arguments.file, arguments.script):
        if name is not None and os.path.exists(name) and os.path.samefile(name, output):
            message, hint = "this is the input itself", "--in-place replaces the C file"
            raise BadInput(Code.FILE, message, span=Span.start_of(output), hint=hint)


def _printed(arguments: argparse.Namespace, outcome: Outcome) -> Printed:
    from loopwright.report.results import outcome_data, outcome_text

    proved = not arguments.no_prove
    steps = "".join(f"after {text}\n{region}\n" for text, region in outcome.steps)
    err = (
        steps
        + outcome_text(outcome, outcome.source.path, proved=proved)
        + options.proof_lines(outcome.remarks)
    )
    target = arguments.file if arguments.in_place else options.code_path(arguments)
    code = outcome.source.encode()
    files: tuple[tuple[str, bytes], ...] = ((target, code),)
    if outcome.kernels is not None:
        stem = arguments.file.removesuffix(".c") if arguments.in_place else target.removesuffix(".cu")
        host = target if arguments.in_place else f"{stem}.host.c"
        files = ((f"{stem}.cu", outcome.kernels.encode()), (host, code))
    if not arguments.json:
        return Printed(err=err, files=files)
    data = outcome_data(outcome, arguments.file, proved=proved, prover=arguments.prover)
    return Printed(as_lines(data), err, () if target == STANDARD else files)
