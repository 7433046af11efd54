"""Loops of constant length: the same executions, in the same order."""

from __future__ import annotations

import pytest

from loopwright.emit.cuda.predication import predicated
from loopwright.emit.cuda.uniform import with_uniform_tests
from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
    Int,
    Max,
    Min,
    Or,
    Relation,
    Scaled,
    Sum,
    Test,
    Var,
)
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Call, For, If, Node
from loopwright.model.annotations import ThreadLoop

X, N, Y = Var("i"), Var("n"), Var("y")
LOW, HIGH = Scaled(4, Y), Sum((Scaled(4, Y), Int(3)))


def strips(first: Expr, last: Expr, relation: Relation, *annotations: ThreadLoop) -> Node:
    inner = For("i", first, Compare(relation, X, last), 1, Call("S", (Y, X)), annotations=annotations)
    return For("y", Int(0), Compare(Relation.LE, Y, Int(4)), 1, inner)


@pytest.mark.parametrize("relation", [Relation.LE, Relation.LT])
@pytest.mark.parametrize("annotations", [(), (ThreadLoop(axis="x", count=4),)])
def test_the_same_executions(relation: Relation, annotations: tuple[ThreadLoop, ...]) -> None:
    before = strips(Max((Int(2), LOW)), Min((HIGH, N, Int(17))), relation, *annotations)
    after = predicated(before, {})
    assert after != before
    for n in range(-1, 23):
        assert list(execute(after, {"n": n})) == list(execute(before, {"n": n}))


def test_what_a_thread_runs_has_both_forms_and_a_loop_over_threads_one() -> None:
    bounds = Max((Int(2), LOW)), Min((HIGH, N))
    own = predicated(strips(*bounds, Relation.LE), {})
    shared = predicated(strips(*bounds, Relation.LE, ThreadLoop(axis="x", count=4)), {})
    assert isinstance(own, For) and isinstance(own.body, If) and own.body.orelse is not None
    assert isinstance(shared, For) and isinstance(shared.body, For) and isinstance(shared.body.body, If)


@pytest.mark.parametrize(("first", "last"), [(LOW, HIGH), (Max((Int(2), LOW)), N), (LOW, Min((N, Int(9))))])
def test_other_loops_stay(first: Expr, last: Expr) -> None:
    loop = strips(first, last, Relation.LE)
    assert predicated(loop, {}) == loop


def compare(left: Expr, sign: str, right: Expr) -> Test:
    return Compare(Relation(sign), left, right)


LANE = Var("x")


@pytest.mark.parametrize(
    "test, is_around",
    [
        (Or((compare(Sum((Scaled(2, Y), X)), ">=", N), compare(Sum((X, Y)), "<", Int(3)))), True),
        (Or((compare(X, "==", N), And((compare(Y, "==", Int(3)), compare(LANE, "==", Int(7)))))), True),
        (Or((compare(Sum((X, LANE)), ">", Sum((N, Y))), compare(Sum((Y, LANE)), "<=", X))), True),
        (Or((compare(Max((X, N)), "<", Y), compare(Y, "==", X))), False),
        (compare(Sum((Scaled(2, Y), X)), ">=", N), True),
        (And((compare(Sum((Scaled(2, Y), X)), ">", N), compare(Sum((LANE, X)), "<=", Y))), True),
        (And((compare(X, "<", N), compare(X, "==", Y))), False),
        (compare(Max((X, N)), "<", Y), False),
    ],
)
def test_a_test_around_many_runs_the_same(test: Test, is_around: bool) -> None:
    """What follows from tests of single cells, where there are several, and what these follow from."""
    cells = For("i", Int(1), Compare(Relation.LE, X, Int(5)), 1, If(test, Call("S", (Y, Var("x"), X))))
    until = Compare(Relation.LE, Var("x"), Int(31))
    lanes = For("x", Int(0), until, 1, cells, annotations=(ThreadLoop(axis="x", count=32),))
    before = For("y", Int(0), Compare(Relation.LE, Y, Int(4)), 1, lanes)
    after = with_uniform_tests(before)
    assert (after != before) is is_around
    for n in range(-1, 23, 2):
        assert list(execute(after, {"n": n})) == list(execute(before, {"n": n}))


def test_tests_around_cells_at_borders_are_asked_of_these() -> None:
    """Tests of rows and of cells, around loops and in them: one of each cell, and the border's around all."""
    border = Or((compare(Sum((X, LANE)), ">=", N), compare(Y, "==", Int(2))))
    cells: Node = If(border, Call("S", (Y, LANE, X)))
    cells = For("i", Int(1), Compare(Relation.LE, X, Int(3)), 1, If(compare(X, "<=", Y), cells))
    until = Compare(Relation.LE, LANE, Int(31))
    tested = If(compare(Sum((LANE, Y)), ">=", Int(4)), cells)
    lanes = For("x", Int(0), until, 1, tested, annotations=(ThreadLoop(axis="x", count=32),))
    before = For("y", Int(0), Compare(Relation.LE, Y, Int(4)), 1, lanes)
    after = with_uniform_tests(before)
    assert isinstance(after, For) and isinstance(after.body, For) and isinstance(after.body.body, If)
    assert isinstance(after.body.body.test, Or) and isinstance(after.body.body.then, For)
    for n in range(-1, 38, 3):
        assert list(execute(after, {"n": n})) == list(execute(before, {"n": n}))
