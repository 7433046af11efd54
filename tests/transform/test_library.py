"""The named transformations: what they are in terms of the operators, and what comes of them."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.emit.c import to_c
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.annotations import Parallel, Unrolled, Vector
from loopwright.prove.legality.plans import prove_plan
from loopwright.transform import DirectiveKind, Plan
from loopwright.transform.relations import function_of
from tests.transform.support import FIGURE_3A, FIGURE_4A, MATMUL, check, planned, refused

SPLIT = "distribute(Init, Mult)\n"
TRIANGLE = "for (i = 0; i < n; i++) for (j = 0; j <= i; j++) L: A[i][j] = 1;"


def same_schedules(one: Plan, other: Plan) -> bool:
    return all(
        mine.schedule.is_equal(theirs.schedule)
        for mine, theirs in zip(one.program.statements, other.program.statements, strict=True)
    )


@pytest.mark.parametrize(
    ("body", "named", "operators"),
    [
        (MATMUL, "interchange(Mult, j, k)", "affine(Mult, {[i,j,k] -> [i,k,j]})"),
        (MATMUL, "interchange(Mult, [k, i, j])", "affine(Mult, {[i,j,k] -> [k,i,j]})"),
        (MATMUL, "interchange(Mult, [k, i])", "affine(Mult, {[i,j,k] -> [k,j,i]})"),
        (MATMUL, "skew(Mult, k, i, 2)", "affine(Mult, {[i,j,k] -> [i,j,k+2i]})"),
        (MATMUL, "shift(Mult, j, -3)", "affine(Mult, {[i,j,k] -> [i,j-3,k]})"),
        (MATMUL, "reverse(Init, j)", "affine(Init, {[i,j] -> [i,-j]})"),
        (MATMUL, "strip_mine(Mult, k, 8)", "affine(Mult, {[i,j,k] -> [i,j,k/8,k]})"),
        (MATMUL, "distribute(Init, Mult)", "realign(Init, Mult, 0)"),
        (MATMUL, "distribute(Init, Mult, 1)", "realign(Init, Mult, 1)"),
        (FIGURE_3A, "L = fuse(L1, L2)", "realign(L1, L2, 2)"),
        (FIGURE_3A, "L = fuse(L1, L2, 1)", "realign(L1, L2, 1)"),
        (
            MATMUL,
            SPLIT + "tile(Mult, 4, 8, 16)",
            SPLIT + "affine(Mult, {[i,j,k] -> [i/4, j/8, k/16, i, j, k]})",
        ),
        (MATMUL, SPLIT + "tile(Mult, 8, 16)", SPLIT + "affine(Mult, {[i,j,k] -> [i, j/8, k/16, j, k]})"),
        (MATMUL, SPLIT + "tile(Mult, k=8, i=16)", SPLIT + "affine(Mult, {[i,j,k] -> [k/8, i/16, i, j, k]})"),
        (
            MATMUL,
            SPLIT + "unroll_and_jam(Mult, i=2, j=3)",
            SPLIT + "affine(Mult, {[i,j,k] -> [i/2, j/3, k, i, j]})",
        ),
        (MATMUL, "unroll(Mult, k, 4)", "affine(Mult, {[i,j,k] -> [i,j,k/4,k]})"),
        (MATMUL, "sink(Init, Mult, 0)", "affine(Init, {[i,j] -> [i,j,0]})\nrealign(Init, Mult, 3)"),
    ],
)
def test_library_operations_are_made_of_the_operators(body: str, named: str, operators: str) -> None:
    plan = planned(body, named)
    assert same_schedules(plan, planned(body, operators))
    check(plan)


def test_names_follow_their_loops() -> None:
    plan = planned(MATMUL, SPLIT + "interchange(Mult, j, k)\ntile(Mult, 4, 4)\ninterchange(Mult, kT, i)")
    assert plan.leaf(plan.components["Mult"].first).loops == ("kT", "i", "jT", "k", "j")


def test_there_is_always_another_name() -> None:
    doubled = function_of(isl.Map("{[i] -> [i, i]}"), ("i", None))
    taken = tuple(f"i{k}" for k in range(1, 150))
    assert doubled.loop_names(("i", *taken)) == ("i", "i150", *taken)


def test_distribute_into_statements() -> None:
    plan = planned(FIGURE_4A, "distribute(L2)")
    text = to_c(check(plan))
    assert text.count("for (int c0") == 3


def test_reorder_exchanges_neighbours() -> None:
    plan = planned(FIGURE_4A, "A = lift(L2, 2)\nB = lift(L3, 2)\nreorder(A, B)")
    assert plan.components["L3"].last < plan.components["L2"].first
    check(plan)


def test_reorder_of_parts_of_loops_is_refused() -> None:
    assert "share a loop with S5, S6" in refused(FIGURE_4A, "reorder(L1, L2)").message


def test_reorder_twice_changes_nothing() -> None:
    plan = planned(MATMUL, "reorder(Init, Mult)\nreorder(Init, Mult)")
    assert plan.program.schedule().is_equal(plan.original.schedule())


def test_reorder_inside_a_loop_of_several() -> None:
    body = "for (i = 0; i < n; i++) { A: a[i] = 1; B: b[i] = 2; C: a[i] = 3; }"
    plan = planned(body, "reorder(S1, S2)")
    assert [plan.statements_at(plan.components[name]) for name in ("S1", "S2", "S3")] == [
        ("S1",),
        ("S2",),
        ("S3",),
    ]
    assert to_c(check(plan)).index("S2") < to_c(check(plan)).index("S1") < to_c(check(plan)).index("S3")


def test_unroll_writes_out_full_strips_and_keeps_the_rest() -> None:
    text = to_c(check(planned("for (i = 0; i < n; i++) L: a[i] = 1;", "unroll(L, i, 4)")))
    assert "S1(4 * c0 + 3);" in text


def test_unroll_completely() -> None:
    plan = planned("for (i = 0; i < n; i++) for (j = 0; j < 3; j++) L: A[i][j] = 1;", "unroll(L, j)")
    assert to_c(check(plan)) == (
        "for (int c0 = 0; c0 < n; c0 += 1) {\n  S1(c0, 0);\n  S1(c0, 1);\n  S1(c0, 2);\n}\n"
    )


def test_register_tiles_of_a_triangle() -> None:
    """Full tiles need no guards; what the diagonal cuts is generated apart."""
    plan = planned(TRIANGLE, "unroll_and_jam(L, i=2)")
    text = to_c(check(plan))
    assert "    S1(2 * c0, c1);\n    S1(2 * c0 + 1, c1);" in text


def test_full_tiles_have_constant_bounds() -> None:
    plan = planned(MATMUL, SPLIT + "tile(Mult, 4, 4, 4, full)")
    text = to_c(check(plan))
    assert "for (int c5 = 4 * c2; c5 <= 4 * c2 + 3; c5 += 1)" in text
    assert [directive.kind for directive in plan.directives] == [DirectiveKind.ISOLATE]


def annotated(node: Node) -> list[For]:
    return [part for part in subprograms(node) if isinstance(part, For) and part.annotations]


def test_directives_follow_their_loops() -> None:
    plan = planned(MATMUL, SPLIT + "parallel(Mult, i)\ntile(Mult, 4, 4, 4)\nvectorize(Mult, j)")
    parallel, vector = plan.directives
    loops = plan.leaf(plan.components["Mult"].first).loops
    assert (loops[parallel.loop], loops[vector.loop]) == ("i", "j")
    assert parallel.dimension == 2 * loops.index("i") + 1
    assert parallel.span is not None and parallel.span.line == 2
    found = {loop.dimension: loop.annotations for loop in annotated(check(plan))}
    assert found == {3: (Parallel(),), 4: (Vector(),)}


def test_a_directive_in_the_way() -> None:
    error = refused(MATMUL, "parallel(Mult, k)\nreverse(Mult, k)")
    assert error.message == "this changes a loop that is already marked 'parallel'"
    assert error.hint is not None and "after the operations" in error.hint


def test_marks_of_loops_in_the_same_nest() -> None:
    plan = planned(FIGURE_4A, "parallel(L2, i)\nvectorize(L2, j)\nvectorize(L3, j)\nunroll(L1, j, 2)")
    found = [(loop.dimension, one) for loop in annotated(check(plan)) for one in loop.annotations]
    assert found == [(1, Unrolled(2)), (0, Parallel()), (1, Vector()), (1, Vector())]


def test_separate_cuts_a_fused_loop_at_the_bounds() -> None:
    body = "for (i = 0; i < n; i++) A: a[i] = 1;\nfor (i = 2; i < n; i++) B: b[i] = 2;"
    plan = planned(body, "L = fuse(A, B)\nseparate(L, i)")
    assert "if" not in to_c(check(plan)).replace("\n", " ").split("for", 1)[1].split("{")[0]
    check(plan)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("tile(Mult, 4, 4, 4, 4)", "4 tile sizes, but the statements share 3 loops"),
        ("W = lift(Mult, 2)\ntile(W, i=4, k=4)", "but does not enclose S1"),
        ("W = lift(Mult, 1)\ntile(W, 4, 4, 4)", "3 tile sizes, but the statements share 2 loops"),
        ("tile(Mult, 4, 4)", "the loop over j has other statements in it: S1"),
        ("strip_mine(Init, i, 4)", "the loop over i has other statements in it: S2"),
        ("tile(Mult, i=4, i=4)", "a loop is tiled twice"),
        ("tile(Mult, i=4, 4)", "this one does not"),
        ("tile(Mult, skew)", "tile without a number"),
        ("interchange(Mult, i, i)", "with itself"),
        ("skew(Mult, i, i, 1)", "along itself"),
        ("fuse(Init)", "at least 2 loop components are needed, not 1"),
        ("fuse(Init, 2)", "at least 2 loop components"),
        ("sink(Mult, Init, 0)", "3 loops around them already"),
        ("unroll_and_jam(Mult, i)", "without a number"),
        ("shift(Init, k, 1)", "no loop of the component has the iterator k"),
        ("W = lift(Mult, 1)\nreverse(W, k)", "loop 3 of some statements of the component, but does not"),
        ("shift(Mult, i, 1)\nfrom_zero()", "an earlier operation changed the loops"),
    ],
)
def test_misuse(script: str, message: str) -> None:
    assert message in refused(MATMUL, script).message


def test_from_zero() -> None:
    body = "for (i = n; i > 2; i -= 3) for (j = i; j < n; j += 2) L: A[i][j] = 0;"
    plan = planned(body, "from_zero()")
    statement = plan.program.statement("S1")
    times = statement.schedule.intersect_domain(statement.domain).range()
    counted = isl.Set("[n] -> { [0, i, 0, j, 0] : 0 <= 3i < n - 2 and 0 <= j and 2j < 3i }")
    assert times.is_equal(counted)
    assert not prove_plan(plan).violations
    check(plan)


def test_jamming_copies_a_body_of_two_statements_together() -> None:
    body = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { P: A[i][j] = 1; B[i][j] = A[i][j]; }"
    text = to_c(check(planned(body, "L = lift(P, 2)\nunroll_and_jam(L, i=2)")))
    assert "S1(2 * c0, c1);\n    S2(2 * c0, c1);\n    S1(2 * c0 + 1, c1);\n" in text


def test_jamming_around_an_imperfect_nest() -> None:
    """Each body has its copies; they are written out although they are in bands of their own."""
    plan = planned(MATMUL, "L = lift(Init, 1)\nunroll_and_jam(L, i=2)")
    text = to_c(check(plan))
    assert "S1(2 * c0 + 1, c1);" in text and "S2(2 * c0 + 1, c1, c2);" in text
    assert not prove_plan(plan).violations


def test_full_tiles_and_register_tiles_together() -> None:
    check(planned(MATMUL, SPLIT + "tile(Mult, 4, 4, 4, full)\nunroll_and_jam(Mult, i=2)"))


def test_a_loop_without_a_constant_bound_cannot_be_written_out() -> None:
    error = refused(MATMUL, "unroll(Mult, k)")
    assert error.message == "the number of iterations of k is not a constant"
    check(planned(MATMUL, SPLIT + "tile(Mult, 2, 2)\nunroll(Mult, k)"))


def test_labels_called_like_our_own_words_survive() -> None:
    body = "for (i = 0; i < n; i++) { sunk: a[i] = 0; for (j = 0; j < n; j++) tiled: a[i] += b[j]; }"
    plan = planned(body, "unrolled = sink(sunk, tiled, 0)\ntile(unrolled, 4, 4)\nunroll(unrolled, iT, 2)")
    assert {"sunk", "tiled", "unrolled"} <= set(plan.components)
