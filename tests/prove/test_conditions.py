"""Expressions, tests and loops as sets, against the interpreter, which is their meaning."""

from __future__ import annotations

from itertools import islice

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
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
    Test,
    TruncDiv,
    Var,
)
from loopwright.loops.interpreter import evaluate, execute, holds
from loopwright.loops.nodes import Call, For
from loopwright.prove.scanning.conditions import IteratorScope, negation, region, value
from loopwright.prove.scanning.executed import ends, executed, is_upper_bound, runs

NAMES = ("i", "n")
SCOPE = IteratorScope(isl.Set("[n] -> { [i] }"), {"i": 0})
values = st.integers(-9, 9)
divisors = st.integers(1, 4)


def grown(expressions: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    several = st.lists(expressions, min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(Sum, several),
        st.builds(Scaled, st.integers(-3, 3), expressions),
        st.builds(FloorDiv, expressions, divisors),
        st.builds(TruncDiv, expressions, divisors),
        st.builds(Rem, expressions, divisors),
        st.builds(Min, several),
        st.builds(Max, several),
        st.builds(Select, comparisons(expressions), expressions, expressions),
    )


def comparisons(expressions: st.SearchStrategy[Expr]) -> st.SearchStrategy[Test]:
    return st.builds(Compare, st.sampled_from(list(Relation)), expressions, expressions)


leaves: st.SearchStrategy[Expr] = st.one_of(
    st.builds(Int, values), st.sampled_from([Var(name) for name in NAMES])
)
expressions = st.recursive(leaves, grown, max_leaves=4)
tests = st.recursive(
    comparisons(expressions),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, max_size=2).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=2).map(tuple)),
    ),
    max_leaves=3,
)


def at(i: int, n: int) -> isl.Set:
    return isl.Set(f"[n] -> {{ [{i}] : n = {n} }}")


@given(expressions, values, values)
def test_values(expr: Expr, i: int, n: int) -> None:
    graph = isl.Map.from_pw_aff(value(expr, SCOPE)).intersect_domain(at(i, n))
    wanted = evaluate(expr, {"i": i, "n": n})
    assert graph.range().project_out_all_params().is_equal(isl.Set(f"{{ [{wanted}] }}"))


@given(tests, values, values)
def test_regions(test: Test, i: int, n: int) -> None:
    inside = not region(test, SCOPE).intersect(at(i, n)).is_empty()
    assert inside == holds(test, {"i": i, "n": n})
    assert inside != holds(negation(test), {"i": i, "n": n})


@given(expressions, tests, st.integers(1, 3), values)
def test_iterations(start: Expr, test: Test, step: int, n: int) -> None:
    """A loop takes the values from its start to the first for which its test fails, and no others."""
    loop = For("i", without_i(start), test, step, Call("S", (Var("i"),)))
    (run,) = runs(executed(loop, isl.Set(f"[n] -> {{ : n = {n} }}")))
    reached = run.domain.project_out_all_params()
    seen = [arguments[0] for _, arguments in islice(execute(loop, {"n": n}), 12)]
    wanted = isl.Set(f"{{ {'; '.join(f'[{one}]' for one in seen)} }}") if seen else isl.Set("{ [i] : false }")
    assert wanted.is_subset(reached)
    if len(seen) < 12:
        assert reached.is_subset(wanted)


def without_i(expr: Expr) -> Expr:
    """A loop's start is outside its scope: `i` there is a number."""
    match expr:
        case Var("i"):
            return Int(2)
        case Int() | Var():
            return expr
        case Sum(terms):
            return Sum(tuple(map(without_i, terms)))
        case Scaled(factor, argument):
            return Scaled(factor, without_i(argument))
        case FloorDiv(argument, divisor):
            return FloorDiv(without_i(argument), divisor)
        case TruncDiv(argument, divisor):
            return TruncDiv(without_i(argument), divisor)
        case Rem(argument, divisor):
            return Rem(without_i(argument), divisor)
        case Min(arguments):
            return Min(tuple(map(without_i, arguments)))
        case Max(arguments):
            return Max(tuple(map(without_i, arguments)))
        case Select(_, then, _):
            return without_i(then)


@given(tests, st.integers(-3, 3))
def test_what_is_said_of_tests_as_the_iterator_grows(test: Test, n: int) -> None:
    run = [holds(test, {"i": i, "n": n}) for i in range(-40, 400)]
    if is_upper_bound(test, "i"):
        assert run == sorted(run, reverse=True)
    if ends(test, "i"):
        assert not run[-1]


@pytest.mark.parametrize(
    ("test", "bound", "end"),
    [
        (Compare(Relation.LT, Var("i"), Var("n")), True, True),
        (Compare(Relation.GE, Var("n"), Scaled(3, Var("i"))), True, True),
        (Compare(Relation.LE, FloorDiv(Var("i"), 2), Min((Var("n"), Int(9)))), True, True),
        (Compare(Relation.LT, Min((Var("i"), Int(3))), Var("n")), False, False),
        (Compare(Relation.NE, Var("i"), Var("n")), False, False),
        (Compare(Relation.GT, Var("i"), Var("n")), False, False),
        (And(()), True, False),
        (Compare(Relation.LT, Var("n"), Int(5)), True, False),
        (Or((Compare(Relation.LT, Var("i"), Var("n")), Compare(Relation.LT, Var("i"), Int(5)))), True, True),
    ],
)
def test_growth(test: Test, bound: bool, end: bool) -> None:
    assert (is_upper_bound(test, "i"), ends(test, "i")) == (bound, end)
