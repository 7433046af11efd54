"""What MLIR's affine passes did to the kernels, judged: `loopwright prove` before and after each pass.

    python -m benchmarks.mlir [--opt mlir-opt-22] [--only NAME ...] [--passes NAME ...] [--limit SECONDS]

Each kernel is written as MLIR (`extract --mlir`), for every size, and with numbers in place of the sizes
where a pass does nothing otherwise.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from loopwright.errors import GaveUp, Illegal, LoopwrightError
from loopwright.progress import silent
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from loopwright.report.mlir_text import mlir_text

ROOT = Path(__file__).parent.parent
PASSES = {
    "loop-tile": ("affine-loop-tile{tile-size=4}", False),
    "loop-fusion": ("affine-loop-fusion", False),
    "loop-fusion-fixed": ("affine-loop-fusion", True),
    "loop-unroll": ("affine-loop-unroll{unroll-factor=4}", False),
    "loop-unroll-jam": ("affine-loop-unroll-jam{unroll-jam-factor=2}", False),
    "scalrep": ("affine-scalrep", False),
    "licm": ("affine-loop-invariant-code-motion", False),
    "normalize": ("affine-loop-normalize", False),
    "coalescing": ("affine-loop-coalescing,canonicalize", True),
    "parallelize": ("affine-parallelize", False),
    "data-copy": ("affine-data-copy-generate{generate-dma=false fast-mem-space=0}", True),
    "super-vectorize": ("affine-super-vectorize{virtual-vector-size=4}", True),
}  # fmt: skip
"""By name: the pass with its options, and whether sizes are numbers."""
NOTHING = "unchanged"


@dataclass(frozen=True)
class Judged:
    """One kernel after one pass: the answer, its processor time, what was said."""

    answer: str
    seconds: float
    said: str


def texts(kernel: Path, *, fixed: bool) -> str:
    """The regions of a kernel as MLIR; with numbers for sizes, which differ from each other."""
    if not fixed:
        return mlir_text(read_c(kernel))
    names = dict.fromkeys(name for program in read_c(kernel) for name in program.params)
    sizes = [f"{name} == {3 if 'STEP' in name else 8 + k}" for k, name in enumerate(names)]
    return mlir_text(read_c(kernel, ReadOptions(assume=tuple(sizes))))


def optimised(opt: str, before: Path, after: Path, pipeline: str) -> str | None:
    """What mlir-opt says where it fails; otherwise the file is written."""
    command = [opt, str(before), f"-pass-pipeline=builtin.module(func.func({pipeline}))", "-o", str(after)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else (done.stderr.splitlines() or ["failed"])[0]


def _prove(old: str, new: str, limit: int, answer: Connection) -> None:
    from loopwright.prove.comparison.files import agreement

    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    started = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    try:
        agreement(old, new, progress=silent)
        found = ("proved", "")
    except Illegal as wrong:
        found = ("refuted", f"{wrong.message}; {wrong.witness}")
    except GaveUp as undecided:
        said = undecided.message
        found = ("not modelled" if said.startswith("not modelled") else "undecided", said)
    except LoopwrightError as other:
        found = ("bad input", other.message)
    answer.send((*found, resource.getrusage(resource.RUSAGE_SELF).ru_utime - started))


def judged(old: Path, new: Path, limit: int) -> Judged:
    """The answer of `prove`, in a process of its own that may run so many seconds."""
    mine, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_prove, args=(str(old), str(new), limit, theirs)
    )
    process.start()
    theirs.close()
    try:
        answer, said, seconds = mine.recv()
    except EOFError:
        process.join()
        if process.exitcode not in (-signal.SIGXCPU, -signal.SIGKILL):
            return Judged("crashed", 0.0, f"its process ended with {process.exitcode}")
        return Judged("undecided", float(limit), f"more than {limit} s")
    process.join()
    return Judged(answer, seconds, said)


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; the exit status says whether nothing was left undecided."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = [os.environ.get("MLIR_OPT", ""), "mlir-opt-22", "mlir-opt"]
    parser.add_argument("--opt", default=next((one for one in known if one and shutil.which(one)), ""))
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--passes", nargs="*", default=list(PASSES), metavar="NAME")
    parser.add_argument("--limit", type=int, default=30)
    arguments = parser.parse_args(words)
    if not arguments.opt:
        print("mlir-opt is not installed: apt-get install mlir-22-tools")
        return 2
    import loopwright.prove.mlir.comparison  # noqa: F401  (once, before the processes)

    found: list[Judged] = []
    with tempfile.TemporaryDirectory() as folder:
        for kernel in sorted((ROOT / "kernels").glob("*.c")):
            if arguments.only and kernel.stem not in arguments.only:
                continue
            for name in arguments.passes:
                found.append(one := _case(kernel, name, Path(folder), arguments))
                shown = f"{kernel.stem:16} {name:18} {one.answer:12} {one.seconds:6.2f} s  {one.said[:150]}"
                print(shown, flush=True)
    counts = Counter(one.answer for one in found)
    times = sorted(one.seconds for one in found if one.answer not in (NOTHING, "mlir-opt failed"))
    print(f"{len(found)} cases: {', '.join(f'{count} {answer}' for answer, count in counts.items())}")
    if times:
        print(f"median {statistics.median(times):.2f} s, worst {times[-1]:.2f} s")
    return 0 if counts["undecided"] == counts["crashed"] == 0 else 1


def _case(kernel: Path, name: str, folder: Path, arguments: argparse.Namespace) -> Judged:
    pipeline, fixed = PASSES[name]
    before, plain = folder / f"{kernel.stem}.{fixed}.mlir", folder / f"{kernel.stem}.{fixed}.same.mlir"
    after = folder / f"{kernel.stem}.{name}.mlir"
    try:
        if not before.exists():
            before.write_text(texts(kernel, fixed=fixed))
            subprocess.run([arguments.opt, str(before), "-o", str(plain)], check=True)
    except LoopwrightError as wrong:
        return Judged("no MLIR", 0.0, wrong.message)
    failure = optimised(arguments.opt, before, after, pipeline)
    if failure is not None:
        return Judged("mlir-opt failed", 0.0, failure)
    if after.read_text() == plain.read_text():
        return Judged(NOTHING, 0.0, "")
    return judged(before, after, arguments.limit)


if __name__ == "__main__":
    sys.exit(main())
