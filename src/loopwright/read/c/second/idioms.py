"""Conditional expressions that are a minimum, a maximum or a rounded quotient, as macros write them.

    a < b ? a : b                                     the smaller of both
    n < 0 ? -((-n + d - 1) / d) : n / d               n / d rounded down, d > 0
    n < 0 ? -(-n / d) : (n + d - 1) / d               n / d rounded up

A macro repeats its arguments, so that `min(min(a, b), c)` has a four times; taken apart, its value would be
computed as often, and have as many pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from loopwright.c.typed.tree import (
    Binary,
    Cast,
    Conditional,
    Expression,
    MemberAccess,
    Name,
    Number,
    Unary,
    walk,
    without_casts,
)
from loopwright.c.types import Unknown, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.second.scope import integer_of


@dataclass(frozen=True)
class Extreme:
    """The smaller or the larger of two values."""

    is_least: bool
    first: Expression
    second: Expression


@dataclass(frozen=True)
class Quotient:
    """A value divided by another, and rounded; the divisor has to be positive."""

    is_down: bool
    dividend: Expression
    divisor: Expression


def idiom_of(node: Conditional) -> Extreme | Quotient | None:
    """What a conditional expression is, by its form; None where it is none of these."""
    test = without_casts(node.test)
    if not isinstance(test, Binary) or not all(_is_signed(one) for one in (test.left, test.right, node)):
        return None
    left, right = without_casts(test.left), without_casts(test.right)
    then, otherwise = without_casts(node.then), without_casts(node.otherwise)
    if test.operator in ("<", "<=", ">", ">="):
        is_less = test.operator in ("<", "<=")
        if _same(left, then) and _same(right, otherwise):
            return Extreme(is_less, left, right)
        if _same(left, otherwise) and _same(right, then):
            return Extreme(not is_less, left, right)
    if test.operator == "<" and _is_number(right, 0):
        return _quotient(left, then, otherwise)
    return None


def _quotient(dividend: Expression, then: Expression, otherwise: Expression) -> Quotient | None:
    if not isinstance(otherwise, Binary) or otherwise.operator != "/" or not isinstance(then, Unary):
        return None
    divisor = without_casts(otherwise.right)
    inner = without_casts(then.operand)
    if then.operator != "-" or not isinstance(inner, Binary) or inner.operator != "/":
        return None
    if not _same(without_casts(inner.right), divisor):
        return None
    above, below = without_casts(otherwise.left), without_casts(inner.left)
    if _same(above, dividend) and _is_negated(_before_last(below, divisor), dividend):
        return Quotient(True, dividend, divisor)
    if _same(_before_last(above, divisor), dividend) and _is_negated(below, dividend):
        return Quotient(False, dividend, divisor)
    return None


def _before_last(node: Expression | None, divisor: Expression) -> Expression | None:
    """n of `n + d - 1`."""
    if not isinstance(node, Binary) or node.operator != "-" or not _is_number(without_casts(node.right), 1):
        return None
    inside = without_casts(node.left)
    if not isinstance(inside, Binary) or inside.operator != "+":
        return None
    return without_casts(inside.left) if _same(without_casts(inside.right), divisor) else None


def _is_negated(node: Expression | None, value: Expression) -> bool:
    return isinstance(node, Unary) and node.operator == "-" and _same(without_casts(node.operand), value)


def _is_number(node: Expression, value: int) -> bool:
    return isinstance(node, Number) and node.value == value


def _is_signed(node: Expression) -> bool:
    kind = integer_of(node.type)
    return isinstance(unqualified(node.type), Unknown) or (
        kind is not None and kind.signed and kind.bits >= 32
    )


def _same(one: Expression | None, other: Expression) -> bool:
    """Whether two expressions are the same, and change nothing."""
    if one is None:
        return False
    return all(
        mine is not None and theirs is not None and _label(mine) == _label(theirs) is not None
        for mine, theirs in zip_longest(walk(one), walk(other))
    )


def _label(node: object) -> Sequence[object] | None:
    """What a node is, without its parts; None where it may not be a value."""
    match node:
        case Name(declaration=declared):
            return "name", declared.offset
        case Number(value=value, text=text):
            return "number", value, text
        case Unary(operator=op) if op in "+-~!":
            return "unary", op
        case Binary(operator=op):
            return "binary", op
        case Conditional():
            return ("conditional",)
        case Cast(type=kind):
            return "cast", kind
        case MemberAccess(name=name, is_arrow=is_arrow):
            return "member", name, is_arrow
    return None
