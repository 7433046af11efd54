"""The four operators: [Namjoshi2016, figures 3 and 4], and what its section 3.2 does not say."""

from __future__ import annotations

from loopwright.emit.c import to_c
from tests.transform.support import FIGURE_3A, FIGURE_4A, MATMUL, check, planned, positions, refused


def test_figure_3b_realign_splits() -> None:
    plan = planned(FIGURE_3A, "realign(L1, L2, 0)")
    assert positions(plan) == [(0, 0, 0), (1, 0, 0)]
    assert to_c(check(plan)).count("for") == 4


def test_figure_3c_realign_merges() -> None:
    plan = planned(FIGURE_3A, "realign(L1, L2, 2)")
    assert positions(plan) == [(0, 0, 0), (0, 0, 1)]
    assert to_c(check(plan)) == (
        "for (int c0 = 0; c0 < n; c0 += 1)\n"
        "  for (int c1 = 0; c1 < n; c1 += 1) {\n"
        "    S1(c0, c1);\n"
        "    S2(c0, c1);\n"
        "  }\n"
    )


def test_figure_3d_lift_changes_nothing_but_names_the_merged_loop() -> None:
    plan = planned(FIGURE_3A, "realign(L1, L2, 2)\nL = lift(L1, 2)")
    assert plan.components["L"].positions == ((0, 0, 0), (0, 0, 1))
    assert plan.statements_at(plan.components["L"]) == ("S1", "S2")
    assert plan.history[0].program is plan.history[1].program


def test_figure_3e_affine() -> None:
    plan = planned(FIGURE_3A, "realign(L1, L2, 2)\nL = lift(L1, 2)\naffine(L, {[i,j] -> [2i, i + j]})")
    assert str(plan.program.statement("S2").schedule).endswith("{ S2[i, j] -> [0, 2i, 0, i + j, 1] }")
    assert "for (int c1 = c0; c1 < n + c0; c1 += 1)" in to_c(check(plan))


def test_figure_3f_isplit() -> None:
    script = "realign(L1, L2, 2)\nL = lift(L1, 2)\n(L3, L4) = isplit(L, {[i,j] : j < n/2}, 1)"
    plan = planned(FIGURE_3A, script)
    assert plan.components["L3"].positions == ((0, 0, 0), (0, 0, 1))
    assert plan.components["L4"].positions == ((0, 1, 0), (0, 1, 1))
    assert plan.components["L"].positions == ((0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1))
    text = to_c(check(plan))
    assert "c1 < n / 2" in text and "c1 = n / 2" in text


def test_figure_4b() -> None:
    plan = planned(FIGURE_4A, "realign(L1, L2, 2)")
    assert positions(plan) == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3), (0, 1, 2), (0, 1, 3)]
    assert plan.components["L2"].positions == ((0, 0, 2), (0, 0, 3))
    assert plan.components["L3"].positions == ((0, 1, 2), (0, 1, 3))
    check(plan)


def test_figure_4c() -> None:
    plan = planned(FIGURE_4A, "affine(L2, {[i,j] -> [i, j/32, j%32]})")
    assert positions(plan) == [
        (0, 0, 0, 0),
        (0, 0, 1, 0),
        (1, 0, 0, 0),
        (1, 0, 0, 1),
        (1, 1, 0, 0),
        (1, 1, 1, 0),
    ]
    assert plan.leaf((1, 0, 0, 0)).loops == ("i", "j", "j1")
    check(plan)


def test_new_loops_around_one_of_two_neighbours_leave_the_other_alone() -> None:
    """Where the text of [Namjoshi2016] would put the second statement into the loop of the first."""
    body = "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) a[i] = 1; Y: b[i] = 2; }"
    plan = planned(body, "affine(Y, {[i] -> [i, 0]})")
    assert positions(plan) == [(0, 0, 0), (0, 1, 1)]
    check(plan)


def test_affine_on_a_statement_with_fewer_loops_sees_zeros() -> None:
    """`affine(Norm, {[i,j,0] -> [i,j,j]})` of [Namjoshi2016, appendix B], no dummy loop around Norm."""
    plan = planned(MATMUL, "affine(Init, {[i,j,0] -> [i,j,j]})")
    assert plan.leaf((0, 0, 0, 0)).loops == ("i", "j", "j1")
    assert str(plan.program.statement("S1").schedule).endswith("{ S1[i, j] -> [0, i, 0, j, 0, j, 0] }")


def test_affine_leaves_inner_iterators_where_the_map_is_short() -> None:
    plan = planned(MATMUL, "realign(Init, Mult, 0)\naffine(Mult, {[i,j] -> [j,i]})")
    assert plan.leaf((1, 0, 0, 0)).loops == ("j", "i", "k")
    check(plan)


def test_a_loop_removed_again_makes_the_vectors_short_again() -> None:
    script = "affine(Mult, {[i,j,k] -> [i,j,k,0]})"
    plan = planned(MATMUL, script)
    assert len(positions(plan)[0]) == 5
    assert plan.loops == 4


def test_isplit_of_a_component_that_spans_children_keeps_its_halves_apart() -> None:
    body = "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) L: a[j] = 1; for (j = 0; j < n; j++) b[j]=2; }"
    plan = planned(body, "W = lift(L, 1)\n(A, B) = isplit(W, {[i, j] : i < 2}, 1)")
    assert plan.components["A"].positions == ((0, 0, 0), (0, 1, 0))
    assert plan.components["B"].positions == ((0, 2, 0), (0, 3, 0))
    check(plan)


def test_isplit_then_the_halves_go_their_own_ways() -> None:
    split = "(A, B) = isplit(L2, {[i, j] : i < n - 3}, 0)\n"
    check(planned(FIGURE_4A, split + "affine(B, {[i,j] -> [j,i]})\naffine(A, {[i,j] -> [i,-j]})"))


def test_components_that_are_not_neighbours() -> None:
    error = refused(FIGURE_4A, "realign(L1, L3, 1)")
    assert "not adjacent: S3, S4 are between them" in error.message


def test_components_in_the_wrong_order_or_the_same() -> None:
    assert "does not come after" in refused(FIGURE_4A, "realign(L2, L1, 1)").message
    assert "overlap" in refused(FIGURE_4A, "realign(L1, L1, 1)").message


def test_more_common_loops_than_there_are() -> None:
    error = refused(FIGURE_4A, "realign(L1, L2, 3)")
    assert error.message == "3 common loops, but there are 2 around the last statement of the first component"
    assert "common loops" in refused(FIGURE_4A, "(A, B) = isplit(L1, {[i] : i < 3}, 3)").message
    assert "loop 3 of a component that has 2 loops" in refused(FIGURE_4A, "L = lift(L1, 3)").message


def test_maps_of_the_wrong_dimension() -> None:
    assert "takes 4 iterators" in refused(MATMUL, "affine(Mult, {[i,j,k,l] -> [i,j,k,l]})").message
    assert "gives only 1" in refused(MATMUL, "affine(Mult, {[i,j] -> [i]})").message
    assert "on 4 iterators" in refused(MATMUL, "(A, B) = isplit(Mult, {[i,j,k,l] : l < 3}, 1)").message


def test_maps_that_are_not_functions() -> None:
    error = refused(MATMUL, "affine(Mult, {[i,j,k] -> [i,j,m]})")
    assert "several values" in error.message and error.hint is not None and "m" in error.hint
    error = refused(MATMUL, "affine(Mult, {[i,j,k] -> [i,j,k] : k > 0})")
    assert "no value for iteration [0, 0, 0] (n = 1) of S2" in error.message
