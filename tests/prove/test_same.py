"""Loops that are the same up to names and the form of affine expressions, and loops that are not."""

import pytest

from loopwright.loops.expressions import Compare, Expr, FloorDiv, Int, Max, Min, Relation, Scaled, Sum, Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.prove.scanning.scan import ScannedLoops

ZERO, A, B, N = Int(0), Var("i"), Var("j"), Var("n")
LAST = Sum((N, Int(-1)))


def loop(name: str, body: Node, start: Expr = ZERO, less: Expr = N, step: int = 1) -> Node:
    return For(name, start, Compare(Relation.LT, Var(name), less), step, body)


def when(relation: Relation, then: Node, orelse: Node | None = None) -> Node:
    return If(Compare(relation, Var("n"), ZERO), then, orelse)


def call(*arguments: Expr) -> Node:
    return Call("S", arguments)


BACK = Let("i", Scaled(-1, Var("i'")), call(A))
PAIR = loop("i", loop("j", call(A, B)))

SAME = {
    "names": (PAIR, loop("j", loop("i", call(B, A)))),
    "a name again": (loop("i", PAIR), loop("k", PAIR)),
    "comparisons": (loop("i", call(A)), For("i", ZERO, Compare(Relation.GE, LAST, A), 1, call(A))),
    "sums": (loop("i", call(Sum((A, Sum((A, Int(2))))))), loop("i", call(Sum((Scaled(2, A), Int(2)))))),
    "blocks and remarks": (loop("i", Block((Remarked("note", call(A)), Block(())))), loop("i", call(A))),
    "counted down": (
        For("i'", Scaled(-1, LAST), Compare(Relation.GE, Scaled(-1, Var("i'")), ZERO), 1, BACK),
        For("j", Sum((Int(1), Scaled(-1, N))), Compare(Relation.LE, B, ZERO), 1, call(Scaled(-1, B))),
    ),
    "greatest": (call(Scaled(-1, Min((N, Int(3))))), call(Max((Scaled(-1, N), Int(-3))))),
}
OTHER = {
    "arguments": (PAIR, loop("i", loop("j", call(B, A)))),
    "an iterator and a parameter": (loop("i", call(A)), loop("j", call(A))),
    "bounds": (loop("i", call(A)), loop("i", call(A), less=LAST)),
    "starts": (loop("i", call(A)), loop("i", call(A), start=Int(1))),
    "steps": (loop("i", call(A)), loop("i", call(A), step=2)),
    "statements": (call(A), Call("T", (A,))),
    "order": (Block((call(A), call(B))), Block((call(B), call(A)))),
    "branches": (when(Relation.GT, call(A)), when(Relation.GE, call(A))),
    "equality": (when(Relation.EQ, call(A)), when(Relation.NE, call(A))),
    "the other branch": (when(Relation.GT, call(A)), when(Relation.GT, call(A), call(B))),
    "quotients": (call(FloorDiv(N, 2)), call(FloorDiv(N, 3))),
    "greatest and least": (call(Min((N, A))), call(Max((N, A)))),
    "times": (Call("S", (A,), (A,)), Call("S", (A,), (B,))),
    "a name of an outer loop": (loop("i", loop("j", call(A))), loop("i", loop("j", call(B)))),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same(name: str) -> None:
    one, other = SAME[name]
    assert ScannedLoops(one, 1).are(other) and ScannedLoops(other, 1).are(one)


@pytest.mark.parametrize("name", OTHER)
def test_others(name: str) -> None:
    one, other = OTHER[name]
    assert not ScannedLoops(one, 1).are(other) and not ScannedLoops(other, 1).are(one)
