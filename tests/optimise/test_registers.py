"""Moves that keep values in registers: sums with panels copied, short loops written out; and their sizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.model.dependences import memory_based
from loopwright.optimise.candidates.judging import Judge
from loopwright.optimise.candidates.nests import Phase, SearchContext, targets
from loopwright.optimise.candidates.planner import Planner
from loopwright.optimise.candidates.structures import around
from loopwright.optimise.candidates.sums import register_sums
from loopwright.optimise.candidates.tiles import blocked, with_short_loops
from loopwright.optimise.model.machine import USUAL
from loopwright.optimise.timing.refining import Neighbours, resized
from loopwright.optimise.timing.trials import Trial
from loopwright.read.c.reader import read_c
from loopwright.transform import plan_of, script_text
from loopwright.transform.script.steps import parse_script

WIDE = replace(USUAL, vector=32)

PRODUCT = "  C[i][j] += alpha * A[i][k] * B[k][j];"
COLUMN = "  C[i][j] += A[i][k] * A[j][k];"
NEITHER = "  C[i][j] = A[i][k] * B[k][j];"


def judge_of(tmp_path: Path, text: str) -> Judge:
    file = tmp_path / "k.c"
    file.write_text(
        f"double A[400][400], B[400][400], C[400][400], alpha;\nfloat in[90][90], out[90][90], w[3][3];\n"
        f"int H[90][90], row[90];\nvoid f(void)\n{{\n#pragma scop\n{text}\n#pragma endscop\n}}\n"
    )
    (program,) = read_c(file)
    setting = SearchContext(plan_of(program), WIDE, {}, tuple(memory_based(program)))
    ticks = iter(range(10**6))
    return Judge(setting.start, setting, 10**6, clock=lambda: next(ticks))


def scripts(judge: Judge, phase: Phase) -> list[str]:
    (nest,) = targets(judge.plan)
    found = [judge.estimated(script, "") for script in phase(judge.plan, nest, judge.setting)]
    return [script_text(one.script) for one in found if one is not None]


@pytest.mark.parametrize(
    ("statement", "copies"),
    [
        (PRODUCT, ["pack(A, S1, iT, scaled)", "pack(B, S1, jT)", "pack(C, S1, iT1, written)"]),
        (COLUMN, ["pack(A, S1, jT, transposed, reused)", "pack(C, S1, iT1, written)"]),
        (NEITHER, []),
    ],
)
def test_a_sum_of_products_is_kept_in_registers(tmp_path: Path, statement: str, copies: list[str]) -> None:
    loops = [f"for (int {name} = 0; {name} < 400; {name}++)" for name in "ikj"]
    judge = judge_of(tmp_path, "\n".join([*loops, statement]))
    found = scripts(judge, register_sums)
    assert [line for text in found for line in text.splitlines() if "pack" in line] == copies
    assert all(one.total < judge.original().total / 2 for one in judge.found()[:1]) or not copies


def test_taps_of_a_filter_are_written_out_with_rows_that_share_them(tmp_path: Path) -> None:
    heads = [("y", 88), ("x", 88), ("r", 3), ("s", 3)]
    loops = [f"for (int {name} = 0; {name} < {end}; {name}++)" for name, end in heads]
    judge = judge_of(tmp_path, "\n".join([*loops, "out[y][x] += in[y + r][x + s] * w[r][s];"]))
    found = scripts(judge, with_short_loops)
    assert any("unroll_and_jam(S1, y=2, r=3, s=3)" in text for text in found)


def test_sizes_are_changed_one_at_a_time_and_only_where_that_is_legal(tmp_path: Path) -> None:
    script = parse_script("tile(S1, i=8, j=4096)")
    assert [str(one[0]) for one in resized(script)] == [
        "tile(S1, i=16, j=4096)",
        "tile(S1, i=4, j=4096)",
        "tile(S1, i=8, j=2048)",
    ]
    jam = parse_script("unroll_and_jam(S1, i=4, j=2)")
    assert [str(one[0]) for one in resized(jam)] == [
        "unroll_and_jam(S1, i=8, j=2)",
        "unroll_and_jam(S1, i=2, j=2)",
        "unroll_and_jam(S1, i=4, j=4)",
    ]
    both = parse_script("tile(S1, j=8)\ntile(S2, j=8)\nfuse(S1, S2, 1)")
    assert [script_text(one[:2]) for one in resized(both)][:2] == [
        "tile(S1, j=16)\ntile(S2, j=16)\n",
        "tile(S1, j=4)\ntile(S2, j=4)\n",
    ]
    text = "for (int i = 0; i < 400; i++)\nfor (int j = 0; j < 400; j++)\nA[i][j] = 2;"
    judge = judge_of(tmp_path, text)
    known = {script: Trial(script, 1.0, "")}
    assert len(list(Neighbours(judge, known, 10**6).of(script))) == 3 == len(known) - 1


def test_choices_cost_where_no_vector_makes_them(tmp_path: Path) -> None:
    text = "for (int i = 1; i < 90; i++)\nfor (int j = 1; j < 90; j++)\nH[i][j] = H[{}] > 2 ? H[{}] : 2;"
    cycles = []
    for cell in ("i - 1][j", "i][j - 1"):
        judge = judge_of(tmp_path, text.format(cell, cell))
        cycles.append(judge.original().total)
    assert 2 * cycles[0] < cycles[1]


def test_several_loops_of_a_sum_are_not_cut(tmp_path: Path) -> None:
    heads = [("n", 90), ("x", 80), ("r", 3), ("s", 3)]
    loops = [f"for (int {name} = 0; {name} < {end}; {name}++)" for name, end in heads]
    judge = judge_of(tmp_path, "\n".join([*loops, "C[n][x] += A[r][x + s] * B[n][3 * r + s];"]))
    (nest,) = targets(judge.plan)
    (script,) = register_sums(judge.plan, nest, judge.setting)
    found = script_text(script)
    assert "isplit(S1, {[n, x, r, s] : 4 * [n / 4] <= 86}, 0)" in found
    assert "interchange(S1, [xT, nT, r, s, n, x])" in found
    assert "pack(B, S1)\npack(A, S1, xT)\npack(C, S1, nT, written)" in found


def test_wide_vectors_are_asked_for_where_that_pays(tmp_path: Path) -> None:
    text = "for (int i = 0; i < 400; i++)\nfor (int j = 0; j < 400; j++)\nA[i][j] = 2 * A[i][j];"
    plain = judge_of(tmp_path, text)
    setting = replace(plain.setting, machine=replace(plain.setting.machine, vector=32, widest=64))
    judge = replace(plain, setting=setting, known={})
    wide = parse_script("widen()")
    (first, *_) = Neighbours(judge, {}, 10**6).of(())
    assert first.script == wide and first.cycles < judge.original().total
    assert not [one for one in Neighbours(plain, {}, 10**6).of(()) if one.script == wide]
    assert wide in [one.script for one in Planner(judge).ranked()]


def test_choices_that_combine_values_change_places(tmp_path: Path) -> None:
    larger = "H[i][j] = H[i][j] > {0} ? H[i][j] : {0};"
    body = " ".join(larger.format(other) for other in ("H[i][j - 1]", "0"))
    loops = "for (int i = 1; i < 90; i++)\nfor (int j = 1; j < 90; j++)"
    judge = judge_of(tmp_path, f"{loops} {{\n{body}\n}}")
    found = [script for script, title in around(judge.plan, judge.setting) if "another order" in title]
    assert [str(step) for script in found for step in script] == ["distribute(S1, S2, 1)", "reorder(S1, S2)"]
    assert judge.estimated(found[0], "") is not None
    assert judge.estimated(found[0][:1], "") is None  # a cell has to be complete before the next one reads it


def test_of_sums_over_several_loops_those_of_other_cells_are_computed_together(tmp_path: Path) -> None:
    loops = (f"for (int {one} = 0; {one} < 40; {one}++)" for one in "cbhx")
    text = f"{' '.join(loops)} S: A[c][0] = A[c][0] + B[b + h][x + c];"
    first, *_ = scripts(judge_of(tmp_path, text), blocked)
    assert first == "unroll_and_jam(S, c=8)\n"
