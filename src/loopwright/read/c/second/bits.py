"""Shifts by constants, and masks that keep the lowest bits of a number or all others."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from loopwright.c.typed import tree
from loopwright.c.types import CType, mask_of, unqualified
from loopwright.presburger.named import number, whole
from loopwright.read.c.second.scope import Scope, Unclear

Affine = Callable[[tree.Expression, Scope], isl.PwAff]
Numeric = Callable[[tree.Expression, Scope], int | None]


def bits(node: tree.Binary, scope: Scope, affine: Affine, numeric: Numeric) -> isl.PwAff:
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


def _masked(node: tree.Binary, scope: Scope, affine: Affine, numeric: Numeric) -> isl.PwAff:
    """x & (2^k - 1) = x mod 2^k, and x & -2^k is the rest of x, on whichever side the mask is."""
    for side, other in ((node.left, node.right), (node.right, node.left)):
        mask = _mask(other, side.type, scope, numeric)
        size = None if mask is None else mask + 1 if mask >= 0 else -mask
        if size is not None and not size & (size - 1):
            value = affine(side, scope)
            low = value.mod_val(whole(size))
            return low if mask == size - 1 else value.sub(low)
    raise Unclear(node, "no mask that keeps the lowest bits, or all others")


def _mask(node: tree.Expression, masked: CType, scope: Scope, numeric: Numeric) -> int | None:
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
