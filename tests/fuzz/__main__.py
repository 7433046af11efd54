"""Random attacks for a number of seconds; the exit status is 1 if one succeeds.

    python -m tests.fuzz --seconds 600 --seed 0
    python -m tests.fuzz --case transform:123

The cases of a kind are numbered, and a number always gives the same case.  What is found is printed with its
number, once for each symptom; `--case` runs one case again and shrinks it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace

from tests.fuzz.checks import Checked, check_case, small_check, wrong_checks
from tests.fuzz.hostile import hostile_case
from tests.fuzz.judge import Pair
from tests.fuzz.mutants import Mutant, mutants_of, mutated, small_mutant, wrong_mutants
from tests.fuzz.rewrites import rewrite_case, rewriting
from tests.fuzz.transforms import Case, Finding, case_of, small, symptom, wrong
from tests.fuzz.workers import Batch, batches

BATCH = 30
"""Cases that are compiled together."""
MUTANTS = 4
"""Of every accepted case."""
REWRITES = 3
"""Of every number."""
CHECKED = 4
"""One number of so many is for `check` too, which compiles and runs."""


@dataclass
class _Said:
    """What was said of the cases of a batch, which is judged at its end."""

    found: list[Finding] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    mutants: list[Mutant] = field(default_factory=list)
    checks: list[Checked] = field(default_factory=list)

    def add(self, one: Finding | Case | Mutant | Checked | None) -> None:
        match one:
            case Finding():
                self.found.append(one)
            case Case():
                self.cases.append(one)
            case Mutant():
                self.mutants.append(one)
            case Checked():
                self.checks.append(one)

    @property
    def wrong(self) -> list[Finding]:
        return self.found + wrong(self.cases) + wrong_mutants(self.mutants) + wrong_checks(self.checks)


def rounds(
    seed: int, count: int, outcomes: Counter[str], end: float | None = None, mutants_each: int = MUTANTS
) -> list[Finding]:
    """What `count` programs with their mutants, rewritings, and as many damaged files, show until `end`."""
    said = _Said()
    for number in range(seed, seed + count):
        if end is not None and time.monotonic() > end:
            break
        said.add(hostile_case(number, outcomes))
        for k in range(REWRITES):
            said.add(rewrite_case(number * REWRITES + k, outcomes))
        case = case_of(number, outcomes)
        said.add(case)
        if isinstance(case, Case):
            for one in mutants_of(case, mutants_each, outcomes):
                said.add(one)
        if number % CHECKED == 0:
            said.add(check_case(number, _to_check(number, case), outcomes))
    return said.wrong


def _to_check(number: int, case: Case | Finding | None) -> Pair:
    """What `check` is given: a changed text, or a rewriting."""
    if not isinstance(case, Case) or number // CHECKED % 2:
        return rewriting(number)
    return replace(case.pair, new=mutated(random.Random(f"check {number}"), case.new))


def again(kind: str, number: int) -> list[Finding]:
    """One case, shrunk where it is wrong."""
    outcomes: Counter[str] = Counter()
    match kind:
        case "hostile":
            found = [hostile_case(number, outcomes)]
        case "rewrite":
            pair = rewriting(number)
            print(pair.old, pair.new, sep="\n")
            one = rewrite_case(number, outcomes)
            found = [None if one is None else small_mutant(pair, one)]
        case "check":
            pair = _to_check(number, case_of(number, outcomes))
            print(pair.old, pair.new, sep="\n")
            said = check_case(number, pair, outcomes)
            found = [None if said is None else small_check(pair, said)]
        case _:
            found = _of_a_program(kind, number, outcomes)
    return [one for one in found if one is not None]


def _of_a_program(kind: str, number: int, outcomes: Counter[str]) -> list[Finding | None]:
    case = case_of(number if kind == "transform" else number // 100, outcomes)
    if isinstance(case, Case):
        print(case.program.text, *case.script, case.new, sep="\n")
    if kind == "transform":
        wrongs = [case] if isinstance(case, Finding) else wrong([case] if case else [])
        return [small(one) for one in wrongs]
    if not isinstance(case, Case):
        return []
    changed = mutants_of(case, number % 100 + 1, outcomes, first=number % 100)
    return [small_mutant(case.pair, one) for one in changed]


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
