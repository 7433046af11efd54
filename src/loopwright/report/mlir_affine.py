"""Prints affine expressions, conditions and loop bounds in MLIR syntax."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Relation,
    Scaled,
    Sum,
    Test,
    Var,
)
from loopwright.loops.traverse import negated
from loopwright.prove.reading.c_expressions import Unreadable


def space_text(operands: tuple[list[str], list[str]]) -> str:
    dims, symbols = (range(len(own)) for own in operands)
    shown = f"({', '.join(f'd{k}' for k in dims)})"
    return shown + (f"[{', '.join(f's{k}' for k in symbols)}]" if symbols else "")


def affine_text(expr: Expr, names: Mapping[str, str]) -> str:
    match expr:
        case Int(value):
            return str(value)
        case Var(name):
            return names[name]
        case Sum(terms):
            return "(" + " + ".join(affine_text(one, names) for one in terms) + ")"
        case Scaled(factor, argument):
            return f"({affine_text(argument, names)} * {factor})"
        case FloorDiv(argument, divisor):
            return f"({affine_text(argument, names)} floordiv {divisor})"
        case _:
            raise Unreadable("an integer that is not affine")


def parts(expr: Expr, kind: type[Min] | type[Max]) -> list[Expr]:
    return list(expr.arguments) if isinstance(expr, kind) else [expr]


def conjuncts(test: Test) -> list[Compare]:
    match test:
        case Compare():
            return [test]
        case And(arguments):
            return [part for one in arguments for part in conjuncts(one)]
        case _:
            raise Unreadable("a condition that is not a conjunction")


def as_sign(test: Compare) -> tuple[Expr, str]:
    """A comparison as an expression that is >= 0, or == 0."""
    match test.relation:
        case Relation.GE:
            return Sum((test.left, negated(test.right))), ">="
        case Relation.GT:
            return Sum((test.left, negated(test.right), Int(-1))), ">="
        case Relation.LE:
            return Sum((test.right, negated(test.left))), ">="
        case Relation.LT:
            return Sum((test.right, negated(test.left), Int(-1))), ">="
        case Relation.EQ:
            return Sum((test.left, negated(test.right))), "=="
        case Relation.NE:
            raise Unreadable("a condition with !=")


def upper_bounds(test: Test, iterator: str) -> list[Expr]:
    """The exclusive upper bounds of the iterator."""
    found: list[Expr] = []
    for one in conjuncts(test):
        match one:
            case Compare(Relation.LT, Var(name), limit) | Compare(Relation.GT, limit, Var(name)):
                found.append(limit)
            case Compare(Relation.LE, Var(name), limit) | Compare(Relation.GE, limit, Var(name)):
                found.append(Sum((limit, Int(1))))
            case Compare(relation, Scaled(-1, Var(name)), limit) if relation in (Relation.GE, Relation.GT):
                extra = () if relation is Relation.GT else (Int(1),)
                found.append(Sum((negated(limit), *extra)))
            case _:
                raise Unreadable("a loop whose bound is not affine")
        if name != iterator:
            raise Unreadable("a loop whose test is not about its iterator")
    return found
