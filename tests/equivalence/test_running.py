"""Loops made functions of Python run what the interpreter of LOOP runs, and count the same iterations."""

from __future__ import annotations

import pytest

from loopwright.loops.expressions import And, Compare, Int, Relation, Scaled, Sum, Var
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Block, Call, For, If, Node
from loopwright.prove.descent.running import TooLong, Visit, compiled, counting

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
    found: list[tuple[str, tuple[int, ...]]] = []

    def visitor(called: str) -> Visit:
        return lambda *values: found.append((called, values))

    run = compiled(program).visiting({one: visitor(one) for one in ("outer", "inner", "after")})
    took = run({"n": size}, 1000)
    assert found == list(execute(program, {"n": size}))
    assert counting(program)({"n": size}, took) == took
    if took:
        with pytest.raises(TooLong):
            run({"n": size}, took - 1)
        with pytest.raises(TooLong):
            counting(program)({"n": size}, took - 1)


def test_more_loops_than_python_has() -> None:
    """They take too long, whatever the sizes: Python has twenty loops inside each other at most."""
    node: Node = Call("inner", ())
    for k in range(30):
        node = For(f"i{k}", Int(0), Compare(Relation.LT, Var(f"i{k}"), Int(1)), 1, node)
    with pytest.raises(TooLong):
        counting(node)({}, 1000)
