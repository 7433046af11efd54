"""What checking costs: `python -m benchmarks.check [KERNEL ...]`.

For every kernel, at its own size and compiled by gcc -O3: the plain program, the checked program,
and the checks in the place of the operations, which is how paper 004 measures (section 6.4).  Times
are processor time in the region, the least of several runs; `bytes` is the shadow of a cell.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import geometric_mean

from loopwright.check.execute import Toolchain, compile_program, workspace
from loopwright.check.segment import read_input
from loopwright.check.verify import Job, Options, delayed, prepared
from loopwright.check.writers import Writers, writers
from loopwright.errors import Code, GaveUp

KERNELS = Path(__file__).parents[1] / "kernels"
CLOCK = "-DCLOCK=CLOCK_PROCESS_CPUTIME_ID"


@dataclass(frozen=True)
class Row:
    kernel: str
    plain: float
    checked: float
    only_checks: float | None
    bytes: int


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args(words)
    names = arguments.kernels or sorted(path.stem for path in KERNELS.glob("*.c"))
    heads = f"{'plain s':>10}{'checked':>10}{'ratio':>8}{'checks':>10}{'ratio':>8}{'bytes':>7}"
    sys.stdout.write(f"{'kernel':16}{heads}\n")
    rows = []
    for name in names:
        rows.append(_measured(name, arguments.runs))
        sys.stdout.write(_line(rows[-1]))
        sys.stdout.flush()
    with_program = geometric_mean([row.checked / row.plain for row in rows])
    alone = [row.only_checks / row.plain for row in rows if row.only_checks is not None]
    means = f"with the program {with_program:.2f}, checks alone {geometric_mean(alone):.2f}"
    sys.stdout.write(f"geometric mean: {means}\n")
    return 0


def _line(row: Row) -> str:
    text = f"{row.kernel:16}{row.plain:10.4f}{row.checked:10.4f}{row.checked / row.plain:8.2f}"
    if row.only_checks is None:
        return f"{text}{'-':>10}{'-':>8}{row.bytes:7}\n"
    return f"{text}{row.only_checks:10.4f}{row.only_checks / row.plain:8.2f}{row.bytes:7}\n"


def _measured(name: str, runs: int) -> Row:
    path = KERNELS / f"{name}.c"
    options = Options(tools=Toolchain(options=(CLOCK,)))
    job = prepared(read_input(path, path), options)
    found = writers(job.spec)
    with workspace() as folder:
        plain = folder / "plain"
        subprocess.run(["gcc", "-O3", "-w", CLOCK, str(path), "-o", str(plain), "-lm"], check=True)
        base = _seconds(plain, runs)
    checked = _checked(job, found, options, runs)
    try:
        alone: float | None = _checked(job, found, replace(options, only_checks=True), runs)
    except GaveUp:
        alone = None
    return Row(name, base, checked, alone, max(_sizes(job).values()))


def _sizes(job: Job) -> dict[str, int]:
    from loopwright.check.codes import codes

    return codes(job.spec).size


def _checked(job: Job, found: Writers, options: Options, runs: int) -> float:
    built = delayed(job, found, options)
    if built is None:
        raise GaveUp(Code.ALGORITHM, "codes do not apply")
    with workspace() as folder:
        program = compile_program(job.tools, built, folder, job.given.segment.source)
        return _seconds(program, runs, report=folder / "report")


def _seconds(program: Path, runs: int, report: Path | None = None) -> float:
    """The least time; a checked run must say "clean"."""
    environment = {} if report is None else {"LOOPWRIGHT_REPORT": str(report)}
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
