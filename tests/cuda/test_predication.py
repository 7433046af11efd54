"""Loops of constant length: the same executions, in the same order."""

from __future__ import annotations

import pytest

from loopwright.emit.cuda.predication import predicated
from loopwright.loops.expressions import Compare, Expr, Int, Max, Min, Relation, Scaled, Sum, Var
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
