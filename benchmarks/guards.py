"""What guards cost: each test at run time by itself, beside the run of the function that it stands in.

Two texts with and without a guard differ in the code that a compiler makes of their loops by more than the
guard costs, in either direction.  So the guard is timed alone:

    the function with a guard      if (guard) { new loops } else { loops as they were }
    the guard alone                if (guard) taken = 1; else taken = 2;
    a call alone                   taken = 1;

Cost = (guard alone - call alone) / function.  The three are called in turn from one program through pointers
that the compiler does not follow.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from loopwright.c.file import c_file
from loopwright.c.guard import guard_of
from loopwright.errors import LoopwrightError
from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.run.benchmark import kernel_folder
from loopwright.source import Source
from tests.pipeline.test_guard import FUNCTIONS, text_of

SIZES = {1: (1000, 100_000), 2: (100, 1000)}
"""Elements of a dimension, where arrays have so many."""
LONGEST = {"global array": 1000}
"""Of an array that has its size in the file."""
GIVEN = {"a": "0.5", "o": "0", "t": "2", "incx": "1", "incy": "1"}
"""What is passed for parameters that are no sizes; steps of time are two."""
LIMIT = 1.0
"""Per cent of the run, at the larger size."""

_MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
volatile int taken;
@texts@
static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static double timed(void (*volatile called)(@parameters@), long times@declared@)
{
  double start = now();
  for (long k = 0; k < times; k++)
    called(@arguments@);
  return 1e9 * (now() - start) / times;
}
int main(void)
{
  void (*all[3])(@parameters@) = {whole, alone, empty};
  double best[3] = {1e30, 1e30, 1e30};
@made@
  size = @size@;
  taken = 0;
  alone(@arguments@);
  int is_taken = taken == 1;
  for (int round = 0; round < @rounds@; round++)
    for (int k = 0; k < 3; k++) {
      long times = 1;
      double found;
      do {
        times *= 4;
        found = timed(all[k], times@passed@);
      } while (times * found < @enough@);
      best[k] = found < best[k] ? found : best[k];
    }
  printf("%d %.3f %.3f %.3f\n", is_taken, best[0], best[1], best[2]);
}
"""


def sizes_of(name: str) -> tuple[int, int]:
    """The sizes to time a function at: a short run, and one of a tenth of a millisecond or more."""
    _, body = FUNCTIONS[name]
    small, large = SIZES[2 if " j " in body else 1]
    return small, min(large, LONGEST.get(name, large))


def program(name: str, size: int, rounds: int) -> str:
    """One C file that times a function, its guard and an empty call."""
    parameters, body = FUNCTIONS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.c")
        path.write_text(text_of(parameters, body))
        found = transformed(Request(file=str(path), guard=True), silent)
    assert found.regions[0].assumptions == (), f"{name} is left with assumptions"
    source = Source("f.c", found.source.text)
    (region,) = c_file(source).regions
    guard = guard_of(source, region)
    assert guard is not None
    chosen = [
        (guard.inner.start, guard.inner.end, "taken = 1;"),
        (guard.other.start, guard.other.end, "taken = 2;"),
    ]
    texts = {
        "whole": source.text,
        "alone": source.edited(chosen).text,
        "empty": source.edited([(region.place.start, region.place.end, "\ntaken = 1;\n")]).text,
    }
    head, _ = source.text.split("void f(", 1)
    functions = [text.split("void f(", 1)[1] for text in texts.values()]
    static = "__attribute__((noinline)) static void"
    bodies = [f"{static} {one}({text}" for one, text in zip(texts, functions, strict=True)]
    return _filled(parameters, head + "\n".join(bodies), size, rounds)


def _filled(parameters: str, texts: str, size: int, rounds: int) -> str:
    made, arguments, passed = [], [], []
    for number, one in enumerate(parameters.split(", ")):
        name = "".join(part if part.isalnum() else " " for part in one.split("[")[0].split(")")[0]).split()[
            -1
        ]
        if "*" in one or "[" in one:
            made.append(f"  void *p{number} = calloc({size}L * {min(size, 1000)} + 64, 8);")
            arguments.append(f"p{number}")
            passed.append(f"void *p{number}")
        else:
            arguments.append(GIVEN.get(name, str(size)))
    values = {
        "texts": texts,
        "parameters": parameters,
        "declared": "".join(f", {one}" for one in passed),
        "passed": "".join(f", {one.split('*')[1]}" for one in passed),
        "arguments": ", ".join(arguments),
        "made": "\n".join(made),
        "size": str(size),
        "rounds": str(rounds),
        "enough": "2e6",
    }
    text = _MAIN
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def measured(name: str, size: int, rounds: int, compiler: str) -> tuple[bool, float, float]:
    """Whether the guard holds, nanoseconds of a call of the function, and of its guard."""
    with tempfile.TemporaryDirectory() as folder:
        path, program_file = Path(folder, "p.c"), Path(folder, "p")
        path.write_text(program(name, size, rounds))
        flags = ["-O3", "-march=native", "-w"]
        subprocess.run([compiler, *flags, str(path), "-o", str(program_file)], check=True)
        done = subprocess.run([str(program_file)], check=True, capture_output=True, text=True)
    taken, whole, alone, empty = done.stdout.split()
    return taken == "1", float(whole), max(0.0, float(alone) - float(empty))


def kernels_with_guards() -> tuple[list[str], list[str]]:
    """The kernels that get a guard, and those that are left with assumptions."""
    guards, left = [], []
    for path in sorted(kernel_folder().glob("*.c")):
        found = transformed(Request(file=str(path), guard=True), silent)
        if any(one.assumptions for one in found.regions):
            left.append(path.stem)
        source = Source(str(path), found.source.text)
        if any(guard_of(source, region) is not None for region in c_file(source).regions):
            guards.append(path.stem)
    return guards, left


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--kernels", action="store_true", help="transform the kernels with --guard, too")
    options = parser.parse_args()
    worst = 0.0
    print(f"{options.compiler} -O3 -march=native, the least of {options.rounds} rounds")
    for name in FUNCTIONS:
        words = [f"{name:22}"]
        for size in sizes_of(name):
            try:
                taken, whole, guard = measured(name, size, options.rounds, options.compiler)
            except (LoopwrightError, subprocess.CalledProcessError) as failure:
                sys.exit(f"{name}: {failure}")
            share = 100 * guard / whole
            worst = max(worst, share) if size == sizes_of(name)[-1] else worst
            told = "" if taken else " (does not hold)"
            words.append(f"n = {size}: guard {guard:6.2f} ns of {whole:12.1f} ns, {share:6.3f} %{told}")
        print("   ".join(words), flush=True)
    print(f"worst at the larger size: {worst:.3f} % (at most {LIMIT} asked)")
    if options.kernels:
        guards, left = kernels_with_guards()
        print(f"kernels with a guard: {', '.join(guards) or 'none'}")
        print(f"kernels with assumptions left: {', '.join(left) or 'none'}")
    sys.exit(0 if worst < LIMIT else 1)


if __name__ == "__main__":
    main()
