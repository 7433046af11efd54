"""`loopwright bench [KERNEL...]`: the shipped scripts at work, proved, compared bit by bit and timed."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopwright.cli.frame import Invocation, Printed, as_lines, progress_line
from loopwright.cli.options import Verbs, integer, seconds
from loopwright.cli.output import write_out
from loopwright.errors import BadInput, Code, Illegal
from loopwright.progress import Progress

if TYPE_CHECKING:
    from loopwright.run.benchmark import Result


EXAMPLE = ("loopwright bench gemm", "time a kernel against its script")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "bench",
        help="time kernels against their scripts",
        description="Transform each kernel with the script beside it, with all proofs; compile the original "
        "and the result with gcc -O3 -march=native; compare their output bit by bit (built with "
        "-ffp-contract=off); run them alternately and print the ratio of the medians.",
        epilog="A C file needs a script beside it, FILE.lw, and a main with two options: --time prints only "
        "the seconds spent in the region; --dump writes the bytes of the results to standard "
        "output. kernels/gemm.c is an example.",
    )
    parser.set_defaults(invocation=bench)
    add = parser.add_argument
    add("kernels", metavar="KERNEL", nargs="*", help="names in kernels/, or C files (default: all kernels)")
    add("--rounds", type=integer(1, 10_000), default=5, metavar="N", help="runs of each program (5)")
    add("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="time limit of one run (60)")
    add("-D", "--define", action="append", default=[], metavar="NAME=N", help="set a size, as for gcc")
    add("--cc", "--compiler", default="gcc", metavar="COMPILER", help="the C compiler (gcc)")
    add("--wall-clock", action="store_true", help="measure wall-clock time instead of processor time")
    add("--no-prove", action="store_true", help="transform without proofs")
    add("--keep", metavar="FOLDER", help="keep the transformed files and programs in this folder")
    add("--plot", metavar="PATH", help="plot the ratios to this PNG or SVG file")
    add("--no-plot", action="store_true", help=argparse.SUPPRESS)
    add("--json", action="store_true", help="print JSON")


def bench(arguments: argparse.Namespace) -> Invocation[None]:
    """What was measured before a failure is in the JSON of the failure."""
    results: list[Result] = []
    return Invocation(
        work=lambda progress: _run(arguments, results),
        render=lambda _: _printed(arguments, results),
        failed=(lambda: _data(results)) if arguments.json else None,
    )


def _data(results: list[Result]) -> dict[str, Any]:
    from loopwright.report.results import bench_data

    return bench_data(results)


def _run(arguments: argparse.Namespace, results: list[Result]) -> None:
    """Fill `results`, and print each as soon as it is there; the progress line is off while it is printed."""
    from loopwright.report.results import BENCH_HEAD, bench_line
    from loopwright.run.benchmark import TimingOptions, benchmarked, kernels_named
    from loopwright.run.compiler import find_compiler

    defines = tuple(f"-D{text}" for text in arguments.define)
    options = TimingOptions(
        find_compiler(arguments.cc), arguments.rounds, arguments.timeout, defines, arguments.wall_clock
    )
    kernels = kernels_named(arguments.kernels)
    if not arguments.json:
        write_out(BENCH_HEAD)
    with tempfile.TemporaryDirectory(prefix="loopwright-") as temporary:
        folder = _folder(arguments.keep or temporary)
        for number, kernel in enumerate(kernels):
            with progress_line(sys.stderr) as progress:
                counted = _counted(progress, number, len(kernels))
                result = benchmarked(kernel, folder, options, prove=not arguments.no_prove, progress=counted)
            results.append(result)
            if not arguments.json:
                write_out(bench_line(result))
    _refuse_differences(results)
    if results and arguments.plot is not None:
        _plot(results, Path(arguments.plot))


def _folder(path: str) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise BadInput(Code.FILE, f"{folder} cannot be made: {failure.strerror}") from None
    return folder


def _counted(progress: Progress, number: int, kernels: int) -> Progress:
    """The bar counts kernels, where there are several; how far one of them is does not move it."""

    def counted(doing: str, done: int = 0, total: int = 0) -> None:
        if kernels > 1:
            done, total = number, kernels
        progress(doing, done, total)

    return counted


def _refuse_differences(results: list[Result]) -> None:
    different = [result for result in results if result.difference is not None]
    if different:
        names = ", ".join(result.name for result in different)
        witness = f"{different[0].name}, {different[0].difference}"
        raise Illegal(Code.RESULTS_DIFFER, f"the results differ: {names}", witness=witness)


def _plot(results: list[Result], path: Path) -> None:
    from loopwright.run.benchmark import can_draw, write_chart

    if not can_draw():
        return
    try:
        write_chart(results, path)
    except (OSError, ValueError) as failure:
        raise BadInput(Code.FILE, f"the plot cannot be written to {path}: {failure}") from None


def _printed(arguments: argparse.Namespace, results: list[Result]) -> Printed:
    """The mean, and where the plot is."""
    from loopwright.run.benchmark import can_draw
    from loopwright.run.compiler import EXACT, FAST
    from loopwright.run.timing import geometric_mean

    plot = "" if not results or arguments.plot is None else f"plot: {arguments.plot}\n"
    if plot and not can_draw():
        plot = "no plot: matplotlib is not installed (pip install matplotlib)\n"
    if results:
        plot = f"timed: built with {' '.join(FAST)}; compared: built with {' '.join(EXACT)}\n{plot}"
    if arguments.json:
        return Printed(as_lines(_data(results)), plot)
    mean = geometric_mean(result.ratio for result in results) if results else 0.0
    return Printed(f"{'geometric mean':<41}{mean:>9.2f}\n" if results else "", plot)
