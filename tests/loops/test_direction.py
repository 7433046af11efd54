"""A loop counted the other way runs the same iterations in the same order."""

from __future__ import annotations

import pytest

from loopwright.loops.expressions import Compare, Int, Max, Relation, Scaled, Sum, Var
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Call, For, Let
from loopwright.loops.traverse import counted_down, counted_up
from loopwright.model.annotations import Parallel

C0, N = Var("i"), Var("n")
BACKWARDS = Scaled(-1, C0)


def upwards(*arguments: Var | Scaled, step: int = 1) -> For:
    """for (i = 1 - n; i <= 0; i += step) S(arguments)"""
    start = Sum((Int(1), Scaled(-1, N)))
    test = Compare(Relation.LE, C0, Int(0))
    return For("i", start, test, step, Call("S", arguments), 0, (Parallel(),))


@pytest.mark.parametrize("step", [1, 3])
def test_statements_that_use_the_negative(step: int) -> None:
    loop = upwards(BACKWARDS, step=step)
    down = counted_down(loop)
    assert isinstance(down, For) and down.step == -step
    assert down.body == Call("S", (C0,))
    assert (down.dimension, down.annotations) == (0, (Parallel(),))
    for n in (0, 1, 5):
        assert list(execute(down, {"n": n})) == list(execute(loop, {"n": n}))


def test_statements_that_use_the_iterator_itself_too() -> None:
    loop = upwards(BACKWARDS, C0)
    assert counted_down(loop) == loop


@pytest.mark.parametrize("step", [-1, -3])
def test_down_and_up_again(step: int) -> None:
    lowest = Max((Scaled(-1, N), Int(-4)))
    body = Let("k", Scaled(2, C0), Call("S", (Var("k"),)))
    loop = For("i", N, Compare(Relation.GT, C0, lowest), step, body, 0)
    up = counted_up(loop)
    assert (up.step, up.dimension) == (-step, 0)
    for n in (0, 1, 7):
        assert list(execute(up, {"n": n})) == list(execute(loop, {"n": n}))
