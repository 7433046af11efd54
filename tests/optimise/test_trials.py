"""What is timed next, what is proved, and the time that there is for it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from loopwright.errors import Code, GaveUp
from loopwright.optimise.candidates.judging import GIVEN
from loopwright.optimise.candidates.nests import Script
from loopwright.optimise.proving import first_proved, kept_for_proofs
from loopwright.optimise.timing.trials import Trial, in_turn
from loopwright.transform.script.steps import parse_script


def test_scripts_that_are_judged_soon_leave_time_for_trials() -> None:
    """Proofs of a few seconds had 0.45 of the time, and few scripts were timed."""
    assert kept_for_proofs(60, 0.45, 1.0) == pytest.approx(16.8)
    assert kept_for_proofs(60, 0.45, 3.0) == 21.0
    assert kept_for_proofs(60, 0.45, 9.0) == kept_for_proofs(60, 0.45, math.inf) == 27.0


def test_candidates_near_the_fastest_script_do_not_wait_for_their_kind() -> None:
    """Threads share two of three nests, or all: of the same kind only the cheaper one was timed for long."""
    given, all_of_them, few = (
        Trial(parse_script(text), cycles, "")
        for text, cycles in (
            ("tile(S, 8)", 3.0),
            ("tile(S, 8)\nparallel(S, i)\nparallel(T, i)", 1.0),
            ("tile(S, 8)\nparallel(S, i)", 2.0),
        )
    )
    known: dict[Script, float] = {}

    def near(script: Script) -> Iterator[Trial]:
        yield from (few, all_of_them) if script == given.script else ()

    timed = []
    for one in in_turn([all_of_them, few, given], known, near, 2):
        timed.append(one)
        known[one.script] = one.cycles
    assert timed == [given, all_of_them, few] or timed == [all_of_them, given, few]


def test_the_script_to_begin_with_is_proved_however_little_time_is_left() -> None:
    """It has tiles that are copied; one that is many times as slow was the answer."""
    copied = parse_script("pack(A, S, i, written)\npack(A, T, i, written)")
    shared = (*copied, *parse_script("parallel(S, i)"))
    trials = [Trial(shared, 1, "among threads", 0.02), Trial(copied, 2, GIVEN, 0.04), Trial((), 9, "", 0.2)]
    left = [13.0]

    def prove(one: Trial, limit: float) -> str:
        left[0] -= min(limit, 7.0)
        if one is trials[0]:
            raise GaveUp(Code.TIME, "too long")
        return "proved"

    assert first_proved(trials, prove, lambda: left[0]) == (trials[1], "proved")


def test_after_a_proof_that_takes_too_long_a_script_of_few_steps_is_next() -> None:
    """All others were long, too: nothing was proved, and the original was the answer."""
    head = "distribute()\ntile(S, 8)\nfuse(S, T, 1)\n"
    scripts = [*(f"{head}unroll(S, i, {k})" for k in (2, 4, 8)), "distribute()\nunroll(S, i, 4)"]
    trials = [Trial(parse_script(one), 1, "") for one in scripts]
    left = [10.0]

    def prove(one: Trial, limit: float) -> str:
        needed = 1.0 if one is trials[3] else 8.0
        left[0] -= min(limit, needed)
        if needed > limit:
            raise GaveUp(Code.TIME, "too long")
        return "proved"

    assert first_proved(trials, prove, lambda: left[0]) == (trials[3], "proved")
