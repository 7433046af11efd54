"""Values in a run that is followed: converted, compared, added; None is a value not known."""

from __future__ import annotations

import math
from ctypes import c_float
from operator import add, mul, sub, truediv

from loopwright.c import types
from loopwright.c.runs.memory import Address, Image, TypeSizes, Value
from loopwright.c.typed import tree
from loopwright.c.typed.known_values import COMPARED, binary, integer_type

_ARITHMETIC = {"+": add, "-": sub, "*": mul, "/": truediv}


def element_of(kind: types.CType) -> types.CType:
    """The type of what a pointer, or an array, leads to."""
    match types.unqualified(kind):
        case types.Pointer(target=inner) | types.ArrayType(element=inner):
            return inner
    return types.Unknown("no pointer")


def moved(start: Value, by: Value, size: int | None = 1) -> Address | None:
    """A place moved by so many parts of a size."""
    if not isinstance(start, Address):
        return None
    if start.offset is None or not isinstance(by, int) or size is None:
        return Address(start.block, None)
    return Address(start.block, start.offset + by * size)


def distance(left: Value, right: Value) -> int | None:
    """How many bytes lie between two places of a block."""
    if not isinstance(left, Address) or not isinstance(right, Address) or left.block != right.block:
        return None
    return None if left.offset is None or right.offset is None else left.offset - right.offset


def compared(sign: str, left: Value, right: Value) -> int | None:
    """The value of a comparison."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        return int(COMPARED[sign](left, right))
    apart = distance(left, right)
    if apart is not None:
        return int(COMPARED[sign](apart, 0))
    blocks = {one.block for one in (left, right) if isinstance(one, Address)}
    if sign in ("==", "!=") and (len(blocks) == 2 or (blocks and 0 in (left, right))):
        return int(sign == "!=")
    return None


def truth(value: Value) -> bool | None:
    """Whether a value is not 0."""
    if isinstance(value, Address):
        return True
    return bool(value) if isinstance(value, int | float) else None


def either(one: Value, other: Value) -> Value:
    """A value that is one of two."""
    if isinstance(one, Address) and isinstance(other, Address) and one.block == other.block:
        return one if one == other else Address(one.block, None)
    if isinstance(one, Image) and isinstance(other, Image) and len(one.bytes) == len(other.bytes):
        pairs = zip(one.bytes, other.bytes, strict=True)
        return Image(tuple(mine if mine == theirs else None for mine, theirs in pairs))
    return one if one == other and type(one) is type(other) else None


def converted(value: Value, kind: types.CType) -> Value:
    """A value converted to a type."""
    plain, integer = types.unqualified(kind), integer_type(kind)
    match value:
        case float() if integer is not None and integer.rank == 0:
            return int(value != 0)
        case float() if integer is not None:
            whole = int(value) if math.isfinite(value) else integer.greatest + 1
            return whole if integer.least <= whole <= integer.greatest else None
        case int() if integer is not None:
            return integer.converted(value)
        case int() | float() if isinstance(plain, types.Floating):
            if plain.is_complex or plain.bits not in (32, 64):
                return None
            return c_float(value).value if plain.bits == 32 else float(value)
        case Address() if integer is not None:
            return value if integer.bits == 64 else 1 if integer.rank == 0 else None
    return value


def literal(node: tree.Number) -> Value:
    """The value of a number as written."""
    if node.value is not None:
        return node.value
    text = node.text.lower().replace(" ", "")
    try:
        if text.startswith("0x"):
            return float.fromhex(text.rstrip("l"))
        return converted(float(text.rstrip("fl")), node.type)
    except ValueError:
        return None


def _stays(sign: str, right: Value) -> bool:
    """Whether a number made of an address leads to its block: sums, and masks of the last bits."""
    if not isinstance(right, int):
        return False
    is_mask = (sign == "|" and 0 <= right < _BLOCK) or (sign == "&" and -right % 2**64 < _BLOCK)
    return is_mask or sign in ("+", "-")


_BLOCK = 64
"""The alignment of blocks, at most, that masks are used for."""


def summed(left: Value, right: Value, kind: types.CType, sign: str, sizes: TypeSizes) -> Value:
    """`left sign right` in a type; for a pointer, `right` counts elements."""
    plain = types.unqualified(kind)
    if isinstance(left, Address):
        is_pointer = isinstance(plain, types.Pointer | types.ArrayType)
        if not is_pointer and not _stays(sign, right):
            return None
        size = sizes.size(element_of(plain)) if is_pointer else 1
        number = right if sign == "+" else -right if sign == "-" and isinstance(right, int) else None
        return moved(left, number, size)
    integer = integer_type(plain)
    if integer is not None and isinstance(left, int) and isinstance(right, int):
        return binary(sign, left, right, integer)
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return None
    is_defined = sign in _ARITHMETIC and (sign != "/" or right != 0) and isinstance(plain, types.Floating)
    return converted(_ARITHMETIC[sign](left, right), plain) if is_defined else None
