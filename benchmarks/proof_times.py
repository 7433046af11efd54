"""Whether proofs take longer than they did: `python -m benchmarks.proof_times [KERNEL ...]`.

What the whole proof of each shipped script takes, and of long scripts that `optimise` found, in
benchmarks/found: processor time, of programs it asks too, as a multiple of the time of some work with isl and
Python that is always the same and is measured before and after.  The multiples are compared with those in
benchmarks/proof_times.json; the exit status is 1 where one is more than TWICE as large.  --update writes the
file.

A search keeps a part of its budget for the proof: proofs that take longer are found in nothing else, since
`optimise` then gives a slower program that is proved in time.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import islpy as isl

from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.run.benchmark import kernel_folder
from loopwright.run.timing import geometric_mean

FOUND = Path(__file__).parent / "found"
KNOWN = Path(__file__).parent / "proof_times.json"
TWICE = 2.0
LEAST = 1.0
"""Multiples below this are compared as if they were this: the unit is about a tenth of a second."""


@dataclass(frozen=True)
class ProofTime:
    """A script, the multiple of the unit that its proof takes, and the one that it took."""

    name: str
    multiple: float
    before: float | None

    @property
    def ratio(self) -> float:
        return 1.0 if self.before is None else max(self.multiple, LEAST) / max(self.before, LEAST)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--update", action="store_true", help="keep what is measured")
    arguments = parser.parse_args(words)
    known: dict[str, float] = json.loads(KNOWN.read_text()) if KNOWN.is_file() else {}
    found = []
    multiple(*next(scripts(["trisolv"])))  # loads what all proofs need
    sys.stdout.write(f"{'script':24}{'units':>8}{'before':>8}{'ratio':>7}\n")
    for name, script in scripts(arguments.kernels):
        one = ProofTime(name, multiple(name, script), known.get(name))
        found.append(one)
        sys.stdout.write(line(one))
        sys.stdout.flush()
    slow = [one for one in found if one.ratio > TWICE]
    mean = geometric_mean([one.ratio for one in found])
    sys.stdout.write(f"{len(found)} proofs take {mean:.2f} times what they took; slower: {names_of(slow)}\n")
    if arguments.update:
        known |= {one.name: round(one.multiple, 2) for one in found}
        KNOWN.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
    return 1 if slow and not arguments.update else 0


def line(one: ProofTime) -> str:
    before = "-" if one.before is None else f"{one.before:.1f}"
    return f"{one.name:24}{one.multiple:8.1f}{before:>8}{one.ratio:7.2f}\n"


def names_of(some: Sequence[ProofTime]) -> str:
    return ", ".join(one.name for one in some) or "none"


def scripts(kernels: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The scripts, called as their kernels; those that were found have a word in front."""
    for folder, title in ((kernel_folder(), ""), (FOUND, "found ")):
        for path in sorted(folder.glob("*.lw")):
            if not kernels or path.stem in kernels:
                yield f"{title}{path.stem}", path.read_text()


def multiple(name: str, script: str) -> float:
    """How many times as long as the unit the proof of a script takes."""
    file = kernel_folder() / f"{name.rpartition(' ')[2]}.c"
    before = unit()
    start = processor_time()
    outcome = transformed(Request(file=str(file), script=script), silent)
    spent = processor_time() - start
    assert outcome.source.text != file.read_text()
    return spent / min(before, unit())


def processor_time() -> float:
    """That of this process and of programs it has asked."""
    own, asked = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + asked.ru_utime


def unit() -> float:
    """The processor time of some work of the kind that proofs are: relations, and values of Python."""
    start = processor_time()
    tiles = isl.Map("[n] -> { [i, j, k] -> [a, b, c, i, j, k] : a = i//32 and b = j//32 and c = k//32 }")
    box = isl.Set("[n] -> { [i, j, k] : 0 <= i < n and i <= j < n and 0 <= k <= j }")
    before = isl.Map("[n] -> { [i, j, k] -> [i, j, l] : l > k; [i, j, k] -> [p, j, k] : p > i }")
    for _ in range(24):
        order = before.intersect_domain(box).intersect_range(box)
        times = order.apply_domain(tiles).apply_range(tiles)
        assert not times.is_empty()
        wrong = times.intersect(isl.Map.lex_gt(times.space.domain()))
        assert wrong.subtract(times).is_empty()
        sum(len(str(value)) for value in range(20_000))
    return processor_time() - start


if __name__ == "__main__":
    sys.exit(main())
