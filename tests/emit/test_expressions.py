"""Expressions as a careful person writes them in C."""

from __future__ import annotations

import pytest

from loopwright.emit.expressions import condition_to_c, expression_to_c
from loopwright.errors import BadInput
from loopwright.loops.expressions import (
    FALSE,
    TRUE,
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

X, Y, N = Var("x"), Var("y"), Var("n")


def less(left: Expr, right: Expr) -> Compare:
    return Compare(Relation.LT, left, right)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Int(-3), "-3"),
        (Sum((X, Int(2))), "x + 2"),
        (Sum((X, Int(-2))), "x - 2"),
        (Sum((X, Scaled(-1, Y))), "x - y"),
        (Sum((Scaled(-1, X), N)), "n - x"),
        (Sum((Scaled(-2, X), N, Int(1))), "n - 2 * x + 1"),
        (Sum((Scaled(-1, X), Int(1))), "1 - x"),
        (Sum((Scaled(-1, X), Scaled(-3, Y), Int(-1))), "-x - 3 * y - 1"),
        (Sum(()), "0"),
        (Sum((X,)), "x"),
        (Sum((X, Sum((Y, Int(-1))))), "x + y - 1"),
        (Sum((X, Scaled(-1, Sum((Y, N))))), "x - (y + n)"),
        (Scaled(2, N), "2 * n"),
        (Scaled(-1, N), "-n"),
        (Scaled(-1, Int(-3)), "3"),
        (Scaled(2, Scaled(-3, X)), "-6 * x"),
        (Scaled(2, Sum((X, Y))), "2 * (x + y)"),
        (Scaled(-1, Sum((X, Y))), "-(x + y)"),
        (Scaled(2, FloorDiv(Sum((N, Int(-1))), 2)), "2 * floord(n - 1, 2)"),
        (Scaled(2, TruncDiv(N, 2)), "2 * (n / 2)"),
        (Scaled(2, Rem(N, 2)), "2 * (n % 2)"),
        (TruncDiv(Scaled(2, N), 3), "2 * n / 3"),
        (TruncDiv(Sum((N, Int(1))), 3), "(n + 1) / 3"),
        (Rem(Sum((N, X)), 4), "(n + x) % 4"),
        (Rem(Scaled(-1, X), 4), "-x % 4"),
        (Scaled(-1, Rem(X, 4)), "-(x % 4)"),
        (Sum((N, Scaled(-1, Rem(X, 4)))), "n - x % 4"),
        (Sum((N, Scaled(-1, Select(less(X, N), X, Y)))), "n - (x < n ? x : y)"),
        (Min((X, Y, Int(8))), "min(min(x, y), 8)"),
        (Max((X,)), "x"),
        (Select(less(X, N), X, Select(less(Y, N), Y, N)), "x < n ? x : y < n ? y : n"),
        (Select(less(X, N), Select(less(Y, N), Y, N), X), "x < n ? (y < n ? y : n) : x"),
        (Select(Or((less(X, N), less(Y, N))), Sum((X, Int(1))), N), "x < n || y < n ? x + 1 : n"),
    ],
)
def test_expressions(expr: Expr, text: str) -> None:
    assert expression_to_c(expr) == text


@pytest.mark.parametrize(
    ("test", "text"),
    [
        (TRUE, "1"),
        (FALSE, "0"),
        (less(X, Sum((N, Int(1)))), "x < n + 1"),
        (Compare(Relation.EQ, Rem(X, 2), Int(0)), "x % 2 == 0"),
        (less(X, Select(less(X, Y), X, Y)), "x < (x < y ? x : y)"),
        (And((less(X, Y), less(Y, N))), "x < y && y < n"),
        (Or((And((less(X, Y), less(Y, N))), less(N, X))), "(x < y && y < n) || n < x"),
        (And((Or((less(X, Y), less(Y, N))), less(N, X))), "(x < y || y < n) && n < x"),
        (And((less(X, Y),)), "x < y"),
        (Not(less(X, Y)), "!(x < y)"),
        (Not(TRUE), "!1"),
    ],
)
def test_tests(test: Test, text: str) -> None:
    assert condition_to_c(test) == text


def test_constants_keep_their_value_in_64_bits() -> None:
    assert expression_to_c(Sum((N, Int(10**10)))) == "n + 10000000000LL"
    assert expression_to_c(Sum((N, Int(-(10**10))))) == "n - 10000000000LL"
    assert expression_to_c(Scaled(-(2**31), N)) == "-2147483648LL * n"
    assert expression_to_c(Sum((N, Int(-(2**63))))) == "n + (-9223372036854775807LL - 1)"
    with pytest.raises(BadInput, match="9223372036854775808"):
        expression_to_c(Int(2**63))
