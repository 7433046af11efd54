"""Formulas as Coq writes them, over the integers `Z`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from loopwright.errors import Code, InternalError
from loopwright.loops import expressions as ex
from loopwright.prove.obligations.decisions import Cases, Decided, Decision

Names = Mapping[str, str]
"""The variable for each name; a name that is not there stands for itself."""

SYMBOLS = {
    ex.Relation.EQ: "=",
    ex.Relation.NE: "<>",
    ex.Relation.LE: "<=",
    ex.Relation.LT: "<",
    ex.Relation.GE: ">=",
    ex.Relation.GT: ">",
}
SUM, PRODUCT, ATOM = range(3)


def z(expr: ex.Expr, names: Names) -> str:
    return _z(expr, names)[0]


def argument(expr: ex.Expr, names: Names) -> str:
    """In parentheses, unless it is a name or a number."""
    return _at(expr, names, ATOM)


def _at(expr: ex.Expr, names: Names, level: int) -> str:
    shown, own = _z(expr, names)
    return shown if own >= level else f"({shown})"


def _z(expr: ex.Expr, names: Names) -> tuple[str, int]:
    """The text and how tightly it binds."""
    match expr:
        case ex.Int(value):
            return (str(value), ATOM) if value >= 0 else (f"({value})", ATOM)
        case ex.Var(name):
            return names.get(name, name), ATOM
        case ex.Sum(()):
            return "0", ATOM
        case ex.Sum((only,)):
            return _z(only, names)
        case ex.Sum(terms):
            return _sum(terms, names), SUM
        case ex.Scaled(factor, inner):
            return f"{_z(ex.Int(factor), names)[0]} * {_at(inner, names, ATOM)}", PRODUCT
        case ex.FloorDiv(inner, divisor):
            return f"{_at(inner, names, ATOM)} / {divisor}", PRODUCT
        case ex.TruncDiv(inner, divisor):
            return f"Z.quot {_at(inner, names, ATOM)} {divisor}", PRODUCT
        case ex.Rem(inner, divisor):
            return f"Z.rem {_at(inner, names, ATOM)} {divisor}", PRODUCT
        case ex.Min(arguments) | ex.Max(arguments):
            return _folded(type(expr).__name__.lower(), arguments, names), PRODUCT
        case ex.Select(test, then, orelse):
            return f"if {decidable(test, names)} then {z(then, names)} else {z(orelse, names)}", -1
        case _:
            assert_never(expr)


def _sum(terms: Sequence[ex.Expr], names: Names) -> str:
    found = ""
    for term in terms:
        match term:
            case ex.Int(value) if value < 0:
                sign, shown = "-", str(-value)
            case ex.Scaled(factor, inner) if factor < 0:
                shown = _at(inner, names, ATOM) if factor == -1 else f"{-factor} * {_at(inner, names, ATOM)}"
                sign = "-"
            case _:
                sign, shown = "+", _at(term, names, PRODUCT)
        if found:
            found += f" {sign} {shown}"
        else:
            found = shown if sign == "+" else f"- {shown}"
    return found


def _folded(operator: str, arguments: Sequence[ex.Expr], names: Names) -> str:
    if not arguments:
        raise InternalError(Code.INTERNAL, f"the {operator}imum of nothing")
    found = _at(arguments[0], names, ATOM)
    for k, one in enumerate(arguments[1:]):
        left = found if k == 0 else f"({found})"
        found = f"Z.{operator} {left} {_at(one, names, ATOM)}"
    return found


def decidable(test: ex.Test, names: Names) -> str:
    """The test as a boolean."""
    match test:
        case ex.Compare(relation, left, right):
            a, b = _at(left, names, SUM), _at(right, names, SUM)
            match relation:
                case ex.Relation.EQ:
                    return f"({a} =? {b})"
                case ex.Relation.NE:
                    return f"(negb ({a} =? {b}))"
                case ex.Relation.LE:
                    return f"({a} <=? {b})"
                case ex.Relation.LT:
                    return f"({a} <? {b})"
                case ex.Relation.GE:
                    return f"({b} <=? {a})"
                case ex.Relation.GT:
                    return f"({b} <? {a})"
                case _:
                    assert_never(relation)
        case ex.And(arguments):
            return (
                f"({' && '.join(decidable(one, names) for one in arguments)})%bool" if arguments else "true"
            )
        case ex.Or(arguments):
            return (
                f"({' || '.join(decidable(one, names) for one in arguments)})%bool" if arguments else "false"
            )
        case ex.Not(inner):
            return f"(negb {decidable(inner, names)})"
        case _:
            assert_never(test)


def proposition(test: ex.Test, names: Names) -> str:
    return _proposition(test, names, outer=True)


def _proposition(test: ex.Test, names: Names, *, outer: bool = False) -> str:
    match test:
        case ex.Compare(relation, left, right):
            return f"{z(left, names)} {SYMBOLS[relation]} {z(right, names)}"
        case ex.And(()):
            return "True"
        case ex.Or(()):
            return "False"
        case ex.And(arguments):
            shown = " /\\ ".join(_proposition(one, names) for one in arguments)
            return shown if outer else f"({shown})"
        case ex.Or(arguments):
            shown = " \\/ ".join(_proposition(one, names) for one in arguments)
            return shown if outer else f"({shown})"
        case ex.Not(inner):
            return f"~ ({_proposition(inner, names, outer=True)})"
        case _:
            assert_never(test)


def vector(entries: Sequence[ex.Expr], names: Names) -> str:
    return "[" + "; ".join(z(entry, names) for entry in entries) + "]"


def conditional(tree: Decision[tuple[ex.Expr, ...]], names: Names) -> str:
    """The vector that a decision chooses."""
    match tree:
        case Decided(entries):
            return vector(entries, names)
        case Cases(test, yes, no):
            a, b = z(test.left, names), z(test.right, names)
            return f"if {a} <=? {b} then {conditional(yes, names)} else {conditional(no, names)}"
