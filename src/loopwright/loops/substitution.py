"""Values in place of names, in expressions, tests and programs of LOOP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from loopwright.loops import expressions as ex


def scaled(factor: int, expr: ex.Expr) -> ex.Expr:
    """`factor * expr`, without nested factors and without a factor of one."""
    match expr:
        case ex.Int(value):
            return ex.Int(factor * value)
        case ex.Scaled(inner, argument):
            return scaled(factor * inner, argument)
        case _:
            return expr if factor == 1 else ex.Scaled(factor, expr)


def negated(expr: ex.Expr) -> ex.Expr:
    """`-expr`: of a smallest value, the largest of those negated."""
    match expr:
        case ex.Int() | ex.Scaled():
            return scaled(-1, expr)
        case ex.Sum(terms):
            return ex.Sum(tuple(map(negated, terms)))
        case ex.Min(arguments):
            return ex.Max(tuple(map(negated, arguments)))
        case ex.Max(arguments):
            return ex.Min(tuple(map(negated, arguments)))
        case ex.Select(test, then, orelse):
            return ex.Select(test, negated(then), negated(orelse))
        case ex.Var() | ex.FloorDiv() | ex.TruncDiv() | ex.Rem():
            return ex.Scaled(-1, expr)
        case _:
            assert_never(expr)


def substituted_expr(expr: ex.Expr, values: Mapping[str, ex.Expr]) -> ex.Expr:
    """`expr` with values in place of names; names without a value stay."""

    def again(one: ex.Expr) -> ex.Expr:
        return substituted_expr(one, values)

    match expr:
        case ex.Int():
            return expr
        case ex.Var(name):
            return values.get(name, expr)
        case ex.Sum(terms):
            return ex.Sum(tuple(map(again, terms)))
        case ex.Scaled(factor, argument):
            return scaled(factor, again(argument))
        case ex.FloorDiv(argument, divisor) | ex.TruncDiv(argument, divisor) | ex.Rem(argument, divisor):
            return type(expr)(again(argument), divisor)
        case ex.Min(arguments) | ex.Max(arguments):
            return type(expr)(tuple(map(again, arguments)))
        case ex.Select(test, then, orelse):
            return ex.Select(substituted(test, values), again(then), again(orelse))
        case _:
            assert_never(expr)


def substituted(test: ex.Test, values: Mapping[str, ex.Expr]) -> ex.Test:
    """`test` with values in place of names."""
    match test:
        case ex.Compare(relation, left, right):
            return ex.Compare(relation, substituted_expr(left, values), substituted_expr(right, values))
        case ex.And(arguments) | ex.Or(arguments):
            return type(test)(tuple(substituted(one, values) for one in arguments))
        case ex.Not(argument):
            return replace(test, argument=substituted(argument, values))
        case _:
            assert_never(test)
