"""What `loopwright tune` finds for the kernels by itself: `python -m benchmarks.tuning [KERNEL...]`.

One line for each kernel: the speedup by the script that was found, the number of programs that were run,
and the script.  All results are proved.
"""

from __future__ import annotations

import argparse
import sys

from loopwright.run.shipped import kernels_named
from loopwright.run.timing import geometric_mean
from loopwright.tune.tuning import tune_file


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of search for each (60)")
    arguments = parser.parse_args(words)
    ratios: list[float] = []
    sys.stdout.write(f"{'kernel':16}{'ratio':>8}{'programs':>10}  script\n")
    for kernel in kernels_named(arguments.kernels):
        found = tune_file(kernel.source, budget=arguments.budget)
        ratios.append(found.ratio)
        script = "; ".join(map(str, found.steps))
        sys.stdout.write(f"{kernel.name:16}{found.ratio:8.2f}{found.tried:10}  {script or '(as it is)'}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{'geometric mean':16}{geometric_mean(ratios):8.2f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
