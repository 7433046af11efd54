"""The kernels rewritten by their scripts, compared with what compilers achieve: `python -m benchmarks.speed`.

Every kernel is built as written by gcc, by clang and by clang with Polly, and as rewritten by its script
by gcc, all with -O3 -march=native, for one thread.  The programs run alternately; a figure is the speedup
over gcc's build of the original, by medians.  A compiler that is not installed is left out, with a message.
With --scripts FOLDER the scripts there take the place of the shipped ones: kernels/loopy has those of
[Namjoshi2016, appendix B].
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.run.benchmark import PROCESSOR_TIME, Kernel, kernels_named
from loopwright.run.compiler import FAST, Compiler, compile_c
from loopwright.run.timing import Times, geometric_mean, interleaved

BASE = "gcc"
OURS = "loopwright"
CLANGS = ("clang-22", "clang-19", "clang-18", "clang-17", "clang-16", "clang")
POLLY = ("-mllvm", "-polly")


@dataclass(frozen=True)
class Contestant:
    """Who builds a kernel, and from which text."""

    name: str
    compiler: Compiler
    flags: tuple[str, ...]
    rewritten: bool = False


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one run (120)")
    parser.add_argument("--scripts", type=Path, metavar="FOLDER", help="other scripts, of the same names")
    arguments = parser.parse_args(words)
    field = contestants()
    others = [one.name for one in field if one.name != BASE]
    sys.stdout.write(f"{'kernel':16}{'gcc s':>10}" + "".join(f"{name:>12}" for name in others) + "\n")
    ratios: dict[str, list[float]] = {name: [] for name in others}
    for kernel in by_scripts(kernels_named(arguments.kernels), arguments.scripts):
        times = measured(kernel, field, arguments.rounds, arguments.timeout)
        base = times[BASE].median
        line = f"{kernel.name:16}{base:10.4f}"
        for name in others:
            ratios[name].append(base / times[name].median)
            line += f"{ratios[name][-1]:12.2f}"
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    means = "".join(f"{geometric_mean(ratios[name]):12.2f}" for name in others)
    sys.stdout.write(f"{'geometric mean':26}{means}\n")
    sys.stdout.write(f"timed: built with {' '.join(FAST)}; results are compared by `loopwright bench`\n")
    return 0


def by_scripts(kernels: Sequence[Kernel], folder: Path | None) -> list[Kernel]:
    """The kernels with the scripts of a folder; those that it has none for are left out."""
    if folder is None:
        return list(kernels)
    found = [replace(one, script=folder / f"{one.name}.lw") for one in kernels]
    return [one for one in found if one.script.is_file()]


def contestants() -> tuple[Contestant, ...]:
    """Those that this machine has."""
    gcc = shutil.which("gcc")
    if gcc is None:
        raise SystemExit("there is no gcc on this machine: apt install gcc")
    found = [Contestant(BASE, Compiler(gcc), FAST), Contestant(OURS, Compiler(gcc), FAST, rewritten=True)]
    clang = next((path for name in CLANGS if (path := shutil.which(name))), None)
    if clang is None:
        sys.stderr.write("no clang on this machine: clang and Polly are left out (apt install clang-19)\n")
        return tuple(found)
    found.append(Contestant("clang", Compiler(clang), FAST))
    if _knows_polly(clang):
        found.append(Contestant("polly", Compiler(clang), (*FAST, *POLLY)))
    else:
        sys.stderr.write(f"{clang} was built without Polly: it is left out\n")
    return tuple(found)


def _knows_polly(clang: str) -> bool:
    command = [clang, *POLLY, "-x", "c", "-c", "-o", "/dev/null", "-"]
    return subprocess.run(command, input="", text=True, capture_output=True, check=False).returncode == 0


def measured(kernel: Kernel, field: tuple[Contestant, ...], rounds: int, timeout: float) -> dict[str, Times]:
    """One kernel, built by everybody and run in turns."""
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        rewritten = Path(folder) / f"{kernel.name}.c"
        command = [sys.executable, "-m", "loopwright", "transform", str(kernel.source), str(kernel.script)]
        subprocess.run([*command, "--no-prove", "-o", str(rewritten)], check=True, capture_output=True)
        commands = {}
        for one in field:
            source = rewritten if one.rewritten else kernel.source
            program = Path(folder) / one.name
            commands[one.name] = [str(compile_c(one.compiler, source, program, (*one.flags, PROCESSOR_TIME)))]
        return interleaved(commands, rounds=rounds, timeout=timeout)


if __name__ == "__main__":
    sys.exit(main())
