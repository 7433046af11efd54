"""Prints LOOP expressions and tests as C, with the minimal parentheses.

Parentheses follow the precedence of C's operators; `&&` inside `||` also gets them, since compilers warn
otherwise.  The printed text has the value of the expression: sums and products may be reassociated, which
preserves integers; divisions never are.

An `int` may have 32 bits.  A constant too large for arithmetic in it is written as a `long long`, and a
program with one has `long long` iterators.
"""

from __future__ import annotations

from enum import IntEnum
from typing import assert_never

from loopwright.errors import BadInput, Code, InternalError
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import Term, subprograms, subterms, terms

INT_ROOM = 2**30
"""Constants below this can be added in an `int`."""

LONG_LONG_MAX = 2**63 - 1


class Level(IntEnum):
    """The precedence of an operator of C."""

    SELECT = 0
    OR = 1
    AND = 2
    EQUALITY = 3
    RELATION = 4
    SUM = 5
    PRODUCT = 6
    UNARY = 7
    PRIMARY = 8


def expression_to_c(expr: ex.Expr, level: Level = Level.SELECT) -> str:
    """`expr` as C, parenthesised where it stands among operators that bind like `level`."""
    text, own = _expression(expr)
    return text if own >= level else f"({text})"


def condition_to_c(test: ex.Test, level: Level = Level.SELECT) -> str:
    """`test` as C, parenthesised where it stands among operators that bind like `level`."""
    text, own = _test(test)
    return text if own >= level else f"({text})"


def _expression(expr: ex.Expr) -> tuple[str, Level]:
    match expr:
        case ex.Int(value):
            text = literal(value)
            return text, Level.UNARY if text.startswith("-") else Level.PRIMARY
        case ex.Var(name):
            return name, Level.PRIMARY
        case ex.Sum():
            return _sum(expr)
        case ex.Scaled(factor, argument):
            return _product(factor, argument)
        case ex.FloorDiv(argument, divisor):
            return f"floord({expression_to_c(argument)}, {literal(divisor)})", Level.PRIMARY
        case ex.TruncDiv(argument, divisor):
            return f"{expression_to_c(argument, Level.PRODUCT)} / {literal(divisor)}", Level.PRODUCT
        case ex.Rem(argument, divisor):
            return f"{expression_to_c(argument, Level.PRODUCT)} % {literal(divisor)}", Level.PRODUCT
        case ex.Min(arguments):
            return _nested("min", arguments)
        case ex.Max(arguments):
            return _nested("max", arguments)
        case ex.Select(test, then, orelse):
            texts = condition_to_c(test, Level.OR), expression_to_c(then, Level.OR), expression_to_c(orelse)
            return "{} ? {} : {}".format(*texts), Level.SELECT
        case _:
            assert_never(expr)


def _nested(function: str, arguments: tuple[ex.Expr, ...]) -> tuple[str, Level]:
    """`f(f(a, b), c)` for three arguments; one argument is its own minimum and maximum."""
    if not arguments:
        raise InternalError(Code.INTERNAL, f"a {function} without arguments")
    if len(arguments) == 1:
        return _expression(arguments[0])
    inner, _ = _nested(function, arguments[:-1])
    return f"{function}({inner}, {expression_to_c(arguments[-1])})", Level.PRIMARY


def _product(factor: int, argument: ex.Expr) -> tuple[str, Level]:
    """`factor * argument`: `-x` for a factor of -1."""
    match argument:
        case ex.Int(value):
            return _expression(ex.Int(factor * value))
        case ex.Scaled(inner, scaled):
            return _product(factor * inner, scaled)
        case _ if factor == 1:
            return _expression(argument)
        case _ if factor == -1:
            return f"-{expression_to_c(argument, Level.PRIMARY)}", Level.UNARY
        case _:
            return f"{literal(factor)} * {expression_to_c(argument, Level.UNARY)}", Level.PRODUCT


def _sum(expr: ex.Sum) -> tuple[str, Level]:
    """`n - x + 1` rather than `-x + n + 1`: a term that is added stands first if there is one."""
    terms = _flat(expr)
    if len(terms) < 2:
        return _expression(terms[0] if terms else ex.Int(0))
    first, *rest = _positive_first(terms)
    text = expression_to_c(first, Level.SUM)
    for term in rest:
        opposite = _opposite(term)
        if opposite is None:
            text += f" + {expression_to_c(term, Level.PRODUCT)}"
        else:
            text += f" - {expression_to_c(opposite, Level.PRODUCT)}"
    return text, Level.SUM


def _flat(expr: ex.Sum) -> list[ex.Expr]:
    """The terms of a sum, those of sums inside it among them."""
    terms: list[ex.Expr] = []
    for term in expr.terms:
        terms += _flat(term) if isinstance(term, ex.Sum) else [term]
    return terms


def _positive_first(terms: list[ex.Expr]) -> list[ex.Expr]:
    """The terms, one that is added moved to the front: a variable if there is one, else a constant."""
    added = [i for i, term in enumerate(terms) if _opposite(term) is None]
    if not added:
        return terms
    first = next((i for i in added if not isinstance(terms[i], ex.Int)), added[0])
    return [terms[first], *terms[:first], *terms[first + 1 :]]


def _opposite(term: ex.Expr) -> ex.Expr | None:
    """The expression that is subtracted where `term` is added; None if `term` has no minus sign."""
    match term:
        case ex.Int(value) if -LONG_LONG_MAX <= value < 0:
            return ex.Int(-value)
        case ex.Scaled(factor, argument) if -LONG_LONG_MAX <= factor < 0:
            return ex.Scaled(-factor, argument)
        case _:
            return None


def _test(test: ex.Test) -> tuple[str, Level]:
    match test:
        case ex.Compare(relation, left, right):
            level = Level.EQUALITY if relation in (ex.Relation.EQ, ex.Relation.NE) else Level.RELATION
            sides = expression_to_c(left, Level.SUM), expression_to_c(right, Level.SUM)
            return f"{sides[0]} {relation.value} {sides[1]}", level
        case ex.And((only,)) | ex.Or((only,)):
            return _test(only)
        case ex.And(()):
            return "1", Level.PRIMARY
        case ex.Or(()):
            return "0", Level.PRIMARY
        case ex.And(arguments):
            return " && ".join(condition_to_c(a, Level.AND) for a in arguments), Level.AND
        case ex.Or(arguments):
            return " || ".join(_disjunct(a) for a in arguments), Level.OR
        case ex.Not(argument):
            return f"!{condition_to_c(argument, Level.UNARY)}", Level.UNARY
        case _:
            assert_never(test)


def flat_condition_to_c(test: ex.Test) -> str:
    """`(a) & (b)` and `(a) | (b)` for `a && b` and `a || b`: all sides are computed, without branches."""
    match test:
        case ex.And((only,)) | ex.Or((only,)):
            return flat_condition_to_c(only)
        case ex.And(arguments) | ex.Or(arguments) if arguments:
            sign = " & " if isinstance(test, ex.And) else " | "
            return sign.join(f"({flat_condition_to_c(one)})" for one in arguments)
        case _:
            return condition_to_c(test)


def _disjunct(test: ex.Test) -> str:
    text, level = _test(test)
    return f"({text})" if level == Level.AND else text


def literal(value: int) -> str:
    """`value` as C writes it; a negative one begins with a minus sign."""
    if abs(value) <= INT_ROOM:
        return str(value)
    if -LONG_LONG_MAX <= value <= LONG_LONG_MAX:
        return f"{value}LL"
    if value == -LONG_LONG_MAX - 1:
        return f"(-{LONG_LONG_MAX}LL - 1)"
    raise BadInput(
        Code.TOO_LARGE,
        f"the constant {value} does not fit in the 64 bits of C's long long",
        hint="scale the sets down: no C program can hold this value",
    )


def is_wide(node: Node) -> bool:
    """Whether `node` has a constant that `int` iterators should not be used with."""
    return any(abs(value) > INT_ROOM for part in subprograms(node) for value in _constants(part))


def _constants(node: Node) -> tuple[int, ...]:
    own = (node.step,) if isinstance(node, For) else ()
    return own + tuple(value for term in terms(node) for part in subterms(term) for value in _constant(part))


def _constant(term: Term) -> tuple[int, ...]:
    match term:
        case ex.Int(value):
            return (value,)
        case ex.Scaled(factor):
            return (factor,)
        case ex.FloorDiv(_, divisor) | ex.TruncDiv(_, divisor) | ex.Rem(_, divisor):
            return (divisor,)
        case _:
            return ()
