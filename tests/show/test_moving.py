"""Moving pictures: what runs at once, which cells are touched, and that no picture denies a proof."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from loopwright.prove.legality.plans import prove_plan
from loopwright.read.c.reader import read_c
from loopwright.report.regions import drawn_regions
from loopwright.show.moving import MOST, MovingPicture, moving_picture
from loopwright.transform.script.steps import parse_script
from tests.conftest import ROOT

HEAT = ROOT / "docs/tutorial/heat.c"


def drawn(path: Path, script: str, **sizes: int) -> tuple[bool, MovingPicture]:
    """Whether the script is proved, and the picture."""
    (region,) = drawn_regions(parse_script(script, "script.lw"), read_c(path))
    plan, verdict, note = region.shown(
        prove_plan(region.plan, dependences=region.dependences), reassociate=False
    )
    found = moving_picture(plan, verdict, sizes, note)
    assert found is not None
    return verdict.proved, found


def test_instances_dependences_and_cells() -> None:
    proved, found = drawn(HEAT, "", N=5, STEPS=2)
    assert proved and [one.at for one in found.instances] == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]
    second = found.instances[1]
    assert (second.text, second.writes) == ("rod[2] = (rod[2 - 1] + rod[2] + rod[2 + 1]) / 3;", ((0, (2,)),))
    assert second.reads == ((0, (1,)), (0, (2,)), (0, (3,)))
    assert {one.sink for one in found.arrows if one.source == 1 and one.kind == "flow"} == {2, 3, 4}


def test_iterations_of_a_parallel_loop_run_in_one_step() -> None:
    waves = (ROOT / "docs/tutorial/heat-waves.lw").read_text()
    proved, found = drawn(HEAT, waves, N=5, STEPS=2)
    assert proved
    assert {one.at: one.after for one in found.instances} == {
        (0, 1): 0, (0, 2): 1, (0, 3): 2, (1, 1): 2, (1, 2): 3, (1, 3): 4,
    }  # fmt: skip


def test_a_witness_is_a_broken_arrow() -> None:
    proved, found = drawn(HEAT, "tile(Point, 64, 64)")
    assert not proved and found.witness is not None
    broken = {(one.source, one.sink) for one in found.arrows if one.broken}
    assert found.witness in broken and found.tile == "tile"


STENCIL = """void f(int m, int n, float A[2][n])
{
#pragma scop
  for (int t = 0; t < m; t++)
    for (int i = 1; i < n - 1; i++)
      S: A[(t + 1) % 2][i] = A[t % 2][i - 1] + A[t % 2][i + 1];
#pragma endscop
}
"""


def test_a_hexagon_has_longer_rows_in_its_middle(tmp_path: Path) -> None:
    (tmp_path / "stencil.c").write_text(STENCIL)
    proved, found = drawn(tmp_path / "stencil.c", "(A, B) = hexagon(S, t=8, i=64)", m=8, n=14)
    rows = {tile: Counter(one.at[0] for one in found.instances if one.tile == tile) for tile in range(1, 9)}
    assert proved and [2, 4, 4, 2] in [[count for _, count in sorted(own.items())] for own in rows.values()]
    assert found.captions[0].title == "Hexagons" and found.notes == ("hexagons are drawn with 4 steps",)


LOCAL = """void f(int n, double A[n], double B[n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double t = A[i];
    B[i] = t * t;
  }
#pragma endscop
}
"""


def test_a_private_variable_is_not_waited_for(tmp_path: Path) -> None:
    """A page once said "Proved" above an arrow that has to wait, and does not."""
    path = tmp_path / "local.c"
    path.write_text(LOCAL)
    proved, found = drawn(path, "parallel(@4, i)")
    assert proved and not any(one.broken for one in found.arrows)
    assert {one.free for one in found.arrows} == {"", "every iteration of the loop over i has its own"}


@pytest.mark.parametrize("name", ["cholesky", "lu", "doitgen", "gemver", "nussinov"])
def test_no_picture_denies_a_proof(name: str) -> None:
    """cholesky's script is not legal with small strips, since it names their size twice."""
    kernel = ROOT / "kernels" / name
    proved, found = drawn(kernel.with_suffix(".c"), kernel.with_suffix(".lw").read_text())
    assert proved and found.witness is None and not any(one.broken for one in found.arrows)
    assert {one.panel for one in found.statements} == set(range(len(found.panels)))


def test_four_loops_have_four_axes() -> None:
    _, found = drawn(ROOT / "kernels/doitgen.c", "")
    assert [len(panel.axes) for panel in found.panels] == [4]
    assert len({one.where[0] for one in found.instances}) == 3


@pytest.mark.parametrize(
    ("script", "titles"),
    [
        ("", []),
        ("tile(Point, 64, 64, skew)", ["Skewed tiles", "Why they lean"]),
        ("tile(Point, 64, 64)", ["Tiles", "Why not"]),
        ("skew(Point, i, t, 2)\ninterchange(Point, t, i)\nparallel(Point, t)", ["A wave"]),
        ("parallel(Point, i)", ["At the same time"]),
    ],
)
def test_captions(script: str, titles: list[str]) -> None:
    _, found = drawn(HEAT, script)
    assert [one.title for one in found.captions] == titles

CONVOLUTION = """void f(int o, int h, int w, int k, float out[o][h][w], float in[h + k][w + k], float c[o][k])
{
#pragma scop
  for (int n = 0; n < o; n++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        for (int i = 0; i < k; i++)
          out[n][y][x] += c[n][i] * in[y + i][x + i];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("script", "seen"),
    {
        "as written": ("", (1, 2, 3)),
        "two loops tiled": ("tile(S1, y=8, x=32)", (1, 2)),
        "outer loops tiled": ("tile(S1, n=8, y=8, x=8)", (0, 1, 2)),
        "one in strips": ("strip_mine(S1, n, 4)", (0, 3)),
    }.values(),
)
def test_of_many_loops_those_in_tiles_are_drawn(tmp_path: Path, script: str, seen: tuple[int, ...]) -> None:
    """With more iterations than the others have, so that there are several tiles; and never too many."""
    path = tmp_path / "f.c"
    path.write_text(CONVOLUTION)
    proved, found = drawn(path, script)
    assert proved and found.panels[0].seen == seen
    longest = [len({one.where[axis] for one in found.instances}) for axis in range(4)]
    assert min(longest[axis] for axis in seen) == 4
    assert not script or len({one.tile for one in found.instances}) > 1
    _, larger = drawn(path, script, o=5, h=9, w=9, k=9)
    assert 0 < len(larger.instances) <= MOST


SWEEPS = """void f(int n, double A[n][n], double x[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      Row: A[i][j] = A[i][j] / 2;
      Column: x[i] = x[i] + A[i][j];
    }
#pragma endscop
}
"""


ACROSS = """distribute(Row, Column)
strip_mine(Row, i, 4)
interchange(Column, i, j)
strip_mine(Column, j, 4)
"""


@pytest.mark.parametrize(("script", "panels"), [("strip_mine(@4, i, 4)", [0, 0]), (ACROSS, [0, 1])])
def test_statements_whose_outlines_would_cross_are_drawn_apart(
    tmp_path: Path, script: str, panels: list[int]
) -> None:
    (tmp_path / "sweeps.c").write_text(SWEEPS)
    _, found = drawn(tmp_path / "sweeps.c", script, n=8)
    assert [one.panel for one in found.statements] == panels and found.tile == "tile"


def test_subscripts_that_multiply_sizes_are_not_called_data(tmp_path: Path) -> None:
    text = STENCIL.replace("int m, int n,", "int m, int n, int lda, const float *restrict B,")
    (tmp_path / "table.c").write_text(text.replace("A[t % 2][i + 1]", "B[t * lda + i]"))
    _, found = drawn(tmp_path / "table.c", "", m=2, n=5)
    why = "their subscripts depend on data, or multiply iterators by sizes"
    assert found.notes == (f"accesses to B are not drawn: {why}",)
