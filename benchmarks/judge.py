"""What a loop optimiser printed, judged: `loopwright prove` on Pluto's versions of the kernels.

    python -m benchmarks.judge [--peers FOLDER] [--only NAME ...] [--limit SECONDS] [--jobs J]

For each file its answer and the processor time of the whole command.  Right is `proved` for all but the
miscompilations in `WRONG`, which have to be refused with a witness.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent
PEERS = Path(os.environ.get("LOOPWRIGHT_PEERS", ROOT.parent / "shared" / "peers" / "pluto"))
WRONG = frozenset(
    {"adi.tile", "adi.tile1", "adi.par", "deriche.tile", "deriche.tile1", "deriche.par", "nussinov.par"}
)
"""Miscompilations of Pluto 0.13, which running confirms: adi and deriche tiled, a race in nussinov."""
ANSWERS = {0: "proved", 1: "refused", 3: "undecided"}


@dataclass(frozen=True)
class Judged:
    """One file: the answer, and what it cost."""

    name: str
    answer: str
    seconds: float
    said: str

    @property
    def is_right(self) -> bool:
        return self.answer == ("refused" if self.name in WRONG else "proved")


def judged(file: Path, limit: float) -> Judged:
    """`loopwright prove` of a kernel and what became of it."""
    old = ROOT / "kernels" / f"{file.name.split('.')[0]}.c"
    limits = ["--timeout", str(limit), "--wall-timeout", str(100 * limit)]
    command = [sys.executable, "-m", "loopwright", "prove", str(old), str(file), *limits]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
        said.seek(0)
        lines = [line.rstrip() for line in said if "could not" in line or "witness" in line]
    answer = ANSWERS.get(code, f"exit {code}")
    return Judged(file.stem, answer, used.ru_utime + used.ru_stime, lines[0] if lines else "")


def main() -> int:
    """Print the table; the exit status says whether all answers are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, default=PEERS)
    parser.add_argument("--only", nargs="*", default=[""], metavar="NAME")
    parser.add_argument("--limit", type=float, default=30.0)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    files = [
        file
        for file in sorted(arguments.peers.glob("*.c"))
        if any(one in file.name for one in arguments.only)
    ]
    found: list[Judged] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for one in pool.map(partial(judged, limit=arguments.limit), files):
            found.append(one)
            mark = " " if one.is_right else "!"
            print(f"{mark} {one.name:24} {one.answer:10} {one.seconds:6.2f} s  {one.said[:100]}", flush=True)
    if not found:
        print(f"no C files in {arguments.peers}")
        return 1
    times = sorted(one.seconds for one in found)
    counts = Counter(one.answer for one in found)
    print(f"{len(found)} files: {', '.join(f'{count} {answer}' for answer, count in counts.items())}")
    right = sum(one.is_right for one in found)
    print(f"right: {right}; median {statistics.median(times):.2f} s, worst {times[-1]:.2f} s")
    return 0 if all(one.is_right for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
