"""Random attacks for a number of seconds; the exit status is 1 if one succeeds.

    python -m tests.fuzz --seconds 600 --seed 0
    python -m tests.fuzz --case transform:123

The cases of a kind are numbered, and a number always gives the same case.  What is found is printed with its
number, once for each symptom; `--case` runs one case again and shrinks it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.fuzz.hostile import hostile_case
from tests.fuzz.mutants import Mutant, checked, mutants_of, small_mutant, wrong_mutants
from tests.fuzz.rewrites import rewrite_case, rewriting
from tests.fuzz.transforms import Case, Finding, case_of, small, symptom, wrong
from tests.fuzz.workers import Batch, batches

BATCH = 30
"""Cases that are compiled together."""
MUTANTS = 4
"""Of every accepted case."""
REWRITES = 3
"""Of every number."""


def rounds(
    seed: int, count: int, outcomes: Counter[str], end: float | None = None, mutants_each: int = MUTANTS
) -> list[Finding]:
    """What `count` programs with their mutants, and as many damaged files, show until `end`."""
    found: list[Finding] = []
    cases: list[Case] = []
    mutants: list[Mutant] = []
    for number in range(seed, seed + count):
        if end is not None and time.monotonic() > end:
            break
        told: list[Finding | None] = [hostile_case(number, outcomes)]
        for one in (rewrite_case(number * REWRITES + k, outcomes) for k in range(REWRITES)):
            if isinstance(one, Mutant):
                mutants.append(one)
            else:
                told.append(one)
        match case_of(number, outcomes):
            case Case() as case:
                cases.append(case)
                for one in mutants_of(case, mutants_each, outcomes):
                    if isinstance(one, Mutant):
                        mutants.append(one)
                    else:
                        told.append(one)
                if number % 10 == 0:
                    told.append(checked(case, 0, outcomes))
            case failure:
                told.append(failure)
        found += [one for one in told if one is not None]
    return found + wrong(cases) + wrong_mutants(mutants)


def again(kind: str, number: int) -> list[Finding]:
    """One case, shrunk where it is wrong."""
    outcomes: Counter[str] = Counter()
    found: list[Finding | None] = []
    if kind == "hostile":
        found = [hostile_case(number, outcomes)]
    elif kind == "rewrite":
        pair, one = rewriting(number), rewrite_case(number, outcomes)
        print(pair.old, pair.new, sep="\n")
        found = [None if one is None else small_mutant(pair, one)]
    else:
        case = case_of(number if kind == "transform" else number // 100, outcomes)
        if isinstance(case, Case):
            print(case.program.text, *case.script, case.new, sep="\n")
        if kind == "transform":
            wrongs = [case] if isinstance(case, Finding) else wrong([case] if case else [])
            found = [small(one) for one in wrongs]
        elif isinstance(case, Case) and kind == "mutant":
            changed = mutants_of(case, number % 100 + 1, outcomes, first=number % 100)
            found = [small_mutant(case.pair, one) for one in changed]
        elif isinstance(case, Case):
            found = [checked(case, number % 100, outcomes)]
    return [one for one in found if one is not None]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--case", help="KIND:NUMBER: transform, mutant, rewrite, check or hostile")
    arguments = parser.parse_args()
    if arguments.case:
        kind, _, number = arguments.case.partition(":")
        found = again(kind, int(number))
        print(*found, sep="\n")
        return 1 if found else 0
    end = time.monotonic() + arguments.seconds
    outcomes: Counter[str] = Counter()
    seen: set[str] = set()

    def judge(first: int) -> Batch:
        told: Counter[str] = Counter()
        return rounds(first, BATCH, told, end), told

    rounds(arguments.seed, 1, Counter())  # what is loaded and asked of compilers once is there when forking
    for found, told in batches(judge, arguments.seed, BATCH, arguments.jobs, end):
        outcomes += told
        for one in found:
            if symptom(one) not in seen:
                print(one, flush=True)
            seen.add(symptom(one))
    print(", ".join(f"{count} {what}" for what, count in outcomes.most_common()))
    print(f"{outcomes.total() - outcomes['late']} cases, {outcomes['late']} late, {len(seen)} symptoms")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
