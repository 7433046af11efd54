"""Tests of blocks before them, where few iterations change anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.optimise.candidates.pretests import pretested
from loopwright.optimise.candidates.reasons import reasoned
from loopwright.transform.script.steps import parse_script
from tests.optimise.test_registers import judge_of, scripts

LARGEST = "for (int i = 0; i < 400; i++) if (A[0][i] > alpha) { alpha = A[0][i]; row[0] = i; }"


def test_the_place_of_a_maximum_is_found_in_blocks(tmp_path: Path) -> None:
    judge = judge_of(tmp_path, LARGEST)
    found = scripts(judge, pretested)
    assert found[0] == "strip_mine(S1, i, 64)\nS1Test = pretest(S1, iT)\n"
    assert "isolate(S1Test, iT, [i])\nisolate(S1, iT, [i])\n" in found[1]
    assert [text.splitlines()[0] for text in found[2:]] == ["strip_mine(S1, i, 128)"] * 2
    assert judge.found()[0].total < judge.original().total / 2


def test_a_row_is_a_block(tmp_path: Path) -> None:
    rows = "for (int y = 0; y < 90; y++) for (int x = 0; x < 90; x++) if (in[y][x] > out[0][0])"
    judge = judge_of(tmp_path, f"{rows} {{ out[0][0] = in[y][x]; row[0] = y; row[1] = x; }}")
    assert scripts(judge, pretested) == ["S1Test = pretest(S1, y)\n"]
    assert judge.found()[0].total < judge.original().total / 2


@pytest.mark.parametrize(
    "text",
    [
        "for (int i = 0; i < 400; i++) if (A[0][i] > alpha) B[0][i] = alpha;",  # vectors with masks
        "for (int i = 0; i < 400; i++) alpha += A[0][i];",
        "for (int i = 0; i < 40; i++) if (A[0][i] > alpha) alpha = A[0][i];",  # less than a block or two
    ],
)
def test_what_needs_no_test(tmp_path: Path, text: str) -> None:
    assert scripts(judge_of(tmp_path, text), pretested) == []


def test_what_cannot_be_tested_first_is_refused(tmp_path: Path) -> None:
    judge = judge_of(tmp_path, LARGEST.replace("> alpha", "> 2 * alpha"))
    assert scripts(judge, pretested) == []


def test_the_reason(tmp_path: Path) -> None:
    judge = judge_of(tmp_path, LARGEST)
    script = parse_script("strip_mine(S1, i, 64)\nT = pretest(S1, iT)\nisolate(T, iT, [i])")
    reasons = [one.reason for one in reasoned(script, [judge.plan], judge.setting.machine)]
    assert reasons[1] == "the tests of a block are vector code, and few blocks have to run"
    assert reasons[2].startswith("full blocks")
