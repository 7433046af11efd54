"""Kernels on a GPU: `python -m benchmarks.gpu`, checked against the CPU, then timed.

    --make FOLDER   transform and prove all programs; writes them there, and needs no GPU
    --run FOLDER    compile, check and time what is there; needs nvcc, gcc and a GPU, nothing of Loopwright
    (neither)       both, in a temporary folder

Checked is a small size, compiled without contraction on both sides: the same bits.  Timed is nvcc's
default, by events around the kernels, minimum of 5 calls; the time of a whole call, copies included, is
beside it, and for what is no stencil the rate of the build without contraction.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.gpu_programs import OPTIONS, STENCILS, TABLE, Program, programs

CALLS = 6
"""The first one of a process is not timed."""

DRIVER = """\
#define main author_main
#include "{file}"
#undef main
#include <time.h>

int main(int argc, char **argv)
{{
  (void)author_main;
  for (int call = 0; call < (argc > 1 ? atoi(argv[1]) : 1); call++) {{
    struct timespec from, to;
    initialise();
    clock_gettime(CLOCK_MONOTONIC, &from);
    kernel();
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec);
    fprintf(stderr, "call %.9f s\\n", seconds + 1e-9 * (double)(to.tv_nsec - from.tv_nsec));
  }}
  if (argc < 2)
    printf("%016llx\\n", (unsigned long long)checksum());
  return 0;
}}
"""


def make(folder: Path, only: str, *, prove: bool) -> None:
    """Each program with its kernels, proved, in a folder of its own."""
    names = [program.name for program in programs() if only in program.name]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for told in pool.map(partial(_made, folder, prove=prove), names):
            print(told, flush=True)


def _made(folder: Path, name: str, *, prove: bool) -> str:
    from loopwright.progress import silent
    from loopwright.rewrite.pipeline import transformed
    from loopwright.rewrite.request import Request, TargetName

    program = next(one for one in programs() if one.name == name)
    prove = prove and program.prove
    here = folder / name
    here.mkdir(parents=True, exist_ok=True)
    file = here / "program.c"
    file.write_text(program.source)
    request = Request(str(file), program.script, "script.lw", target=TargetName.CUDA, prove=prove)
    outcome = transformed(request, silent)
    assert outcome.kernels is not None
    (here / "kernels.cu").write_text(outcome.kernels.text)
    (here / "program.host.c").write_text(outcome.source.text)
    for variant, driven in (("old", "program.c"), ("new", "program.host.c")):
        (here / f"{variant}.c").write_text(DRIVER.format(file=driven).replace("#define main", LIBRARY, 1))
    if not prove:
        return f"{name}: made, not proved"
    proved = sum(proof.obligations for proof in outcome.regions[0].proofs)
    return f"{name}: proved, {proved} obligations"


LIBRARY = "#define _POSIX_C_SOURCE 199309L\n#include <stdlib.h>\n#define main"
C = ("gcc", "-std=c11", "-O2", "-w")
CUDA = ("nvcc", "-O3", "-arch=sm_90")


def compiled(folder: Path, program: Program) -> None:
    """All builds: `old` and `new`, small and with every operation rounded, then `new` of each size."""
    exact = ("-ffp-contract=off", *program.small)
    command(folder, *C, *exact, "old.c", "-lm", "-o", "old.exact")
    command(folder, *C, *exact, "-c", "new.c", "-o", "new.exact.o")
    command(folder, *CUDA, "-fmad=false", "kernels.cu", "new.exact.o", "-lm", "-o", "new.exact")
    command(folder, *CUDA, "-c", "kernels.cu", "-o", "kernels.o")
    for k, options in enumerate(program.large):
        command(folder, *C, *options, "-c", "new.c", "-o", f"new.{k}.o")
        command(folder, *CUDA, f"new.{k}.o", "kernels.o", "-lm", "-o", f"new.{k}")
        if program.unit != STENCILS:
            command(folder, *CUDA, "-fmad=false", f"new.{k}.o", "kernels.cu", "-lm", "-o", f"new.{k}.rounded")


def command(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {**os.environ, **environment}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=known)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done


@dataclass(frozen=True)
class Result:
    """Seconds in the kernels and in a whole call, the least of the timed ones."""

    program: str
    options: tuple[str, ...]
    kernels: float
    call: float
    rate: float
    unit: str
    rounded: float | None = None
    """The rate where every operation is rounded."""


def measured(folder: Path, program: Program, size: int) -> Result:
    found = _timed(folder, program, size, f"./new.{size}")
    if program.unit == STENCILS:
        return found
    return replace(found, rounded=_timed(folder, program, size, f"./new.{size}.rounded").rate)


def _timed(folder: Path, program: Program, size: int, build: str) -> Result:
    options = program.large[size]
    told = command(folder, build, str(CALLS), LOOPWRIGHT_CUDA_TIME="1").stderr
    kernels = [float(one) for one in re.findall(r"kernels ([0-9.]+) s", told)][1:]
    calls = [float(one) for one in re.findall(r"call ([0-9.]+) s", told)][1:]
    if len(kernels) != CALLS - 1:
        raise SystemExit(f"{program.name} did not run on the device: {told[-500:]}")
    seconds = min(kernels)
    rate = program.work(options) / seconds / 1e9
    return Result(program.name, options, seconds, min(calls), rate, program.unit)


def check(folder: Path, program: Program) -> bool:
    """Whether the device, and the original loops where there is none, leave the bits that the CPU leaves."""
    expected = command(folder, "./old.exact").stdout
    device = command(folder, "./new.exact", LOOPWRIGHT_CUDA_TIME="1")
    without = command(folder, "./new.exact", CUDA_VISIBLE_DEVICES="").stdout
    return "kernels" in device.stderr and device.stdout == without == expected


def run(folder: Path, only: str, results: Path | None) -> int:
    """The table; the exit status is 1 if a result is wrong."""
    wrong = 0
    found: list[Result] = []
    known = [one for one in programs() if only in one.name and (folder / one.name / "new.c").exists()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        builds = {one.name: pool.submit(compiled, folder / one.name, one) for one in known}
        for build in builds.values():
            build.result()
    for program in known:
        same = check(folder / program.name, program)
        wrong += not same
        for number, options in enumerate(program.large):
            one = measured(folder / program.name, program, number)
            found.append(one)
            bits = "same bits" if same else "DIFFERENT"
            size = " ".join(options).replace("-D", "")
            rounded = "" if one.rounded is None else f"  rounded {one.rounded:.1f}"
            print(
                f"{one.program:68} {size:24}{one.kernels * 1e3:10.3f} ms {one.call * 1e3:10.1f} ms"
                f"{one.rate:10.1f} {one.unit}  {bits}{rounded}",
                flush=True,
            )
            if results is not None:
                results.write_text(json.dumps([asdict(each) for each in found], indent=1))
    print(*gains(found), sep="\n")
    return int(wrong > 0)


def gains(results: list[Result]) -> Iterator[str]:
    """What all options of Table I gain over none, beside what they gained elsewhere."""
    rates = {(one.program, one.options): one.rate for one in results}
    for kind, ppcg, paper in (("2d", 4.0, 13.9), ("3d", 1.4, 4.0)):
        tiles = f"heat-{kind}-float-{TABLE[f'{kind}-float'][0].name}"
        for (name, options), rate in rates.items():
            best = rates.get((f"{tiles}-{'-'.join(OPTIONS)}", options))
            if name == f"{tiles}-none" and best is not None:
                yield (
                    f"Table I, {kind}: all options gain {best / rate:.2f}; "
                    f"PPCG's gain {ppcg} on an H200, and {paper} in the paper"
                )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--make", type=Path, metavar="FOLDER")
    parser.add_argument("--run", type=Path, metavar="FOLDER")
    parser.add_argument("--only", default="", metavar="NAME", help="programs whose names contain this")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the figures there, as JSON")
    parser.add_argument("--unproved", action="store_true", help="make programs without proofs")
    arguments = parser.parse_args()
    if arguments.make is not None or arguments.run is not None:
        if arguments.make is not None:
            make(arguments.make, arguments.only, prove=not arguments.unproved)
        return run(arguments.run, arguments.only, arguments.results) if arguments.run is not None else 0
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), arguments.only, prove=not arguments.unproved)
        return run(Path(folder), arguments.only, arguments.results)


if __name__ == "__main__":
    sys.exit(main())
