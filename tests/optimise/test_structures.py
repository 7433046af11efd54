"""Structures: stages row by row, problems in blocks, diagonals as rows, sums with cells of their own."""

from __future__ import annotations

from pathlib import Path

from loopwright.optimise.candidates.flight import pipelines
from loopwright.optimise.candidates.planner import Planner
from loopwright.optimise.candidates.storage import renamings
from loopwright.optimise.candidates.structures import around
from loopwright.read.c.reader import read_c
from loopwright.transform import plan_of, script_text
from loopwright.transform.script.steps import parse_script
from tests.conftest import ROOT
from tests.optimise.test_registers import judge_of

STAGES = """\
double v[90][90]; double u[90][90];
for (int i = 0; i < 90; i++)
  for (int j = 0; j < 90; j++)
    Make: u[i][j] = A[i][j] * 2;
for (int i = 2; i < 90; i++)
  for (int j = 0; j < 90; j++)
    Take: v[i][j] = u[i - 2][j] + u[i][j];
for (int i = 3; i < 89; i++)
  for (int j = 0; j < 90; j++)
    Last: C[i][j] = v[i - 1][j] + v[i + 1][j] * u[i][j];"""


def test_stages_go_row_by_row_with_few_rows_of_what_they_hand_on(tmp_path: Path) -> None:
    judge = judge_of(tmp_path, STAGES)
    scripts = [script_text(script).split("\n") for script in pipelines(judge.plan, judge.setting.dependences)]
    assert [[line for line in script if line] for script in scripts] == [
        ["fuse(Make, Take, 1)", "shift(Last, i=1)", "fuse(Take, Last, 1)"],
        ["fuse(Make, Take, 2)", "shift(Last, i=1)", "fuse(Take, Last, 1)", "fuse(Take, Last, 2)"],
    ]
    whole, few, *_ = Planner(judge)._pipelined(judge.original())
    assert [str(step) for step in few.script[3:]] == ["contract(u, 4, ring)", "contract(v, 4, ring)"]
    assert few.total < whole.total < judge.original().total


BY_DIAGONALS = """\
for (int l = 1; l < 90; l++)
  for (int i = 0; i < 90 - l; i++) {
    Start: H[i][i + l] = 1000;
    for (int k = i; k < i + l; k++)
      Best: H[i][i + l] = H[i][k] + H[k + 1][i + l] < H[i][i + l] ? H[i][k] + H[k + 1][i + l] : H[i][i + l];
  }"""


def test_diagonals_become_rows(tmp_path: Path) -> None:
    """The cheapest split of each interval: rows from the last one up, and columns innermost."""
    judge = judge_of(tmp_path, BY_DIAGONALS)
    (up, down) = [script for script, origin in around(judge.plan, judge.setting) if "rows" in origin]
    assert [str(step) for step in up[1:3]] == [
        "affine(Start, {[l, i] -> [-i, l + i]})",
        "affine(Best, {[l, i, k] -> [-i, l + i, k]})",
    ]
    assert judge.estimated(down, "") is None
    rows = judge.estimated(up, "")
    assert rows is not None
    (ordered,) = Planner(judge)._ordered([rows], 10**6)
    assert ordered.total < judge.original().total / 2


def test_loops_of_the_same_name_are_not_shared() -> None:
    """Each of two layers of different sizes has a sum of its own, with a cell for each output."""
    (program,) = read_c(ROOT / "benchmarks" / "programs" / "apart" / "perceptron.c")
    assert [script_text(script).split("\n") for script in renamings(plan_of(program))] == [
        ["rename(sum, @42)", "expand(sum_S1, n, i)", ""],
        ["rename(sum, @48)", "expand(sum_S4, n, i)", ""],
    ]


def test_a_script_to_begin_with_is_priced_by_runs_of_the_region_as_written(tmp_path: Path) -> None:
    """Else what seems hardly to run, such as every other block of a triangle, would be cheap."""
    text = "for (int i = 0; i < 90; i++)\n  for (int j = 0; j <= i; j++)\n    Set: A[i][j] = B[i][j];"
    start = parse_script("tile(Set, 8, 8)")
    judge = judge_of(tmp_path, text)
    planner = Planner(judge, start=start)
    planner._given()
    assert list(judge.known) == [(), start] and judge.runs
