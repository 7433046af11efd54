"""What checking costs: `python -m benchmarks.check [--part PART] [KERNEL ...]`.

Compiled by gcc -O3: the plain program, the checked program, and the checks in the place of the
operations, which is how [Bao2016, section 6.4] measures.  Times are processor time in the region,
the least of several runs; `bytes` is the shadow of a cell.  Parts:

    written     every kernel as it is written, at its own size
    script      every kernel as its script rewrites it
    tiled       every kernel tiled by script, skewed where it has to be [Bao2016, figure 9, fixed tiling]
    unrolled    every kernel with its innermost loops unrolled
    parametric  kernels rewritten by hand with tiles of a size known at run time [Bao2016, figure 10]
    sizes       lu, fixed and parametric tiles, across problem sizes [Bao2016, figure 11]
    small       [Bao2016, table 11]: milliseconds of a whole check at a small size
    recursive   the programs that `benchmarks.recursion` judges [Bao2016, tables 8 to 10, figure 12]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import geometric_mean

from loopwright.check.algorithms.codes import codes
from loopwright.check.original.writers import Writers, writers
from loopwright.check.program.segment import parse_input
from loopwright.check.run.execute import Toolchain, compile_program, workspace
from loopwright.check.run.judged import Job
from loopwright.check.verify import CheckOptions, delayed, prepared
from loopwright.errors import GaveUp
from loopwright.source import Source
from tests.check.handwritten import PARAMETRIC
from tests.check.support import NAMES, everywhere, kernel, rewritten, shipped_script
from tests.check.tiled import tiling

CLOCK = "-DCLOCK=CLOCK_PROCESS_CPUTIME_ID"
TILE = 32
TILES = (16, 32, 32, 64)
"""From the outside in: time first, where there is time."""
RECURSIVE = Path(__file__).parent / "programs" / "recursive"
PAPER = {
    "written": "",
    "script": "",
    "tiled": "[Bao2016, figure 9]: a plot without numbers; optimised checks alone are said to be below 1",
    "unrolled": "",
    "parametric": "[Bao2016, figure 10]: a plot without numbers; checks alone are said to be below 1",
    "sizes": "[Bao2016, figure 11]: a plot without numbers; figure 12 is of reg_detect, no kernel here",
    "recursive": "[Bao2016, figure 12]: reg_detect is a plot without numbers; the others have no times there",
    "small": "[Bao2016, table 11], ms: covariance 0.005, tiled 0.030; fdtd-2d 0.047, tiled 0.071; "
    "jacobi-2d 0.027, tiled 0.037; seidel-2d 0.031, tiled 0.032; its problem sizes are not given",
}
SMALL = {
    "covariance": {"M": 16, "N": 16},
    "fdtd-2d": {"TMAX": 4, "NX": 16, "NY": 16},
    "jacobi-2d": {"TSTEPS": 4, "N": 16},
    "seidel-2d": {"TSTEPS": 4, "N": 16},
}


@dataclass(frozen=True)
class Case:
    """A program to measure: a version of a kernel at some size."""

    title: str
    kernel: str
    text: str
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class Row:
    title: str
    plain: float
    checked: float
    only_checks: float | None
    bytes: int


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--part", choices=tuple(PARTS), action="append")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args(words)
    for part in arguments.part or PARTS:
        _measure(part, [one for one in PARTS[part]() if _wanted(one, arguments.kernels)], arguments.runs)
    return 0


def _wanted(case: Case, names: list[str]) -> bool:
    return not names or case.kernel in names or case.title in names


def _measure(part: str, cases: Iterable[Case], runs: int) -> None:
    heads = f"{'plain ms':>11}{'checked':>10}{'ratio':>7}{'checks':>10}{'ratio':>7}{'bytes':>6}"
    sys.stdout.write(f"{part + ':':26}{heads}\n")
    rows = []
    for case in cases:
        rows.append(_measured(case, runs))
        sys.stdout.write(_line(rows[-1]))
        sys.stdout.flush()
    if rows and part != "small":  # where fixed costs are all there is
        alone = [row.only_checks / row.plain for row in rows if row.only_checks is not None]
        checks = f"{geometric_mean(alone):.2f}" if alone else "-"
        with_program = geometric_mean([row.checked / row.plain for row in rows])
        sys.stdout.write(f"geometric mean: with the program {with_program:.2f}, checks alone {checks}\n")
    sys.stdout.write(f"{PAPER[part]}\n\n" if PAPER[part] else "\n")


def _line(row: Row) -> str:
    ratio = row.checked / row.plain
    text = f"{row.title:26}{1e3 * row.plain:11.3f}{1e3 * row.checked:10.3f}{ratio:7.2f}"
    if row.only_checks is None:
        return f"{text}{'-':>10}{'-':>7}{row.bytes:6}\n"
    return f"{text}{1e3 * row.only_checks:10.3f}{row.only_checks / row.plain:7.2f}{row.bytes:6}\n"


def _written() -> list[Case]:
    return [Case(name, name, kernel(name).read_text(), {}) for name in NAMES]


def _by_script(names: Iterable[str] = NAMES, sizes: Mapping[str, int] | None = None) -> list[Case]:
    scripts = [(name, script) for name in names if (script := shipped_script(name)) is not None]
    return [Case(f"{name}, script", name, rewritten(name, script), sizes or {}) for name, script in scripts]


def _tiled(names: Iterable[str] = NAMES) -> list[Case]:
    return [Case(f"{name}, tiled", name, rewritten(name, tiling(name, TILES)), {}) for name in names]


def _unrolled() -> list[Case]:
    return [Case(f"{name}, unrolled", name, everywhere(name, "unroll", 4)[0], {}) for name in NAMES]


def _parametric() -> list[Case]:
    return [
        Case(f"{one.kernel}, parametric", one.kernel, one.text.replace("return 3;", f"return {TILE};"), {})
        for one in PARAMETRIC
    ]


def _across_sizes() -> list[Case]:
    found = []
    for size in (250, 500, 750, 1000):
        parametric = [one for one in _parametric() if one.kernel == "lu"]
        versions = [*_by_script(("lu",)), *_tiled(("lu",)), *parametric]
        found += [replace(one, title=f"{one.title}, N = {size}", sizes={"N": size}) for one in versions]
    return found


def _small() -> list[Case]:
    found = []
    for name, sizes in SMALL.items():
        found.append(Case(name, name, kernel(name).read_text(), sizes))
        found += _by_script((name,), sizes)
    return found


def _recursive() -> list[Case]:
    return [Case(path.stem, "", path.read_text(), {}) for path in sorted(RECURSIVE.glob("*.c"))]


PARTS: dict[str, Callable[[], list[Case]]] = {
    "written": _written,
    "script": _by_script,
    "tiled": _tiled,
    "unrolled": _unrolled,
    "parametric": _parametric,
    "sizes": _across_sizes,
    "small": _small,
    "recursive": _recursive,
}


def _measured(case: Case, runs: int) -> Row:
    path = kernel(case.kernel) if case.kernel else None
    options = CheckOptions(dict(case.sizes), tools=Toolchain(options=(CLOCK,)))
    job = prepared(parse_input(Source(str(path or f"{case.title}.c"), case.text), path), options)
    found = writers(job.spec)
    with workspace() as folder:
        plain, source = folder / "plain", folder / "plain.c"
        source.write_text(case.text)
        sizes = [f"-D{name}={number}" for name, number in case.sizes.items()]
        command = ["gcc", "-O3", "-w", "-fopenmp", CLOCK, *sizes, str(source), "-o", str(plain), "-lm"]
        subprocess.run(command, check=True)
        base = _seconds(plain, runs)
    checked = _checked(job, found, options, runs)
    try:
        alone: float | None = _checked(job, found, replace(options, only_checks=True), runs)
    except GaveUp:
        alone = None
    return Row(case.title, base, checked, alone, max(codes(job.spec).size.values()))


def _checked(job: Job, found: Writers, options: CheckOptions, runs: int) -> float:
    built = delayed(job, found, options)
    with workspace() as folder:
        program = compile_program(job.tools, built, folder, job.given.segment.source)
        return _seconds(program, runs, report=folder / "report")


def _seconds(program: Path, runs: int, report: Path | None = None) -> float:
    """The least time; a checked run must say "clean"."""
    environment = {"OMP_NUM_THREADS": "1"}
    environment |= {} if report is None else {"LOOPWRIGHT_REPORT": str(report)}
    times = []
    for _ in range(runs):
        done = subprocess.run(
            [str(program), "--time"], capture_output=True, text=True, check=True, env=environment
        )
        times.append(float(done.stdout))
    if report is not None and "dirty" in report.read_text():
        raise AssertionError(f"{program} is not clean")
    return min(times)


if __name__ == "__main__":
    sys.exit(main())
