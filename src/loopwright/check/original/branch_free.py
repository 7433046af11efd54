"""Choices and conditions as arithmetic on bits: a loop without branches can become a vector loop.

test ? a : b   =   b ^ ((a ^ b) & -test)        with test 0 or 1
"""

from __future__ import annotations

from loopwright.emit.expressions import Level, condition_to_c, expression_to_c
from loopwright.loops.expressions import And, Compare, Expr, Int, Not, Or, Relation, Select, Test

LONGEST = 2
"""Choices in a row; a longer chain is written with `?:`, since every step repeats what follows."""


def expression_without_branches(expr: Expr) -> str:
    """`expr` as C, its outer choices without `?:`."""
    if not isinstance(expr, Select) or _length(expr) > LONGEST:
        return expression_to_c(expr)
    mask = f"-({condition_without_branches(expr.test)})"
    unless = f"-({condition_without_branches(_opposite(expr.test))})"
    then, otherwise = (_part(one) for one in (expr.then, expr.orelse))
    if expr.orelse == Int(0):
        return f"({then} & {mask})"
    if expr.then == Int(0):
        return f"({otherwise} & {unless})"
    return f"({otherwise} ^ (({then} ^ {otherwise}) & {mask}))"


_OPPOSITE = {
    Relation.EQ: Relation.NE,
    Relation.NE: Relation.EQ,
    Relation.LT: Relation.GE,
    Relation.GE: Relation.LT,
    Relation.LE: Relation.GT,
    Relation.GT: Relation.LE,
}


def _opposite(test: Test) -> Test:
    if isinstance(test, Compare):
        return Compare(_OPPOSITE[test.relation], test.left, test.right)
    return Not(test)


def _part(expr: Expr) -> str:
    if isinstance(expr, Select):
        return expression_without_branches(expr)
    return expression_to_c(expr, Level.UNARY)


def _length(expr: Expr) -> int:
    return 1 + max(_length(expr.then), _length(expr.orelse)) if isinstance(expr, Select) else 0


def condition_without_branches(test: Test) -> str:
    """`test` as C, 0 or 1, both sides of every operator evaluated."""
    match test:
        case Compare():
            return condition_to_c(test)
        case And(arguments):
            return " & ".join(f"({condition_without_branches(one)})" for one in arguments) or "1"
        case Or(arguments):
            return " | ".join(f"({condition_without_branches(one)})" for one in arguments) or "0"
        case Not(argument):
            return f"!({condition_without_branches(argument)})"
