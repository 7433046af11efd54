"""What a program is made of, and what running it costs."""

from __future__ import annotations

from benchmarks.running_cost import cost
from loopwright.loops.expressions import (
    TRUE,
    Compare,
    FloorDiv,
    Int,
    Min,
    Relation,
    Rem,
    Scaled,
    Select,
    Sum,
    TruncDiv,
    Var,
)
from loopwright.loops.nodes import Block, Call, For, If, Let, Remarked
from loopwright.loops.traverse import Size, free_variables, operations, rename, size, subprograms

C0, N = Var("i"), Var("n")
EVEN = Compare(Relation.EQ, Rem(C0, 2), Int(0))


def counted(bound: Var | Min) -> For:
    return For("i", Int(0), Compare(Relation.LT, C0, bound), 1, If(EVEN, Call("S", (C0,))))


def test_static_counts() -> None:
    choice = If(TRUE, Call("S", ()), Call("T", (FloorDiv(N, 2),)))
    program = Block((counted(Min((N, Int(8), Int(9)))), choice))
    expected = Size(loops=1, ifs=2, elses=1, calls=3, min_max=2, remainders=1, floor_divisions=1)
    assert size(program) == expected
    assert size(Let("m", Select(EVEN, N, TruncDiv(N, 2)), Remarked("x", Call("S", ())))) == Size(
        calls=1, remainders=1, divisions=1, selects=1
    )


def test_dynamic_counts() -> None:
    total = cost(counted(N), {"n": 5})
    assert (total.executions, total.iterations, total.empty_iterations) == (3, 5, 2)
    assert (total.tests, total.entries) == (5, 1)


def test_a_bound_that_does_not_change_is_computed_once() -> None:
    """Two loops that differ by an addition in the bound cost one operation more, however long."""
    plain = For("i", Int(0), Compare(Relation.LT, C0, N), 1, Call("S", (C0,)))
    shifted = For("i", Int(0), Compare(Relation.LT, C0, Sum((N, Int(0)))), 1, Call("S", (C0,)))
    assert cost(shifted, {"n": 50}).operations == cost(plain, {"n": 50}).operations + 1


def test_operations_of_expressions() -> None:
    assert operations(Sum((C0, Scaled(2, N), Int(1)))) == 3
    assert operations(EVEN) == 2


def test_the_parameters_of_a_program_are_its_free_variables() -> None:
    program = For("i", Var("m"), Compare(Relation.LT, C0, N), 1, Call("S", (C0, Var("k"))))
    assert free_variables(program) == {"m", "n", "k"}
    assert free_variables(Let("i", C0, Call("S", (C0,)))) == {"i"}
    assert [type(part).__name__ for part in subprograms(program)] == ["For", "Call"]


def test_renaming_reaches_every_variable() -> None:
    assert rename(Select(EVEN, Sum((C0, N)), Int(1)), {"i": "j"}) == Select(
        Compare(Relation.EQ, Rem(Var("j"), 2), Int(0)), Sum((Var("j"), N)), Int(1)
    )
