"""`loopwright bench [KERNEL...]`: the shipped scripts at work, proved, compared bit by bit and timed."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopwright.cli.diagnostics import as_json as diagnostic
from loopwright.cli.diagnostics import exit_code, show, verdict_word
from loopwright.cli.options import seconds
from loopwright.cli.outcome import failures_named, write_out
from loopwright.cli.progress import progress_line
from loopwright.errors import BadInput, Code, Illegal, InternalError, LoopwrightError
from loopwright.progress import Progress
from loopwright.source import Span

if TYPE_CHECKING:
    from loopwright.run.benchmark import Result
    from loopwright.run.compiler import Compiler
    from loopwright.run.shipped import Kernel

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

HEAD = f"{'kernel':<16}{'original':>12}{'transformed':>13}{'ratio':>9}  "


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "bench",
        help="time kernels against their scripts",
        description="Transform each kernel by the script beside it, with all proofs; compile original and "
        "result with gcc -O3 -march=native; compare the results of both bit by bit (built with "
        "-ffp-contract=off); run them in turns, and print the ratio of the medians.",
    )
    parser.set_defaults(run=bench)
    add = parser.add_argument
    add("kernels", metavar="KERNEL", nargs="*", help="names in kernels/, or C files; without any, all")
    add("--rounds", type=_rounds, default=5, metavar="N", help="runs of each program (5)")
    add("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="the longest a run may take (60)")
    add("-D", "--define", action="append", default=[], metavar="NAME=N", help="another size, as for gcc")
    add("--cc", "--compiler", default="gcc", metavar="COMPILER", help="the C compiler (gcc)")
    add("--wall-clock", action="store_true", help="time by the clock instead of by the processor's time")
    add("--no-prove", action="store_true", help="transform without proofs")
    add("--keep", metavar="FOLDER", help="leave the transformed files and programs there")
    add("--plot", default="loopwright-bench.png", metavar="PATH", help="the plot (loopwright-bench.png)")
    add("--no-plot", action="store_true", help="no plot")
    add("--json", action="store_true", help="the same for machines")


def _rounds(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= 10_000:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of rounds from 1 on")
    return number


def bench(arguments: argparse.Namespace) -> int:
    """Do what the command line says; the exit status."""
    results: list[Result] = []
    try:
        failures_named(lambda: _run(arguments, results))
        failures_named(lambda: _finish(arguments, results))
    except LoopwrightError as error:
        if arguments.json:
            write_out(json.dumps(_data(results, error), indent=2) + "\n")
        show(error, sys.stderr)
        return exit_code(error)
    return 0


def _run(arguments: argparse.Namespace, results: list[Result]) -> None:
    """Fill `results`; what was measured before a failure stays in it."""
    import tempfile

    from loopwright.run.compiler import find_compiler
    from loopwright.run.shipped import kernels_named

    compiler = find_compiler(arguments.cc)
    kernels = kernels_named(arguments.kernels)
    if not arguments.json:
        write_out(f"{HEAD}bits\n")
    with tempfile.TemporaryDirectory(prefix="loopwright-") as temporary:
        folder = Path(arguments.keep or temporary)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as failure:
            raise BadInput(Code.FILE, f"{folder} cannot be made: {failure.strerror}") from None
        for number, kernel in enumerate(kernels):
            with progress_line(sys.stderr) as progress:
                counted = _counted(progress, number, len(kernels))
                result = _benchmark(kernel, folder, compiler, arguments, counted)
            results.append(result)
            if not arguments.json:
                write_out(_line(result))


def _counted(progress: Progress, number: int, kernels: int) -> Progress:
    """The bar counts kernels, where there are several; how far one of them is does not move it."""

    def counted(doing: str, done: int = 0, total: int = 0) -> None:
        if kernels > 1:
            done, total = number, kernels
        progress(doing, done, total)

    return counted


def _benchmark(
    kernel: Kernel, folder: Path, compiler: Compiler, arguments: argparse.Namespace, progress: Progress
) -> Result:
    from loopwright.run.benchmark import compare_and_time

    new = folder / f"{kernel.name}.c"
    if new.resolve() == kernel.source.resolve():
        raise BadInput(Code.FILE, f"{new} is the kernel itself", hint="keep the results in another folder")
    new.write_bytes(_transformed(kernel, not arguments.no_prove, progress))
    try:
        return compare_and_time(
            kernel.name,
            kernel.source,
            new,
            folder,
            compiler,
            rounds=arguments.rounds,
            timeout=arguments.timeout,
            defines=[f"-D{text}" for text in arguments.define],
            wall_clock=arguments.wall_clock,
            progress=progress,
        )
    except BadInput as failure:
        if failure.span is not None and Path(failure.span.file) == new:
            message = f"the transformed {kernel.name}.c {failure.message}"
            raise InternalError(Code.OWN_MISTAKE, message, span=failure.span) from failure
        raise


def _transformed(kernel: Kernel, prove: bool, progress: Progress) -> bytes:
    """The kernel's file with its script applied, and proved."""
    from loopwright.rewrite.pipeline import transformed
    from loopwright.rewrite.request import Request

    file = str(kernel.script)
    try:
        script = kernel.script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise BadInput(
            Code.FILE, f"this script cannot be read: {failure}", span=Span.start_of(file)
        ) from None
    request = Request(file=str(kernel.source), script=script, script_file=file, prove=prove)

    def named(doing: str, done: int = 0, total: int = 0) -> None:
        progress(f"{kernel.name}: {doing}", done, total)

    return transformed(request, named).source.encode()


def _line(result: Result) -> str:
    bits = "the same" if result.difference is None else f"DIFFERENT: {result.difference}"
    spread = max(result.original.spread, result.transformed.spread)
    return (
        f"{result.name:<16}{result.original.median:>10.4f} s{result.transformed.median:>11.4f} s"
        f"{result.ratio:>9.2f}  {bits}, ±{100 * spread:.0f} %\n"
    )


def _finish(arguments: argparse.Namespace, results: list[Result]) -> None:
    """The mean, the plot, and the verdict."""
    from loopwright.run.timing import geometric_mean

    _refuse_differences(results)
    if arguments.json:
        write_out(json.dumps(_data(results, None), indent=2) + "\n")
    elif results:
        write_out(f"{'geometric mean':<41}{geometric_mean(result.ratio for result in results):>9.2f}\n")
    if results and not arguments.no_plot:
        _plot(results, Path(arguments.plot))


def _refuse_differences(results: list[Result]) -> None:
    different = [result for result in results if result.difference is not None]
    if different:
        names = ", ".join(result.name for result in different)
        witness = f"{different[0].name}, {different[0].difference}"
        raise Illegal(Code.RESULTS_DIFFER, f"the results differ: {names}", witness=witness)


def _plot(results: list[Result], path: Path) -> None:
    from loopwright.run.chart import can_draw, write_chart

    if not can_draw():
        sys.stderr.write("no plot: matplotlib is not installed (pip install matplotlib)\n")
        return
    try:
        write_chart(results, path)
    except (OSError, ValueError) as failure:
        raise BadInput(Code.FILE, f"the plot cannot be written to {path}: {failure}") from None
    sys.stderr.write(f"plot: {path}\n")


def _data(results: list[Result], error: LoopwrightError | None) -> dict[str, Any]:
    from loopwright.run.timing import geometric_mean

    return {
        "verdict": "done" if error is None else verdict_word(error),
        "kernels": [
            {
                "name": result.name,
                "ratio": result.ratio,
                "same_bits": result.difference is None,
                "original": list(result.original.seconds),
                "transformed": list(result.transformed.seconds),
            }
            for result in results
        ],
        "geometric_mean": geometric_mean(result.ratio for result in results) if results else None,
        "diagnostics": [] if error is None else [diagnostic(error, None)],
    }
