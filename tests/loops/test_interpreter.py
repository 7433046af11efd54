"""LOOP has the meaning of C: the interpreter against the integer arithmetic of a C compiler."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.errors import GaveUp, InternalError
from loopwright.loops.expressions import (
    FALSE,
    TRUE,
    And,
    Compare,
    FloorDiv,
    Int,
    Max,
    Min,
    Not,
    Or,
    Relation,
    Rem,
    Scaled,
    Select,
    Sum,
    TruncDiv,
    Var,
)
from loopwright.loops.interpreter import evaluate, execute, holds
from loopwright.loops.nodes import EMPTY, Block, Call, For, If, Let, Remarked
from loopwright.model.annotations import Annotation, Parallel, Unrolled, Vector

C0, J, N = Var("i"), Var("j"), Var("n")


def less(left: Var | Int, right: Var | Int) -> Compare:
    return Compare(Relation.LT, left, right)


@pytest.mark.parametrize(
    ("value", "floor", "quotient", "remainder"),
    [(7, 2, 2, 1), (-7, -3, -2, -1), (6, 2, 2, 0), (-6, -2, -2, 0), (0, 0, 0, 0), (-1, -1, 0, -1)],
)
def test_division_by_three(value: int, floor: int, quotient: int, remainder: int) -> None:
    env = {"n": value}
    assert evaluate(FloorDiv(N, 3), env) == floor
    assert evaluate(TruncDiv(N, 3), env) == quotient
    assert evaluate(Rem(N, 3), env) == remainder


@given(st.integers(), st.integers(min_value=1))
def test_quotient_and_remainder_make_the_dividend(value: int, divisor: int) -> None:
    """C11 6.5.5: (a / b) * b + a % b == a, the remainder with the sign of a."""
    env = {"n": value}
    remainder = evaluate(Rem(N, divisor), env)
    assert evaluate(TruncDiv(N, divisor), env) * divisor + remainder == value
    assert abs(remainder) < divisor
    assert remainder * value >= 0


def test_sums_minima_and_choices() -> None:
    env = {"i": 4, "n": 10}
    assert evaluate(Sum((N, Scaled(-2, C0), Int(3))), env) == 5
    assert evaluate(Min((N, C0, Int(7))), env) == 4
    assert evaluate(Max((N, C0, Int(7))), env) == 10
    assert evaluate(Select(less(C0, N), Int(1), Int(2)), env) == 1
    assert evaluate(Select(less(N, C0), Int(1), Int(2)), env) == 2


def test_relations() -> None:
    def true_for(left: int, right: int) -> set[str]:
        return {r.value for r in Relation if holds(Compare(r, Int(left), Int(right)), {})}

    assert true_for(1, 2) == {"!=", "<=", "<"}
    assert true_for(2, 2) == {"==", "<=", ">="}
    assert true_for(3, 2) == {"!=", ">=", ">"}


def test_connectives() -> None:
    assert holds(TRUE, {})
    assert not holds(FALSE, {})
    assert holds(And((TRUE, Not(FALSE))), {})
    assert not holds(Or((FALSE, Not(TRUE))), {})


def test_calls_come_in_order() -> None:
    """for i = 0..2: A(i); if (i < 1) B(i + 1); else { m = 2 i; C(m, n) }"""
    otherwise = Let("m", Scaled(2, C0), Call("C", (Var("m"), N)))
    choice = If(less(C0, Int(1)), Call("B", (Sum((C0, Int(1))),)), otherwise)
    body = Block((Remarked("note", Call("A", (C0,))), choice))
    program = For("i", Int(0), less(C0, N), 1, body)
    assert list(execute(program, {"n": 3})) == [
        ("A", (0,)), ("B", (1,)), ("A", (1,)), ("C", (2, 3)), ("A", (2,)), ("C", (4, 3)),
    ]  # fmt: skip


def test_a_loop_ends_at_the_first_failure_of_its_test() -> None:
    program = For("i", Int(1), Compare(Relation.NE, C0, Int(7)), 3, Call("S", (C0,)))
    assert list(execute(program, {})) == [("S", (1,)), ("S", (4,))]
    assert list(execute(For("i", Int(0), FALSE, 1, Call("S", ())), {})) == []


def test_an_infinite_loop_can_be_looked_at_and_limited() -> None:
    program = For("i", Int(0), TRUE, 2, Call("S", (C0,)))
    assert list(islice(execute(program, {}), 3)) == [("S", (0,)), ("S", (2,)), ("S", (4,))]
    with pytest.raises(GaveUp, match="loop over i"):
        list(execute(program, {}, limit=100))
    with pytest.raises(GaveUp):
        list(execute(For("i", Int(0), TRUE, 1, EMPTY), {}, limit=100))


def test_a_limit_that_suffices_changes_nothing() -> None:
    program = For("i", Int(0), less(C0, Int(4)), 1, Call("S", (C0,)))
    assert list(execute(program, {}, limit=4)) == list(execute(program, {}))


def test_a_negative_step_counts_down() -> None:
    program = For("i", N, Compare(Relation.GE, C0, Int(0)), -2, Call("S", (C0,)))
    assert list(execute(program, {"n": 5})) == [("S", (5,)), ("S", (3,)), ("S", (1,))]


@pytest.mark.parametrize("annotation", [Parallel(), Vector()])
def test_independent_iterations_run_in_any_order(annotation: Annotation) -> None:
    """Those of other loops keep theirs, inside and outside."""
    inner = For("j", Int(0), less(J, Int(2)), 1, Call("S", (C0, J)))
    program = For("i", Int(0), less(C0, Int(3)), 1, inner, annotations=(annotation,))
    calls = [("S", (i, j)) for i in (2, 1, 0) for j in (0, 1)]
    assert list(execute(program, {}, shuffle=lambda values: values[::-1])) == calls
    assert list(execute(program, {})) == sorted(calls)


@pytest.mark.parametrize("annotations", [(), (Unrolled(2),)])
def test_other_iterations_do_not(annotations: tuple[Annotation, ...]) -> None:
    program = For("i", Int(0), less(C0, Int(3)), 1, Call("S", (C0,)), annotations=annotations)
    calls = [("S", (i,)) for i in range(3)]
    assert list(execute(program, {}, shuffle=lambda values: values[::-1])) == calls


def test_programs_without_meaning_are_refused() -> None:
    with pytest.raises(InternalError, match="'j'"):
        list(execute(Call("S", (J,)), {"i": 1}))
    with pytest.raises(InternalError, match="step 0"):
        list(execute(For("i", Int(0), TRUE, 0, EMPTY), {}))
    with pytest.raises(InternalError, match="division by 0"):
        evaluate(Rem(C0, 0), {"i": 1})
