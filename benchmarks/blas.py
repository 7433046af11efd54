"""Compares kernels of BLAS and LAPACK with OpenBLAS on one core: textbook tiling, as scripts.

The scripts are those of `blas_scripts`, for the caches and vectors of this machine; every one is proved.
Times are processor times, the least of several runs in a process, so that memory is mapped for both; the two
sides alternate on one core, with contraction on for both.

    python -m benchmarks.blas [--rounds N] [--jobs N] [--limit S] [--only gemm,syrk] [--tiles 8,24,176,744]
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.blas_scripts import MOST_ON_STACK, REASSOCIATED, TileSizes, scripts
from loopwright.optimise.model.machine import PROCESSOR, Machine, this_machine

REPEATED = """\
#define main one_run
#include "{name}.c"
#undef main
int main(void)
{{
  double least = 1e9;
  for (int r = 0; r < {runs}; r++) {{
    initialise();
    double start = now();
    kernel();
    double seconds = now() - start;
    least = seconds < least ? seconds : least;
  }}
  printf("%.9f\\n", least);
  return 0;
}}
"""
RUNS = 3
"""The program of a kernel, run several times."""

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
FLAGS = ("-O3", "-march=native", "-fopenmp-simd", "-w", "-DCLOCK=CLOCK_PROCESS_CPUTIME_ID")
WIDE, WIDEST = "-mprefer-vector-width=512", 64
"""Compilers choose narrower vectors by themselves; OpenBLAS does not."""


def sizes_for(machine: Machine) -> TileSizes:
    """Two or three vectors a row, and as many rows as leave registers for a row of the panel and two more.

    A panel is half as large again as the first cache, where it saves loading and storing sums; the block has
    three eighths of the second cache.
    """
    lanes = machine.vector // 8
    vectors = 4 if lanes == 2 else 3 if machine.registers >= 32 else 2
    columns = vectors * lanes
    most = (machine.registers - vectors - 2) // vectors
    rows = max(one for one in range(1, most + 1) if columns % one == 0)
    depth = max(MOST_ON_STACK // columns + 1, machine.caches[0].size * 3 // 2 // 8 // columns) // 8 * 8 + 8
    block = machine.caches[1].size * 3 // 8 // 8 // depth // columns * columns
    return TileSizes(rows, columns, depth, max(block, columns))


class Library:
    """OpenBLAS, one thread; the one that numpy brings has other names and wider integers."""

    def __init__(self, path: str, *, bundled: bool) -> None:
        self.library = ctypes.CDLL(path)
        self.before, self.after = ("scipy_", "64_") if bundled else ("", "")
        self.integer = ctypes.c_int64 if bundled else ctypes.c_int
        self.function("openblas_set_num_threads")(1)
        core = self.function("openblas_get_corename")
        core.restype = ctypes.c_char_p
        self.core = core().decode()

    def function(self, name: str) -> Any:
        return getattr(self.library, f"{self.before}{name}{self.after}")

    def call(self, name: str, *arguments: Any) -> None:
        """Numbers that are no integers are doubles; arrays are pointers."""
        kinds = {int: self.integer, float: ctypes.c_double}
        self.function(name)(*(kinds[type(one)](one) if type(one) in kinds else one for one in arguments))


def openblas(given: str | None) -> Library | None:
    """The one that is given, the system's, or the one that numpy brings, which has other names."""
    if given is not None:
        return Library(given, bundled="scipy" in Path(given).name)
    name = ctypes.util.find_library("openblas")
    if name is not None:
        return Library(name, bundled=False)
    spec = find_spec("numpy")
    folder = Path() if spec is None or spec.origin is None else Path(spec.origin).parent.parent / "numpy.libs"
    paths = sorted(folder.glob("*openblas*.so*"))
    return Library(str(paths[0]), bundled=True) if paths else None


ROWS, PLAIN, TRANSPOSED, LOWER, UNIT, LEFT = 101, 111, 112, 122, 132, 141


def routines(library: Library) -> dict[str, Callable[..., Callable[[], None]]]:
    """For the sizes of a kernel by their names, a call that computes what the kernel does."""

    def gemm(m: int, n: int, k: int) -> Callable[[], None]:
        a, b, c = matrix(m, k), matrix(k, n), matrix(m, n)
        return lambda: library.call("cblas_dgemm", ROWS, PLAIN, PLAIN, m, n, k, 1.5, a, k, b, n, 1.2, c, n)

    def in_turn(*calls: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            for one in calls:
                one()

        return run

    def update(name: str, count: int) -> Callable[..., Callable[[], None]]:
        def made(M: int, N: int) -> Callable[[], None]:
            c = matrix(N, N)
            given = [part for _ in range(count) for part in (matrix(N, M), M)]
            return lambda: library.call(name, ROWS, LOWER, PLAIN, N, M, 1.5, *given, 1.2, c, N)

        return made

    def symm(M: int, N: int) -> Callable[[], None]:
        a, b, c = matrix(M, M), matrix(M, N), matrix(M, N)
        return lambda: library.call("cblas_dsymm", ROWS, LEFT, LOWER, M, N, 1.5, a, M, b, N, 1.2, c, N)

    def trmm(M: int, N: int) -> Callable[[], None]:
        a, b = matrix(M, M), matrix(M, N)
        return lambda: library.call("cblas_dtrmm", ROWS, LEFT, LOWER, TRANSPOSED, UNIT, M, N, 1.5, a, M, b, N)

    def factor(name: str, *, pivots: bool) -> Callable[..., Callable[[], None]]:
        def made(N: int) -> Callable[[], None]:
            a = matrix(N, N)
            by = ctypes.byref
            n, info, rows = library.integer(N), library.integer(0), (library.integer * N)()

            def run() -> None:
                for k in range(N):  # a diagonal that dominates: every run factors a matrix that can be
                    a[k * N + k] = 4.0 * N
                if pivots:
                    library.function(name)(by(n), by(n), a, by(n), rows, by(info))
                else:
                    library.function(name)(by(ctypes.c_char(b"L")), by(n), a, by(n), by(info))

            return run

        return made

    return {
        "gemm": lambda NI, NJ, NK: gemm(NI, NJ, NK),
        "2mm": lambda NI, NJ, NK, NL: in_turn(gemm(NI, NJ, NK), gemm(NI, NL, NJ)),
        "3mm": lambda NI, NJ, NK, NL, NM: in_turn(gemm(NI, NJ, NK), gemm(NJ, NL, NM), gemm(NI, NL, NJ)),
        "syrk": update("cblas_dsyrk", 1),
        "syr2k": update("cblas_dsyr2k", 2),
        "symm": symm,
        "trmm": trmm,
        "lu": factor("dgetrf_", pivots=True),
        "cholesky": factor("dpotrf_", pivots=False),
    }


OPERATIONS: dict[str, Callable[..., float]] = {
    "gemm": lambda NI, NJ, NK: 2.0 * NI * NJ * NK,
    "2mm": lambda NI, NJ, NK, NL: 2.0 * NI * NJ * (NK + NL),
    "3mm": lambda NI, NJ, NK, NL, NM: 2.0 * NJ * (NI * NK + NL * NM + NI * NL),
    "syrk": lambda M, N: 1.0 * M * N * (N + 1),
    "syr2k": lambda M, N: 2.0 * M * N * (N + 1),
    "symm": lambda M, N: 2.0 * M * M * N,
    "trmm": lambda M, N: 1.0 * M * M * N,
    "lu": lambda N: 2.0 / 3 * N**3,
    "cholesky": lambda N: 1.0 / 3 * N**3,
}
"""Additions and multiplications of each."""


def matrix(rows: int, columns: int) -> ctypes.Array[ctypes.c_double]:
    found = (ctypes.c_double * (rows * columns))()
    found[:] = [(k * 7919 % 1021) / 1021 for k in range(rows * columns)]
    return found


def sizes_of(kernel: str) -> dict[str, int]:
    """The sizes that the file defines."""
    text = (KERNELS / f"{kernel}.c").read_text()
    return {name: int(value) for name, value in re.findall(r"^#define (N\w?|M) (\d+)$", text, re.MULTILINE)}


def compiled(kernel: str, script: str, folder: Path, given: tuple[tuple[str, ...], int, bool]) -> Path | str:
    """The program that the script makes, proved and compiled; in words, why there is none.

    `given` are the compiler's flags, the seconds for a proof, and whether there is one.
    """
    flags, limit, proved = given
    (folder / f"{kernel}.lw").write_text(script)
    new, program, repeated = folder / f"{kernel}.c", folder / kernel, folder / f"{kernel}_repeated.c"
    repeated.write_text(REPEATED.format(name=kernel, runs=RUNS))
    words = [str(KERNELS / f"{kernel}.c"), str(folder / f"{kernel}.lw"), "--openmp", "-o", str(new)]
    words += ["--allow-reassociation"] if kernel in REASSOCIATED else []
    command = [sys.executable, "-m", "loopwright", "transform", *words, *([] if proved else ["--no-prove"])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"not proved within {limit} s"
    if done.returncode != 0:
        return (done.stderr.strip() or done.stdout.strip()).splitlines()[0]
    subprocess.run(["gcc", *FLAGS, *flags, "-o", str(program), str(repeated), "-lm"], check=True)
    return program


def seconds_of(program: Path) -> float:
    return float(subprocess.run([program], capture_output=True, text=True, check=True).stdout)


def timed(call: Callable[[], None]) -> float:
    found: list[float] = []
    for _ in range(RUNS):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="scripts that are proved at the same time")
    parser.add_argument("--limit", type=int, default=900, help="seconds for the proof of a script")
    parser.add_argument("--no-prove", action="store_true", help="to try tiles: nothing is proved")
    parser.add_argument("--only", default=",".join(OPERATIONS))
    parser.add_argument("--tiles", help="rows,columns,depth,block")
    parser.add_argument("--library", help="libopenblas.so, or numpy's libscipy_openblas64_.so")
    arguments = parser.parse_args()
    machine = this_machine()
    if "avx512f" in PROCESSOR.read_text():
        machine = replace(machine, vector=WIDEST)
    sizes = TileSizes(*map(int, arguments.tiles.split(","))) if arguments.tiles else sizes_for(machine)
    flags = (WIDE,) if machine.vector == WIDEST else ()
    library = openblas(arguments.library)
    core = f"OpenBLAS for {library.core}" if library else "no OpenBLAS: apt install libopenblas0-pthread"
    print(f"{machine}; {core}; {sizes}{'; not proved' if arguments.no_prove else ''}")
    print(f"{'kernel':10} {'GFLOP/s':>8} {'OpenBLAS':>9} {'share':>6}")
    names = arguments.only.split(",")
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(arguments.jobs) as pool:
        made, given = (
            scripts(sizes, {one: sizes_of(one) for one in OPERATIONS}),
            (flags, arguments.limit, not arguments.no_prove),
        )
        jobs = {pool.submit(compiled, one, made[one], Path(name), given): one for one in names}
        wait(jobs)  # what is proved at the same time would slow down what is timed
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        for job, kernel in jobs.items():
            program = job.result()
            shown = program if isinstance(program, str) else rates(kernel, program, library, arguments.rounds)
            remark = "  (sums in another order)" if kernel in REASSOCIATED else ""
            print(f"{kernel:10} {shown}{remark}", flush=True)
    return 0


def rates(kernel: str, program: Path, library: Library | None, rounds: int) -> str:
    """GFLOP/s of both, and what share of the second the first is."""
    sizes = sizes_of(kernel)
    operations = OPERATIONS[kernel](**sizes) * 1e-9
    if library is None:
        return f"{operations / min(seconds_of(program) for _ in range(rounds)):8.1f}"
    call = routines(library)[kernel](**sizes)
    pairs = [(seconds_of(program), timed(call)) for _ in range(rounds)]
    mine, theirs = (operations / min(one) for one in zip(*pairs, strict=True))
    return f"{mine:8.1f} {theirs:9.1f} {100 * mine / theirs:5.0f}%"


if __name__ == "__main__":
    sys.exit(main())
