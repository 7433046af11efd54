"""Values in place of names, in expressions, tests and programs of LOOP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

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
    Rem,
    Scaled,
    Select,
    Sum,
    Test,
    TruncDiv,
    Var,
)


def scaled(factor: int, expr: Expr) -> Expr:
    """`factor * expr`, without nested factors and without a factor of one."""
    match expr:
        case Int(value):
            return Int(factor * value)
        case Scaled(inner, argument):
            return scaled(factor * inner, argument)
        case _:
            return expr if factor == 1 else Scaled(factor, expr)


def negated(expr: Expr) -> Expr:
    """`-expr`: of a smallest value, the largest of those negated."""
    match expr:
        case Int() | Scaled():
            return scaled(-1, expr)
        case Sum(terms):
            return Sum(tuple(map(negated, terms)))
        case Min(arguments):
            return Max(tuple(map(negated, arguments)))
        case Max(arguments):
            return Min(tuple(map(negated, arguments)))
        case Select(test, then, orelse):
            return Select(test, negated(then), negated(orelse))
        case Var() | FloorDiv() | TruncDiv() | Rem():
            return Scaled(-1, expr)
        case _:
            assert_never(expr)


def substituted_expr(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """`expr` with values in place of names; names without a value stay."""

    def again(one: Expr) -> Expr:
        return substituted_expr(one, values)

    match expr:
        case Int():
            return expr
        case Var(name):
            return values.get(name, expr)
        case Sum(terms):
            return Sum(tuple(map(again, terms)))
        case Scaled(factor, argument):
            return scaled(factor, again(argument))
        case FloorDiv(argument, divisor) | TruncDiv(argument, divisor) | Rem(argument, divisor):
            return type(expr)(again(argument), divisor)
        case Min(arguments) | Max(arguments):
            return type(expr)(tuple(map(again, arguments)))
        case Select(test, then, orelse):
            return Select(substituted(test, values), again(then), again(orelse))
        case _:
            assert_never(expr)


def substituted(test: Test, values: Mapping[str, Expr]) -> Test:
    """`test` with values in place of names."""
    match test:
        case Compare(relation, left, right):
            return Compare(relation, substituted_expr(left, values), substituted_expr(right, values))
        case And(arguments) | Or(arguments):
            return type(test)(tuple(substituted(one, values) for one in arguments))
        case Not(argument):
            return replace(test, argument=substituted(argument, values))
        case _:
            assert_never(test)
