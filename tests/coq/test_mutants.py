"""A wrong program makes coqc fail: mutants that isl refutes are refused by Coq, too."""

from __future__ import annotations

import pytest

from loopwright.generate.program import generate
from loopwright.prove.coq.check import Accepted, Refused
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved, Refuted
from tests.coq.support import answer, needs_coqc
from tests.generate.support import flat
from tests.prove.mutation import mutants

SCHEDULES = {
    "triangle": "[n] -> { S[i, j] -> [j, i] : 0 <= j <= i < n }",
    "fused": "[n] -> { S[i] -> [i, 0] : 0 <= i < n; T[i] -> [i, 1] : 2 <= i < n }",
    "stride": "[n] -> { S[i] -> [i] : 1 <= i <= n and i mod 3 = 1 }",
}
LEMMA = {
    "missing": {"nothing_missing"},
    "extra": {"nothing_extra", "nothing_missing"},
    "twice": {"in_order", "nothing_missing"},
    "order": {"in_order"},
}
"""Where Coq may stop for a reason isl gives: the first of the four obligations that fails."""


@needs_coqc
@pytest.mark.parametrize("name", SCHEDULES)
def test_wrong_programs_are_refused(name: str) -> None:
    """One mutant of each kind."""
    schedule = flat(SCHEDULES[name])
    tried: dict[str, str] = {}
    for what, mutant in mutants(generate(schedule)):
        verdict = prove_scan(schedule, mutant)
        if what in tried or what == "make it parallel" or isinstance(verdict, Proved):
            continue
        assert isinstance(verdict, Refuted)
        found = answer(schedule, mutant)
        assert isinstance(found, Refused), (what, found)
        assert found.lemma in {"loops_end", *LEMMA[verdict.obligation]}, (what, verdict, found)
        tried[what] = found.lemma
    assert len(tried) >= 4, tried


@needs_coqc
def test_a_mutant_that_is_right_is_accepted() -> None:
    """A bound that no iteration reaches: the file is about what the program does, not how it looks."""
    schedule = flat("[n] -> { S[i] -> [i] : 0 <= i < n and i mod 2 = 0 }", context="[n] -> { : n mod 2 = 0 }")
    right = [
        mutant
        for _, mutant in mutants(generate(schedule))
        if isinstance(prove_scan(schedule, mutant), Proved)
    ]
    assert right
    for mutant in right[:2]:
        assert answer(schedule, mutant) == Accepted()
