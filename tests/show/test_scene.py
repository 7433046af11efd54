"""What is in a picture, before anything is drawn."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from loopwright.show.groups import groups
from loopwright.show.outlines import TileOrder
from loopwright.show.scene import Scene
from tests.show.support import DIAGONAL, PRODUCT, TRIANGLE, planned, scenes

pytest.importorskip("networkx", reason="pictures need networkx: pip install 'loopwright[show]'")


def only(found: list[Scene]) -> Scene:
    (scene,) = found
    return scene


def test_dots_are_the_domain_for_small_parameters(tmp_path: Path) -> None:
    scene = only(scenes(planned(tmp_path, TRIANGLE)))
    n = scene.parameters["n"]
    assert scene.axes == ("i", "j")
    assert {dot.where for dot in scene.dots} == {(i, j) for i in range(1, n) for j in range(i + 1)}
    assert 5 <= n <= 7


def test_both_orders_number_the_dots(tmp_path: Path) -> None:
    scene = only(scenes(planned(tmp_path, TRIANGLE, "interchange(S, i, j)")))
    before = [dot.where for dot in sorted(scene.dots, key=lambda dot: dot.before)]
    after = [dot.where for dot in sorted(scene.dots, key=lambda dot: dot.after)]
    assert before == sorted(before)
    assert after == sorted(after, key=lambda where: where[::-1])
    assert scene.changed


def test_arrows_are_the_dependences_that_do_not_follow_from_others(tmp_path: Path) -> None:
    scene = only(scenes(planned(tmp_path, TRIANGLE)))
    steps = {(a.source[1], a.sink[1]) for a in scene.arrows}
    assert steps and all(sink == (i + 1, j) for (i, j), sink in steps)
    assert not any(arrow.broken for arrow in scene.arrows)
    assert scene.broken is None


def test_a_broken_dependence_is_named(tmp_path: Path) -> None:
    scene = only(scenes(planned(tmp_path, DIAGONAL, "interchange(S, i, j)")))
    assert scene.broken is not None
    assert scene.broken.first_text == "S(1, 1) writes A[1][1]"
    assert scene.broken.second_text == "S(2, 0) reads A[1][1]"
    numbers = {dot.instance: dot.after for dot in scene.dots}
    assert numbers[scene.broken.second] < numbers[scene.broken.first]


def test_a_parallel_loop_breaks_what_it_carries(tmp_path: Path) -> None:
    scene = only(scenes(planned(tmp_path, TRIANGLE, "parallel(S, i)")))
    assert scene.arrows and all(arrow.broken for arrow in scene.arrows)
    assert scene.broken is not None
    legal = only(scenes(planned(tmp_path, TRIANGLE, "parallel(S, j)")))
    assert legal.broken is None and not any(arrow.broken for arrow in legal.arrows)


@pytest.mark.parametrize(
    "script",
    [
        "tile(S, 2, 3)",
        "interchange(S, i, j)\ntile(S, 3, 2)",
        "affine(S, {[i, j] -> [i/2, j/3, i % 2, j % 3]})",
    ],
)
def test_tiles_hold_neighbours(tmp_path: Path, script: str) -> None:
    scene = only(scenes(planned(tmp_path, TRIANGLE, script)))
    assert len(scene.tiles) > 2
    assert sum(len(tile.instances) for tile in scene.tiles) == len(scene.dots)
    for tile in scene.tiles:
        assert len(tile.instances) <= 6
        assert len({(i // 2, j // 3) for _, (i, j) in tile.instances}) == 1


def test_tiles_run_one_after_the_other(tmp_path: Path) -> None:
    scene = only(scenes(planned(tmp_path, TRIANGLE, "tile(S, 2, 2)")))
    after = {dot.instance: dot.after for dot in scene.dots}
    for one, two in pairwise(scene.tiles):
        assert max(after[x] for x in one.instances) < min(after[x] for x in two.instances)


def test_no_tiles_without_tiling(tmp_path: Path) -> None:
    assert only(scenes(planned(tmp_path, TRIANGLE, "skew(S, j, i, 2)"))).tiles == ()


def test_a_statement_with_fewer_loops_comes_first(tmp_path: Path) -> None:
    scene = only(scenes(planned(tmp_path, PRODUCT)))
    assert scene.axes == ("i", "j", "k")
    init = [dot for dot in scene.dots if dot.instance[0] == "S1"]
    assert init and all(dot.where[2] == -1 for dot in init)
    assert "S1 has no loop over k" in scene.notes


def test_a_large_constant_domain_is_cut(tmp_path: Path) -> None:
    text = TRIANGLE.replace("i < n", "i < 1000").replace("int n,", "").replace("n]", "1000]")
    scene = only(scenes(planned(tmp_path, text)))
    assert "only a corner of the nest is drawn" in scene.notes
    assert 0 < len(scene.dots) <= 36


def test_nests_apart_are_drawn_apart_until_they_are_fused(tmp_path: Path) -> None:
    text = """void f(int n, double a[n], double b[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    P: a[i] = i;
  for (int i = 0; i < n; i++)
    Q: b[i] = a[i];
#pragma endscop
}
"""
    assert len(scenes(planned(tmp_path, text))) == 2
    together = only(scenes(planned(tmp_path, text, "fuse(P, Q)")))
    assert together.statements == ("S1", "S2")


def test_a_broken_dependence_between_nests_brings_them_together(tmp_path: Path) -> None:
    text = """void f(int n, double a[n], double b[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    P: a[i] = i;
  for (int i = 0; i < n; i++)
    Q: b[i] = a[i];
#pragma endscop
}
"""
    plan = planned(tmp_path, text, "reorder(P, Q)")
    (group,) = groups(plan.original, plan.program, ("S1", "S2"))
    assert [statement.name for statement in group.statements] == ["S1", "S2"]


def test_many_statements_are_drawn_in_parts(tmp_path: Path) -> None:
    lines = [f"for (int j = 0; j < n; j++) a[i][j] += {k};" for k in range(8)]
    text = f"""void f(int n, double a[n][n]) {{
#pragma scop
  for (int i = 0; i < n; i++) {{
    {" ".join(lines)}
  }}
#pragma endscop
}}
"""
    plan = planned(tmp_path, text)
    assert len(groups(plan.original, plan.program)) == 8
    (*_, pair) = groups(plan.original, plan.program, ("S1", "S8"))
    assert [statement.name for statement in pair.statements] == ["S1", "S8"]


@pytest.mark.parametrize(
    ("script", "meaning", "order", "axis"),
    [
        ("parallel(S, j)", "runs in parallel, in any order", TileOrder.AT_ONCE, 0),
        ("interchange(S, i, j)\nparallel(S, j)", "one iteration of the parallel loop", TileOrder.BESIDE, 1),
        ("vectorize(S, j)", "runs at once, in the lanes of vectors", TileOrder.AT_ONCE, 0),
        ("(A, B) = isplit(S, {[i, j] : i < 3}, 0)", "a loop of its own", TileOrder.ONE_BY_ONE, None),
    ],
)
def test_what_is_outlined(
    tmp_path: Path, script: str, meaning: str, order: TileOrder, axis: int | None
) -> None:
    scene = only(scenes(planned(tmp_path, TRIANGLE, script)))
    assert (scene.outlines.meaning, scene.outlines.order) == (meaning, order)
    assert sum(len(tile.instances) for tile in scene.tiles) == len(scene.dots)
    if axis is not None:
        assert all(len({one[1][axis] for one in tile.instances}) == 1 for tile in scene.tiles)


def test_incomplete_tiles_are_the_rest(tmp_path: Path) -> None:
    scene = only(scenes(planned(tmp_path, TRIANGLE, "unroll(S, i, 4)")))
    first, last = scene.tiles[0], scene.tiles[-1]
    assert scene.outlines.meaning == "unrolled"
    assert scene.outlines.is_rest(first) and not scene.outlines.is_rest(last)


def test_renumbered_loops(tmp_path: Path) -> None:
    scene = only(scenes(planned(tmp_path, TRIANGLE, "from_zero()")))
    assert scene.recounted and not scene.changed
    first = next(dot for dot in scene.dots if dot.instance == ("S1", (1, 0)))
    assert first.counted == (0, 0)
