"""The kinds of cases, with the number of each and the function that runs it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from tests.fuzz.affine_cases import affine_case
from tests.fuzz.applied import applied_case
from tests.fuzz.checks import Checked, check_case
from tests.fuzz.dependent import dependent_program
from tests.fuzz.directed import directive_case
from tests.fuzz.findings import Finding
from tests.fuzz.hostile import hostile_case
from tests.fuzz.judge import Pair
from tests.fuzz.loop_forms import form_case
from tests.fuzz.mutants import Mutant, mutants_of, mutated
from tests.fuzz.rewrites import rewrite_case, rewriting
from tests.fuzz.schedules import schedule_case
from tests.fuzz.stages import stage_case
from tests.fuzz.teams import team_case
from tests.fuzz.transforms import Case, case_of

Claim: TypeAlias = Case | Mutant | Checked
"""What was said, and can be run."""
One: TypeAlias = Claim | Finding | None
Tell: TypeAlias = Callable[[str], None]

MUTANTS = 4
"""Of every accepted case."""


@dataclass(frozen=True)
class Kind:
    """Cases that are numbered; there are so many of them for each number."""

    each: int
    case: Callable[[int, Counter[str]], One | list[Finding]]


def check_of(number: int, outcomes: Counter[str]) -> Checked | Finding | None:
    return check_case(number, to_check(number), outcomes)


def to_check(number: int) -> Pair:
    """What `check` is given: a small program with a token changed, a new text with one, or a rewriting."""
    rng = random.Random(f"check {number}")
    match number % 4:
        case 0 | 1:
            program = dependent_program(rng)
            return Pair(program.text, mutated(rng, program.text), program.arrays)
        case 2 if isinstance(case := case_of(number, Counter()), Case):
            return replace(case.pair, new=mutated(rng, case.new))
    return rewriting(number)


KINDS: dict[str, Kind] = {
    "hostile": Kind(2, hostile_case),
    "rewrite": Kind(6, rewrite_case),
    "form": Kind(4, form_case),
    "directive": Kind(5, directive_case),
    "team": Kind(3, team_case),
    "applied": Kind(2, applied_case),
    "mlir": Kind(5, affine_case),
    "codegen": Kind(3, schedule_case),
    "transform": Kind(4, case_of),
    "stage": Kind(6, stage_case),
    "check": Kind(1, check_of),
}
"""Those of `transform` that are accepted have mutants, which are a kind of their own."""


def cases(
    number: int, outcomes: Counter[str], tell: Tell, kinds: tuple[str, ...], mutants_each: int = MUTANTS
) -> Iterator[One]:
    """What the cases of a number say."""
    for name in kinds:
        kind = KINDS[name]
        for mine in range(number * kind.each, (number + 1) * kind.each):
            tell(f"{name}:{mine}")
            one = kind.case(mine, outcomes)
            if isinstance(one, list):
                yield from one
                continue
            yield one
            if isinstance(one, Case):
                for k in range(mutants_each):
                    tell(f"mutant:{mine * 100 + k}")
                    yield from mutants_of(one, k + 1, outcomes, first=k)
