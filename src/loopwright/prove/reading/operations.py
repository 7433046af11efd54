"""Operations of C on expressions of LOOP.

Integers are in two's complement:

    ~x              -x - 1                        x signed
    x & (2^k - 1)   x - 2^k * floor(x / 2^k)
    x & -2^k        2^k * floor(x / 2^k)          x signed, or not narrower than the mask
"""

from __future__ import annotations

from loopwright.c.types import CType, Integer, mask_of, promoted
from loopwright.loops import expressions as ex


def scaled(factor: int, argument: ex.Expr) -> ex.Expr:
    """factor * argument."""
    match argument:
        case ex.Int(value):
            return ex.Int(factor * value)
        case ex.Scaled(inner, inside):
            return ex.Scaled(factor * inner, inside)
        case _:
            return ex.Scaled(factor, argument)


def complement(value: ex.Expr) -> ex.Expr:
    return ex.Sum((ex.Scaled(-1, value), ex.Int(-1)))


def masked(value: ex.Expr, mask: int, kinds: tuple[CType, CType]) -> ex.Expr | None:
    """`value & mask`, whose types are `kinds`; None if the mask keeps other bits than the lowest, or all
    others, or may be converted to another one.  The mask is known modulo 2^w, where its type has w bits.
    """
    own, other = map(promoted, kinds)
    bits = mask_of(mask, other, own)
    size = 3 if bits is None else -bits if bits < 0 else bits + 1
    if size & (size - 1):
        return None
    multiple = ex.Scaled(size, ex.FloorDiv(value, size))
    if bits == size - 1:
        return ex.Sum((value, ex.Scaled(-size, ex.FloorDiv(value, size))))
    if not isinstance(own, Integer) or not isinstance(other, Integer):
        return None
    return multiple if own.signed or own.bits >= other.bits else None


def is_signed(kind: CType) -> bool:
    found = promoted(kind)
    return isinstance(found, Integer) and found.signed


def chosen(condition: ex.Test, first: ex.Expr, second: ex.Expr) -> ex.Expr:
    """`a < b ? a : b` is a minimum: a set of points for each of its two cases would be many for several."""
    match condition:
        case ex.Compare(ex.Relation.LT | ex.Relation.LE, left, right) if {left, right} == {first, second}:
            return (ex.Min if left == first else ex.Max)((left, right))
        case ex.Compare(ex.Relation.GT | ex.Relation.GE, left, right) if {left, right} == {first, second}:
            return (ex.Max if left == first else ex.Min)((left, right))
    return ex.Select(condition, first, second)


def outcome(one: ex.Test) -> bool | None:
    """Whether a comparison of an expression with itself holds; None for all other conditions."""
    match one:
        case ex.Compare(relation, left, right) if left == right:
            return relation in (ex.Relation.LE, ex.Relation.GE, ex.Relation.EQ)
    return None
