"""Idioms of integers: conditional expressions that macros write, shifts by constants, and masks.

A conditional expression can be a minimum, a maximum or a rounded quotient:

    a < b ? a : b                                     the minimum of both
    n < 0 ? -((-n + d - 1) / d) : n / d               n / d rounded down, d > 0
    n < 0 ? -(-n / d) : (n + d - 1) / d               n / d rounded up

A macro repeats its arguments, so `min(min(a, b), c)` contains a four times; taken literally, its value would
be computed as often, and have as many pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

import islpy as isl

from loopwright.c.typed import tree
from loopwright.c.types import CType, Unknown, mask_of, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import number, whole
from loopwright.read.c.second.scope import Scope, Unclear, integer_of


@dataclass(frozen=True)
class Extreme:
    """The minimum or the maximum of two values."""

    is_least: bool
    first: tree.Expression
    second: tree.Expression


@dataclass(frozen=True)
class Quotient:
    """A rounded quotient; the divisor must be positive."""

    is_down: bool
    dividend: tree.Expression
    divisor: tree.Expression


def idiom_of(node: tree.Conditional) -> Extreme | Quotient | None:
    """The idiom of a conditional expression, by its form; None if it is none of these."""
    test = tree.without_casts(node.test)
    if not isinstance(test, tree.Binary) or not all(_is_signed(one) for one in (test.left, test.right, node)):
        return None
    left, right = tree.without_casts(test.left), tree.without_casts(test.right)
    then, otherwise = tree.without_casts(node.then), tree.without_casts(node.otherwise)
    if test.operator in ("<", "<=", ">", ">="):
        is_less = test.operator in ("<", "<=")
        if _same(left, then) and _same(right, otherwise):
            return Extreme(is_less, left, right)
        if _same(left, otherwise) and _same(right, then):
            return Extreme(not is_less, left, right)
    if test.operator == "<" and _is_number(right, 0):
        return _quotient(left, then, otherwise)
    return None


def _quotient(
    dividend: tree.Expression, then: tree.Expression, otherwise: tree.Expression
) -> Quotient | None:
    if (
        not isinstance(otherwise, tree.Binary)
        or otherwise.operator != "/"
        or not isinstance(then, tree.Unary)
    ):
        return None
    divisor = tree.without_casts(otherwise.right)
    inner = tree.without_casts(then.operand)
    if then.operator != "-" or not isinstance(inner, tree.Binary) or inner.operator != "/":
        return None
    if not _same(tree.without_casts(inner.right), divisor):
        return None
    above, below = tree.without_casts(otherwise.left), tree.without_casts(inner.left)
    if _same(above, dividend) and _is_negated(_before_last(below, divisor), dividend):
        return Quotient(is_down=True, dividend=dividend, divisor=divisor)
    if _same(_before_last(above, divisor), dividend) and _is_negated(below, dividend):
        return Quotient(is_down=False, dividend=dividend, divisor=divisor)
    return None


def _before_last(node: tree.Expression | None, divisor: tree.Expression) -> tree.Expression | None:
    """The n of `n + d - 1`."""
    if (
        not isinstance(node, tree.Binary)
        or node.operator != "-"
        or not _is_number(tree.without_casts(node.right), 1)
    ):
        return None
    inside = tree.without_casts(node.left)
    if not isinstance(inside, tree.Binary) or inside.operator != "+":
        return None
    return tree.without_casts(inside.left) if _same(tree.without_casts(inside.right), divisor) else None


def _is_negated(node: tree.Expression | None, value: tree.Expression) -> bool:
    return (
        isinstance(node, tree.Unary)
        and node.operator == "-"
        and _same(tree.without_casts(node.operand), value)
    )


def _is_number(node: tree.Expression, value: int) -> bool:
    return isinstance(node, tree.Number) and node.value == value


def _is_signed(node: tree.Expression) -> bool:
    kind = integer_of(node.type)
    return isinstance(unqualified(node.type), Unknown) or (
        kind is not None and kind.signed and kind.bits >= 32
    )


def _same(one: tree.Expression | None, other: tree.Expression) -> bool:
    """Whether two expressions are the same, and have no side effects."""
    if one is None:
        return False
    return all(
        mine is not None and theirs is not None and _label(mine) == _label(theirs) is not None
        for mine, theirs in zip_longest(tree.walk(one), tree.walk(other))
    )


def _label(node: object) -> Sequence[object] | None:
    """A node without its parts, for comparison; None if it may have side effects."""
    match node:
        case tree.Name(declaration=declared):
            return "name", declared.offset
        case tree.Number(value=value, text=text):
            return "number", value, text
        case tree.Unary(operator=op) if op in "+-~!":
            return "unary", op
        case tree.Binary(operator=op):
            return "binary", op
        case tree.Conditional():
            return ("conditional",)
        case tree.Cast(type=kind):
            return "cast", kind
        case tree.MemberAccess(name=name, is_arrow=is_arrow):
            return "member", name, is_arrow
    return None


_Affine = Callable[[tree.Expression, Scope], isl.PwAff]
_Numeric = Callable[[tree.Expression, Scope], int | None]


def bits(node: tree.Binary, scope: Scope, affine: _Affine, numeric: _Numeric) -> isl.PwAff:
    if node.operator == "&":
        return _masked(node, scope, affine, numeric)
    left, right = affine(node.left, scope), numeric(node.right, scope)
    if right is None or right < 0:
        raise Unclear(node, "it is not affine")
    if right >= 31:
        raise Unclear(node, "a shift by this amount is undefined")
    if node.operator == "<<":
        return left.scale_val(whole(1 << right))
    if not scope.domain.intersect(left.lt_set(number(0))).is_empty():
        raise Unclear(node, "this may shift a negative number")
    return left.scale_down_val(whole(1 << right)).floor()


def _masked(node: tree.Binary, scope: Scope, affine: _Affine, numeric: _Numeric) -> isl.PwAff:
    """x & (2^k - 1) = x mod 2^k, and x & -2^k is the rest of x, on whichever side the mask is."""
    for side, other in ((node.left, node.right), (node.right, node.left)):
        mask = _mask(other, side.type, scope, numeric)
        size = None if mask is None else mask + 1 if mask >= 0 else -mask
        if size is not None and not size & (size - 1):
            value = affine(side, scope)
            low = value.mod_val(whole(size))
            return low if mask == size - 1 else value.sub(low)
    raise Unclear(node, "no mask that keeps the lowest bits, or all others")


def _mask(node: tree.Expression, masked: CType, scope: Scope, numeric: _Numeric) -> int | None:
    """A mask that C converts to another type, as a number of its own type."""
    while isinstance(node, tree.Cast) and node.is_implicit:
        node = node.operand
    match node:
        case tree.Unary(operator="~" | "-" as sign, operand=operand):
            inner = numeric(operand, scope)
            found = None if inner is None else -inner - (sign == "~")
        case _:
            found = numeric(node, scope)
    return None if found is None else mask_of(found, unqualified(node.type), unqualified(masked))
