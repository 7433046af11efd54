"""Runs random attacks for a number of seconds; the exit status is 1 if one succeeds.

    python -m tests.fuzz --seconds 600 --seed 0
    python -m tests.fuzz --case transform:123

The cases of a kind are numbered, and a number always gives the same case.  Findings are printed with their
numbers, once for each symptom; `--case` runs one case again and shrinks it.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.fuzz.affine_cases import affine_case, wrong_affine
from tests.fuzz.affine_pairs import affine_pair
from tests.fuzz.checks import Checked, small_check, wrong_check
from tests.fuzz.directed import directed_pair, directive_case, small_directive, wrong_directive
from tests.fuzz.findings import Finding
from tests.fuzz.hostile import hostile_case
from tests.fuzz.judge import Judgement, Pair, judged, judged_with_threads
from tests.fuzz.kinds import KINDS, MUTANTS, Claim, One, Tell, cases, check_of, to_check
from tests.fuzz.loop_forms import form_case, form_of
from tests.fuzz.mutants import Mutant, mutants_of, small_mutant, wrong_mutant
from tests.fuzz.preprocessing import without_compiler
from tests.fuzz.rewrites import rewrite_case, rewriting
from tests.fuzz.schedules import schedule_case
from tests.fuzz.tally import NO_CONFIRMED, NOT_RUN, YES_RUN, Tally
from tests.fuzz.transforms import Case, case_of, small, wrong, wrong_case
from tests.fuzz.workers import GRACE, Batch, batches

BATCH = 10
"""Numbers whose cases are compiled together."""
RERUNS = 3
"""Further runs with threads, one of which shows again what one has shown."""
OWN_RUNS = 20
"""Runs of the old program with threads beside itself, before it is believed to have no race."""
FEW_RUNS = 8
"""Sizes and data for which the old program is defined, below which a yes is hardly judged."""


@dataclass
class _Said:
    """What was said of the cases of a batch, which are run together at its end."""

    found: list[Finding] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def add(self, one: One) -> None:
        if isinstance(one, Finding):
            self.found.append(one)
        elif one is not None:
            self.claims.append(one)

    def wrong(self, outcomes: Counter[str]) -> list[Finding]:
        told = list(zip(self.claims, judged([one.pair for one in self.claims]), strict=True))
        outcomes.update(f"{_kind(one)}: {_judged(one, judgement)}" for one, judgement in told)
        doubted = [one for one, judgement in told if _wrong(one, judgement)]
        alone = ((one, judged([one.pair])) for one in doubted)  # not after what others may have done
        found = [finding for one, again in alone if (finding := _wrong(one, *again))]
        return self.found + found + _races(told)


def _races(told: list[tuple[Claim, Judgement]]) -> list[Finding]:
    """What running with threads shows of those that were called right, more than once.

    A program that races by itself, which shows now and then, has other results now and then.
    """
    marked = [(one, alone) for one, alone in told if "#pragma omp" in one.pair.new and _is_yes(one)]
    said = judged_with_threads([one.pair for one, _ in marked], [alone for _, alone in marked])
    doubted = [one for (one, _), there in zip(marked, said, strict=True) if _wrong(one, there)]
    alone = ((one, judged_with_threads([one.pair])) for one in doubted for _ in range(RERUNS))
    found = {id(one): (one, wrong) for one, again in alone if (wrong := _wrong(one, *again))}
    return [wrong for one, wrong in found.values() if not _races_itself(one.pair)]


def _races_itself(pair: Pair) -> bool:
    """Whether some runs of the old program differ from others, which may be seen in few of them."""
    with_itself = replace(pair, new=pair.old)
    return any(judged_with_threads([with_itself])[0].wrong for _ in range(OWN_RUNS))


def _kind(one: Claim) -> str:
    return one.kind if isinstance(one, Mutant) else "check" if isinstance(one, Checked) else "transform"


def _judged(one: Claim, told: Judgement) -> str:
    """What running says: a yes is judged by runs for several sizes, a no by those of its witness."""
    if isinstance(one, Mutant) and not one.yes:
        return NO_CONFIRMED if told.wrong else NOT_RUN
    return YES_RUN if told.defined >= FEW_RUNS else NOT_RUN


def _is_yes(one: Claim) -> bool:
    return one.yes if isinstance(one, Mutant) else isinstance(one, Case)


def _wrong(one: Claim, told: Judgement) -> Finding | None:
    match one:
        case Case():
            return wrong_case(one, told)
        case Mutant():
            return wrong_mutant(one, told)
        case Checked():
            return wrong_check(one, told)


def _silent(at: str) -> None:
    """Where it is need not be known."""


def rounds(
    seed: int,
    count: int,
    outcomes: Counter[str],
    end: float | None = None,
    mutants_each: int = MUTANTS,
    tell: Tell = _silent,
    kinds: tuple[str, ...] = tuple(KINDS),
) -> list[Finding]:
    """What the cases of `count` numbers show until `end`."""
    said = _Said()
    with without_compiler():
        for number in range(seed, seed + count):
            if end is not None and time.monotonic() > end:
                break
            for one in cases(number, outcomes, tell, kinds, mutants_each):
                said.add(one)
    tell(f"running what was said from {seed} on")
    return said.wrong(outcomes)


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
        case "form":
            pair, options = form_of(number)
            print(pair.old, pair.new, *options, sep="\n")
            one = form_case(number, outcomes)
            found = [None if one is None else small_mutant(pair, one)]
        case "directive":
            pair = directed_pair(number)
            print(pair.old, pair.new, sep="\n")
            one = directive_case(number, outcomes)
            found = [None if one is None else small_directive(pair, one)]
        case "mlir":
            print(*affine_pair(number).texts, sep="\n")
            one = affine_case(number, outcomes)
            found = [None if one is None else wrong_affine(one)]
        case "team" | "stage" | "applied":
            said = KINDS[kind].case(number, outcomes)
            found = [wrong_directive(said) if isinstance(said, Finding | Mutant) else None]
        case "codegen":
            found = [*schedule_case(number, outcomes)]
        case "check":
            pair = to_check(number)
            print(pair.old, pair.new, sep="\n")
            said = check_of(number, outcomes)
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
    parser.add_argument("--case", help="KIND:NUMBER, as finds are called: transform:7 for example")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of cases, with commas between them")
    parser.add_argument("--first", action="store_true", help="end with the first find")
    text = "seconds after the end for what was begun before"
    parser.add_argument("--grace", type=float, default=GRACE, help=text)
    parser.add_argument("--log", type=Path, help="a folder for counts and finds while it runs")
    arguments = parser.parse_args()
    if arguments.case:
        kind, _, number = arguments.case.partition(":")
        found = again(kind, int(number))
        print(*found, sep="\n")
        return 1 if found else 0
    told = arguments.seconds, arguments.seed, arguments.jobs, arguments.log
    kinds = tuple(arguments.kinds.split(","))
    return attack(*told, first=arguments.first, grace=arguments.grace, kinds=kinds)


def attack(
    seconds: float,
    seed: int,
    jobs: int,
    folder: Path | None,
    *,
    first: bool = False,
    grace: float = GRACE,
    kinds: tuple[str, ...] = tuple(KINDS),
) -> int:
    """All kinds of cases for a number of seconds, or until the `first` find; then the table of answers."""
    end = time.monotonic() + seconds
    size = 3 if first else BATCH
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    tally = Tally(folder)

    def judge(number: int, tell: Tell) -> Batch:
        told: Counter[str] = Counter()
        return rounds(number, size, told, end, tell=tell, kinds=kinds), told

    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        tempfile.tempdir = place  # what processes leave that are ended goes with it
        rounds(seed, 1, Counter(), kinds=kinds)  # what is loaded and asked once is there when forking
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            for found, told in batches(judge, seed, size, jobs, end, grace):
                tally.add(found, told)
                if first and any(one.kind != "hostile" for one in found):
                    break
        except KeyboardInterrupt:
            print("interrupted; what was answered until now:")
    print(tally.table)
    return 1 if tally.seen else 0


if __name__ == "__main__":
    sys.exit(main())
