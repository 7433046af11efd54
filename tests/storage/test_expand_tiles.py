"""`expand` along loops over tiles, a buffer for each; and of variables declared together with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.legality.plans import prove_plan
from loopwright.read.c.reader import parse_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Outcome, ProverRequest, Request
from loopwright.source import Source
from loopwright.transform import FluentPlan, plan_of


def written(tmp_path: Path, text: str, name: str = "k.c") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def result(tmp_path: Path, text: str, script: str) -> Outcome:
    request = Request(written(tmp_path, text), script, "s.lw", prover=ProverRequest("isl"))
    return transformed(request, silent)


def planned(text: str, script: str) -> FluentPlan:
    return plan_of(parse_c(Source("k.c", text))[0]).transform(script)


TILED = """\
void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        S: C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def test_copies_made_in_tiles_are_expanded_along_the_loop_over_them(tmp_path: Path) -> None:
    script = "tile(S, i=8, k=128, j=64)\ninterchange(S, [kT, iT, jT])\npack(B, S, jT)\n"
    text = result(tmp_path, TILED, f"{script}expand(B_packed, iT)\n").source.text
    assert "malloc((size_t)(((n - 1) / 8) + 1) * (size_t)128 * (size_t)64 * sizeof(double) + 63)" in text
    assert "B_packed_iT[iT][k - 128 * kT][j - 64 * jT]" in text
    assert prove_plan(planned(TILED, f"{script}expand(B_packed, iT)\nparallel(S, iT)\n")).proved
    assert not prove_plan(planned(TILED, f"{script}parallel(S, iT)\n")).proved


SUMMED = """\
void f(int n, double A[n][n], double x[n], double y[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      S: y[i] += A[i][j] * x[j];
#pragma endscop
}
"""


def test_how_many_tiles_there_are_is_read_back(tmp_path: Path) -> None:
    """`prove` takes no size of new storage on trust that is a quotient, and refuses one that is too small."""
    text = result(tmp_path, SUMMED, "tile(S, 8, 32)\npack(x, S, jT)\nexpand(x_packed, iT)\n").source.text
    old, new = str(tmp_path / "k.c"), written(tmp_path, text, "new.c")
    found = compare_files(old, new)
    assert found.proved and not any("stays inside" in str(one) for one in found.trusted)
    size = "((n - 1) / 8) + 1"
    assert text.count(size) == 3
    for wrong in ("((n - 1) / 9) + 1", "((n - 9) / 8) + 1"):
        assert not compare_files(old, written(tmp_path, text.replace(size, wrong), "new.c")).proved


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("double s = 0.0, t = 2.0;", "s_i[i] = 0.0; double t = 2.0;"),
        ("double t = 2.0, s = t;", "double t = 2.0; s_i[i] = t;"),
        ("double t = 2.0, s = t, w, u = s;", "double t = 2.0; s_i[i] = t; double w, u = s_i[i];"),
        ("double s, t = 2.0; s = t;", "double t = 2.0; s_i[i] = t;"),
        ("double t = 2.0, s; s = t;", "double t = 2.0; s_i[i] = t;"),
    ],
)
def test_what_is_declared_together_with_others_is_expanded(declared: str, expected: str) -> None:
    """The others stay declared, and first values are computed in their order."""
    text = f"""\
void f(int n, double A[n][n], double x[n]) {{
#pragma scop
  for (int i = 0; i < n; i++) {{
    {declared}
    for (int j = 0; j < n; j++)
      s += t * A[i][j];
    x[i] = s;
  }}
#pragma endscop
}}
"""
    plan = planned(text, "expand(s, i)")
    assert expected in plan.program.source.text
    assert prove_plan(plan).proved
