"""Masks: `n & 3`, `n & ~3`, `~3u & n`.

In two's complement `x & (2^k - 1)` is the remainder r modulo 2^k, and `x & -2^k`, or `x & ~(2^k - 1)`, is
x - r.
"""

from __future__ import annotations

import islpy as isl

from loopwright.c.macros import integer_text
from loopwright.c.syntax import Node, field, operator, without_parentheses
from loopwright.c.types import Integer, mask_of, promoted
from loopwright.presburger.named import number, whole
from loopwright.read.c.frames import Frame, NotAffine
from loopwright.read.c.index_calls import Evaluators
from loopwright.read.c.wraparound import operands_from_zero, require_from_zero, type_in


def masked(node: Node, frame: Frame, read: Evaluators) -> isl.PwAff:
    """`x & mask` or `mask & x`, for a mask that keeps the lowest bits, or all others."""
    side, mask = _value_and_mask(node, frame, read)
    value = read.affine(side, frame)
    if mask >= 0 and not mask & (mask + 1):
        return value.mod_val(whole(mask + 1))
    if mask >= 0 or -mask & (-mask - 1):
        raise NotAffine(node, "this mask keeps other bits than the lowest, or all others")
    if side in operands_from_zero(node, frame):
        require_from_zero(side, value, frame)
    return value.sub(value.mod_val(whole(-mask)))


def _value_and_mask(node: Node, frame: Frame, read: Evaluators) -> tuple[Node, int]:
    """The operand that is not known, and the other one as a number with the same bits."""
    left, right = field(node, "left"), field(node, "right")
    try:
        value, mask, number_ = left, right, _bits(right, frame, read)
    except NotAffine:
        value, mask, number_ = right, left, _bits(left, frame, read)
    found = mask_of(number_, type_in(mask, frame), type_in(value, frame))
    if found is None:
        raise NotAffine(mask, "this is not known to be a signed number")
    return value, found


def _bits(node: Node, frame: Frame, read: Evaluators) -> int:
    """A mask as an integer modulo 2^w, where w is the width of its type: ~3u and -4u are -4."""
    core = without_parentheses(node)
    if core.type == "unary_expression" and operator(core) in ("~", "-"):
        inner = _bits(field(core, "argument"), frame, read)
        return -inner - (operator(core) == "~")
    magnitude = integer_text(core.text[1:]) if core.text.startswith("-") else None
    if core.type == "number_literal" and magnitude is not None:
        return -magnitude
    return read.constant(core, frame)


def inverted(node: Node, frame: Frame, read: Evaluators) -> isl.PwAff:
    """~x = -x - 1 of a signed number; the bits inverted in an unsigned one depend on its width."""
    kind = promoted(type_in(field(node, "argument"), frame))
    if not isinstance(kind, Integer) or not kind.signed:
        raise NotAffine(field(node, "argument"), "this is not known to be a signed number")
    return read.affine(field(node, "argument"), frame).neg().sub(number(1))
