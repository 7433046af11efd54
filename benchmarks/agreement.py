"""Compares isl and cvc5 on the same obligations.

    python -m benchmarks.agreement corpus|kernels [NAMES] [--seconds 1] [--file-seconds 20] [--every 1]

Of the corpus, the obligations of the loops generated for each file; of the kernels, those of the model
(Inv, Rank1 and Rank2), and of both programs' loops and legality for interchanges, skews, tilings and fusions.
Prints one line per file, then totals.  Exit status 1 if the two disagree on anything.  A file's time is
processor time; obligations left when it is over are reported.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.deciders import Isl
from benchmarks.proofs import CORPUS, ROOT, SUFFIXES, scripts
from loopwright.errors import BadInput, LoopwrightError
from loopwright.generate.program import generate
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.obligations.cvc5 import Cvc5
from loopwright.prove.obligations.formulas import Fails, Holds, NotDecided, Obligation
from loopwright.prove.obligations.legality import both_sides, transformation_obligations
from loopwright.prove.obligations.scanning import scanning_obligations
from loopwright.prove.text.ranking import ranking_obligations
from loopwright.read.c.reader import read_c
from loopwright.read.schedules import read_schedule
from loopwright.transform import to_schedule, transform

BATCH = 10


@dataclass(frozen=True)
class Count:
    """Obligations on which the provers agree, that cvc5 or isl left open, and on which they do not agree."""

    agreed: int = 0
    undecided: int = 0
    disagreed: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(
            self.agreed + other.agreed, self.undecided + other.undecided, self.disagreed + other.disagreed
        )


def of_file(path: Path) -> Iterator[Obligation]:
    schedule = read_schedule(path)
    return scanning_obligations(schedule, generate(schedule))


def of_kernel(path: Path) -> Iterator[Obligation]:
    """Of the model, and of every legal one of the small transformations."""
    for program in read_c(path):
        yield from ranking_obligations(program)
        for script in scripts(transform(program, "", "empty.lw")):
            try:
                plan = transform(program, script, "script.lw")
                if not prove_plan(plan).proved:
                    continue
                sides = both_sides(plan.original, plan.program, generate(to_schedule(plan)))
            except BadInput:
                continue
            yield from transformation_obligations(program, *sides)


def compared(obligations: Iterable[Obligation], seconds: float, file_seconds: float) -> tuple[Count, bool]:
    """What the two provers say, and whether all were asked for in the time there is."""
    left, total, start = iter(obligations), Count(), time.process_time()
    while batch := list(islice(left, BATCH)):
        if time.process_time() - start > file_seconds:
            return total, False
        answers = zip(batch, Isl().decide(batch), Cvc5(seconds).decide(batch), strict=True)
        for one, first, second in answers:
            match first, second:
                case (NotDecided(), _) | (_, NotDecided()):
                    total += Count(undecided=1)
                case (Holds(), Holds()) | (Fails(), Fails()):
                    total += Count(agreed=1)
                case _:
                    total += Count(disagreed=1)
                    print(f"DISAGREE {one.name}: {one.meaning}: isl {first}, cvc5 {second}", flush=True)
    return total, True


def main() -> int:
    parser = argparse.ArgumentParser(description="Whether isl and cvc5 agree.")
    parser.add_argument("what", choices=("corpus", "kernels"))
    parser.add_argument("names", nargs="*", help="only files with one of these in their name")
    parser.add_argument("--seconds", type=float, default=1.0, help="for cvc5 on one obligation")
    parser.add_argument("--file-seconds", type=float, default=20.0, help="for one file")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th file")
    arguments = parser.parse_args()
    corpus = arguments.what == "corpus"
    found = CORPUS.rglob("*") if corpus else (ROOT / "kernels").glob("*.c")
    files = [
        path
        for path in sorted(found)
        if (not corpus or path.suffix in SUFFIXES)
        and (not arguments.names or any(name in str(path) for name in arguments.names))
    ]
    if not files:
        sys.exit(f"nothing to compare; the corpus is looked for at {CORPUS}, or where LOOPWRIGHT_CORPUS says")
    total, whole, without = Count(), 0, 0
    for path in files[:: arguments.every]:
        try:
            obligations = of_file(path) if corpus else of_kernel(path)
            count, done = compared(obligations, arguments.seconds, arguments.file_seconds)
        except LoopwrightError as error:
            without += 1
            print(f"{path.name}: no obligations: {error.message}", flush=True)
            continue
        total, whole = total + count, whole + done
        print(f"{path.name}: {count}{'' if done else ', and more'}", flush=True)
    asked = total.agreed + total.undecided + total.disagreed
    print(f"{asked} obligations: {total}; all those of {whole} files; {without} files have none")
    return 1 if total.disagreed else 0


if __name__ == "__main__":
    sys.exit(main())
