"""Loops run by `native.c` make the calls that the interpreter of LOOP makes, and take as many iterations."""

from __future__ import annotations

import pytest

from loopwright.loops.expressions import And, Compare, Int, Relation, Scaled, Sum, Var
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Block, Call, For, If, Node
from loopwright.prove.descent import instances
from loopwright.prove.descent.encoding import NotNative
from loopwright.prove.descent.instances import executions
from loopwright.prove.equivalence.pairs import Pair

OUTER, J, N = Var("i"), Var("j"), Var("n")


def _called(body: Node, start: int, relation: Relation, step: int) -> Node:
    outer = For("i", Int(start), Compare(relation, OUTER, N), step, Block((Call("outer", (OUTER,)), body)))
    return Block((outer, Call("after", ())))


INNER = Call("inner", (OUTER, J))
LOOPS: dict[str, tuple[Relation, int, Node]] = {
    "up to": (Relation.LE, 1, For("j", OUTER, Compare(Relation.LT, J, N), 2, INNER)),
    "below": (Relation.LT, 3, For("j", Int(5), Compare(Relation.GE, J, OUTER), -1, INNER)),
    "down to": (Relation.GE, -2, For("j", Int(9), Compare(Relation.GT, J, N), -3, INNER)),
    "above": (Relation.GT, -1, For("j", Int(0), Compare(Relation.LE, Scaled(2, J), OUTER), 1, INNER)),
    "two bounds": (
        Relation.LE,
        1,
        For("j", Int(0), And((Compare(Relation.LE, J, OUTER), Compare(Relation.LT, J, Int(3)))), 1, INNER),
    ),
    "its own bound": (
        Relation.LE,
        1,
        For("j", OUTER, Compare(Relation.LE, J, Sum((N, Scaled(-1, J)))), 1, INNER),
    ),
    "nothing inside": (Relation.LE, 1, For("j", OUTER, Compare(Relation.LE, J, N), 1, Block(()))),
    "a condition": (
        Relation.LE,
        1,
        If(Compare(Relation.EQ, OUTER, Int(2)), Block(()), Call("inner", (OUTER, N))),
    ),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("size", (-2, 0, 4, 7))
def test_as_the_interpreter_runs_them(name: str, size: int) -> None:
    relation, step, body = LOOPS[name]
    program = _called(body, 6 if step < 0 else 0, relation, step)
    expected = list(execute(program, {"n": size}))
    assert executions(program, Block(()))({"n": size}) == (expected, [])
    assert executions(Block(()), program)({"n": size}) == ([], expected)


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python runs them, and so it does where numbers are too large for C."""

    def refused(pair: Pair) -> None:
        raise NotNative

    relation, step, body = LOOPS["up to"]
    program = _called(body, 0, relation, step)
    expected = list(execute(program, {"n": 4}))
    monkeypatch.setattr(instances, "native_pair", refused)
    assert executions(program, program)({"n": 4}) == (expected, expected)


def test_many_loops_inside_each_other() -> None:
    node: Node = Call("inner", ())
    for k in range(30):
        node = For(f"i{k}", Int(0), Compare(Relation.LT, Var(f"i{k}"), Int(1)), 1, node)
    assert executions(node, node)({}) == ([("inner", ())], [("inner", ())])


def test_runs_that_are_too_long_tell_nothing() -> None:
    program = For("i", Int(0), Compare(Relation.LT, OUTER, N), 1, Call("outer", (OUTER,)))
    assert executions(program, program)({"n": instances.LONGEST_RUN + 1}) == ([], [])
