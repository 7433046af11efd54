"""Two provers, the same obligations: they agree, on what holds and on what does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.deciders import Isl
from loopwright.errors import BadInput, GaveUp
from loopwright.generate.program import generate
from loopwright.loops.expressions import TRUE, Test
from loopwright.loops.interpreter import holds
from loopwright.prove.obligations import cvc5
from loopwright.prove.obligations.cvc5 import Cvc5
from loopwright.prove.obligations.formulas import Answer, Fails, Holds, NotDecided, Obligation, Prover
from loopwright.prove.obligations.legality import both_sides, transformation_obligations
from loopwright.prove.obligations.scanning import scanning_obligations
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Refuted
from loopwright.read.schedules import read_schedule
from loopwright.transform import to_schedule
from tests.conftest import corpus_files, share
from tests.coq.test_transformations import STENCIL, TRIANGLE
from tests.generate.support import flat
from tests.prove.mutation import mutants
from tests.transform.support import planned

pytest.importorskip("cvc5", reason="cvc5 is not installed: pip install cvc5")
EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.poly"))
MOST = 60
"""Obligations of one file of the corpus that are looked at."""


def asked(prover: Prover, obligations: Sequence[Obligation]) -> list[Answer]:
    answers = prover.decide(obligations)
    assert len(answers) == len(obligations)
    return list(answers)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_isl_and_cvc5_prove_every_obligation_of_an_example(path: Path) -> None:
    schedule = read_schedule(path)
    obligations = list(scanning_obligations(schedule, generate(schedule)))
    assert len(obligations) >= 8
    for prover in (Isl(), Cvc5()):
        assert asked(prover, obligations) == [Holds()] * len(obligations)


WRONG = [
    "[n] -> { S[i, j] -> [j, i] : 0 <= j <= i < n }",
    "[n] -> { S[i] -> [i, 0] : 0 <= i < n; T[i] -> [i, 1] : 2 <= i < n }",
    "[n] -> { S[i] -> [i] : 1 <= i <= n and i mod 3 = 1 }",
    "[n] -> { S[i, j] -> [t, j, i] : t = floor(i/3) and 0 <= i < n and 0 <= j < 2 }",
]


@pytest.mark.parametrize("text", WRONG)
def test_what_isl_refutes_cvc5_refutes_and_the_values_show_it(text: str) -> None:
    """A wrong program has an obligation that fails; both find values for it, which are looked at."""
    schedule = flat(text)
    wrong = 0
    for _, mutant in islice(mutants(generate(schedule)), 30):
        if not isinstance(prove_scan(schedule, mutant), Refuted):
            continue
        try:
            obligations = list(scanning_obligations(schedule, mutant))
        except GaveUp:
            continue
        by_isl, by_cvc5 = asked(Isl(), obligations), asked(Cvc5(), obligations)
        if any(isinstance(one, Fails) for one in by_isl):
            wrong += 1
        for one, first, second in zip(obligations, by_isl, by_cvc5, strict=True):
            assert type(first) is type(second), (one, first, second)
            for answer in (first, second):
                if isinstance(answer, Fails):
                    assert holds(one.violated, answer.values), (one, answer)
    assert wrong >= 5


def test_without_time_there_is_no_answer() -> None:
    """The budget ran out: neither yes nor no."""
    schedule = flat("[n] -> { S[i, j] -> [floor(i/7), floor(j/5), i, j] : 0 <= j <= i < n }")
    obligations = list(scanning_obligations(schedule, generate(schedule)))
    answers = Cvc5(seconds=0.001).decide(obligations)
    assert not any(isinstance(one, Fails) for one in answers)
    assert any(isinstance(one, NotDecided) for one in answers)


def test_time_that_other_programs_had_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """cvc5 counts time on the clock: on a machine that does other things it is given more of it."""
    given: list[float] = []

    @dataclass(frozen=True)
    class Waiting:
        seconds: float

        def solution(self, test: Test, names: Sequence[str]) -> str | None:
            given.append(self.seconds)
            return "UnknownExplanation.TIMEOUT" if self.seconds < 4 else None

    monkeypatch.setattr(cvc5, "_solver", lambda module, seconds, *, incremental: Waiting(seconds))
    asked_for = Obligation("one", "one", TRUE, TRUE)
    assert Cvc5(1.0).decide([asked_for]) == (Holds(),)
    assert given == [0.1, 0.1, 1.0, 2.0, 4.0]
    assert isinstance(Cvc5(0.1).decide([asked_for])[0], NotDecided)


def test_isl_and_cvc5_agree_on_part_of_the_corpus(corpus: Path) -> None:
    """Every 24th file, its first obligations: isl proves them, and cvc5 does or runs out of time.

    `python -m benchmarks.agreement corpus` asks for all of them, with more time.
    """
    asked_for, unknown = 0, []
    for path in share(corpus_files(), 24):
        schedule = read_schedule(path)
        try:
            obligations = list(islice(scanning_obligations(schedule, generate(schedule)), MOST))
        except (GaveUp, BadInput):  # no first iteration, or no proof can be written
            continue
        for one, first, second in zip(
            obligations, asked(Isl(), obligations), asked(Cvc5(1.0), obligations), strict=True
        ):
            assert first == Holds(), (path, one, first)
            assert not isinstance(second, Fails), (path, one, second)
            if isinstance(second, NotDecided):
                unknown.append((path.name, one.name))
        asked_for += len(obligations)
    assert asked_for > 200
    assert len(unknown) <= asked_for // 50, unknown


def test_obligations_of_a_transformation_say_where_their_statements_stand() -> None:
    plan = planned(TRIANGLE, "distribute(Init, Row)\ntile(Row, i=32, j=32)")
    node = generate(to_schedule(plan))
    sides = both_sides(plan.original, plan.program, node)
    obligations = list(transformation_obligations(plan.original, *sides))
    kept = [one for one in obligations if one.name == "kept_S1_S2_x"]
    assert kept and all(one.span is not None and one.span.excerpt.strip().startswith("Row:") for one in kept)
    for prover in (Isl(), Cvc5()):
        assert asked(prover, obligations) == [Holds()] * len(obligations)


def test_both_prove_the_obligations_of_a_transformation() -> None:
    """Both programs' loops and legality, one list: the first to disagree would be named."""
    plan = planned(TRIANGLE, "distribute(Init, Row)\ninterchange(Row, i, j)")
    sides = both_sides(plan.original, plan.program, generate(to_schedule(plan)))
    obligations = list(transformation_obligations(plan.original, *sides))
    assert {one.name.split("_")[0] for one in obligations} >= {"interval", "end", "missing", "extra", "order"}
    for prover in (Isl(), Cvc5()):
        answers = zip(obligations, asked(prover, obligations), strict=True)
        assert [one.name for one, answer in answers if answer != Holds()] == []


def test_an_illegal_transformation_has_an_obligation_that_fails() -> None:
    plan = planned(STENCIL, "interchange(Loop, t, i)")
    sides = both_sides(plan.original, plan.program, generate(to_schedule(plan)))
    obligations = list(transformation_obligations(plan.original, *sides))
    for prover in (Isl(), Cvc5()):
        failed = [
            one.name
            for one, answer in zip(obligations, asked(prover, obligations), strict=True)
            if isinstance(answer, Fails)
        ]
        assert set(failed) == {"kept_S1_S1_a"}
