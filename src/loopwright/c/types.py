"""The types of C as values; an unknown type is `Unknown`, and nothing is concluded from it.

    arithmetic    Integer, Floating, Enumeration
    derived       Pointer, Array, Record (struct and union), Function
    others        Void, Qualified (const, volatile, _Atomic around any of them), Unknown

Sizes are in bits.  The named types below are those of LP64, where `int` has 32 and `long` has 64 bits;
a front end that asks the compiler makes the values itself.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import TypeGuard

from loopwright.c.macros import integer_text
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer type, or a bit-field: then `bits` is its width, and `rank` that of its declared type.

    `rank` is the conversion rank: 0 for _Bool, 1 for char, 2 for short, 3 for int, 4 for long,
    5 for long long.
    """

    bits: int
    signed: bool
    rank: int

    @property
    def least(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def greatest(self) -> int:
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1

    def converted(self, value: int) -> int:
        """A number converted to the type (C17 6.3.1.2, 6.3.1.3; compilers keep the low bits)."""
        if self.rank == 0:
            return int(value != 0)
        low = value & ((1 << self.bits) - 1)
        return low - (1 << self.bits) if self.signed and low > self.greatest else low


def divided(operator: str, one: int, other: int) -> int:
    """one / other, rounded towards 0, or the remainder one % other (C17 6.5.5)."""
    quotient = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
    return quotient if operator == "/" else one - quotient * other


@dataclass(frozen=True, slots=True)
class Floating:
    """A floating type: 32 bits for float, 64 for double, and 80 for long double.

    The format of a long double is the machine's: x87, IEEE binary128 or two doubles.  It holds what a double
    holds (C17 6.2.5), and nothing more is concluded.  Its 80 bits stand for any of these formats.
    """

    bits: int
    is_complex: bool = False


@dataclass(frozen=True, slots=True)
class Enumeration:
    """`enum tag`; its values have the type `integer`, its enumerators are ints."""

    tag: str
    integer: Integer


@dataclass(frozen=True, slots=True)
class Void:
    pass


@dataclass(frozen=True, slots=True)
class Pointer:
    target: CType
    restrict: bool = False


@dataclass(frozen=True, slots=True)
class ArrayType:
    """`length` is a number, the text of an expression (a variable length array), or None: `a[]`."""

    element: CType
    length: int | str | None


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a record; one of an anonymous struct or union has the name ""."""

    name: str
    type: CType
    offset: int
    """The offset in bits from the start of the record."""


@dataclass(frozen=True, slots=True)
class Record:
    """`struct tag` or `union tag`.

    `fields` is None if they are unknown (an incomplete type), or not repeated: inside its own fields a
    record has its tag only.
    """

    tag: str
    fields: tuple[Field, ...] | None
    is_union: bool = False
    bytes: int | None = field(default=None, compare=False)
    """Its size, with what attributes and pragmas say of it."""


@dataclass(frozen=True, slots=True)
class FunctionType:
    """A function type; `parameters` is None for `f()`, without a prototype."""

    result: CType
    parameters: tuple[CType, ...] | None
    is_variadic: bool = False


@dataclass(frozen=True, slots=True)
class Qualified:
    """A type that is const, volatile or _Atomic; at least one of them."""

    type: CType
    is_const: bool = False
    is_volatile: bool = False
    is_atomic: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """`reason` is the reason, as part of a message: "'real' is declared in a header that is missing".

    An unknown type may have a `name`; two with the same name are the same type.
    """

    reason: str
    name: str = ""


ANOTHER_TYPE = "__another_type"
"""The first part of the name of a type changed by an attribute: GNU C vectors, numbers of another size."""


CType = (
    Integer
    | Floating
    | Enumeration
    | Void
    | Pointer
    | ArrayType
    | Record
    | FunctionType
    | Qualified
    | Unknown
)


def unqualified(kind: CType) -> CType:
    """The type of a value read from an object of type `kind`."""
    return unqualified(kind.type) if isinstance(kind, Qualified) else kind


def innermost(kind: CType) -> CType:
    """The type of the elements of an array with any number of dimensions; of anything else, its own."""
    kind = unqualified(kind)
    return innermost(kind.element) if isinstance(kind, ArrayType) else kind


def is_observed(kind: CType) -> bool:
    """Whether an object of this type is volatile or atomic."""
    return isinstance(kind, Qualified) and (kind.is_volatile or kind.is_atomic)


BOOL = Integer(1, signed=False, rank=0)
INT = Integer(32, signed=True, rank=3)
UNSIGNED = Integer(32, signed=False, rank=3)
LONG = Integer(64, signed=True, rank=4)
UNSIGNED_LONG = Integer(64, signed=False, rank=4)
LONG_LONG = Integer(64, signed=True, rank=5)
FLOAT = Floating(32)
DOUBLE = Floating(64)
LONG_DOUBLE = Floating(80)
LONG_DOUBLE_BYTES = 16
"""Where a long double has another size, the type that a front end makes of it is that of as many bits."""

CHAR = Unknown("whether 'char' has a sign is the compiler's choice", "char")

_NAMED: dict[str, Integer | Floating] = {
    "_Bool": BOOL,
    "signed char": Integer(8, signed=True, rank=1),
    "unsigned char": Integer(8, signed=False, rank=1),
    "short": Integer(16, signed=True, rank=2),
    "unsigned short": Integer(16, signed=False, rank=2),
    "int": INT,
    "unsigned": UNSIGNED,
    "long": LONG,
    "unsigned long": UNSIGNED_LONG,
    "long long": LONG_LONG,
    "unsigned long long": Integer(64, signed=False, rank=5),
    "float": FLOAT,
    "double": DOUBLE,
    "long double": LONG_DOUBLE,
}
_HEADERS = {
    "bool": "_Bool",
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned",
    "int64_t": "long",
    "uint64_t": "unsigned long",
    "size_t": "unsigned long",
    "ssize_t": "long",
    "ptrdiff_t": "long",
    "intptr_t": "long",
    "uintptr_t": "unsigned long",
}
_QUALIFIERS = ("const", "volatile", "restrict", "static", "extern", "register", "auto", "_Atomic")


@lru_cache(maxsize=4096)
def name_of(kind: CType) -> str:
    """C's name for an arithmetic type; "" for another type, or a bit-field."""
    return next((name for name, known in _NAMED.items() if known == kind), "")


def named_type(text: str) -> CType:
    """The arithmetic type with this name, typedefs resolved; any other is unknown, with this name."""
    words = sorted(_HEADERS.get(word, word) for word in text.split() if word not in _QUALIFIERS)
    if len(words) == 1 and words[0] in _NAMED:
        return _NAMED[words[0]]
    parts = [word for name in words for word in name.split()]
    if sorted(parts) == ["double", "long"]:
        return LONG_DOUBLE
    size = " ".join(word for word in parts if word not in ("signed", "unsigned", "int"))
    is_integer = bool(parts) and all(word in ("char", "short", "long") for word in size.split())
    sign = "unsigned" if "unsigned" in parts else "signed" if size == "char" and "signed" in parts else ""
    name = f"{sign} {size}".strip() or "int"
    if name == CHAR.name and is_integer:
        return CHAR
    return _NAMED[name] if is_integer and name in _NAMED else Unknown(f"the type '{text}' is not known", text)


def spelling(kind: CType) -> str:
    """The name of an arithmetic type, or of one that is known by name only; "" for all others."""
    known = next((name for name, one in _NAMED.items() if one == kind), "")
    return kind.name if isinstance(kind, Unknown) else known


def is_arithmetic(kind: CType) -> TypeGuard[Integer | Floating]:
    return isinstance(kind, Integer | Floating)


def stored_bytes(kind: Integer | Floating) -> int:
    """The size of an object, without its alignment in the case of a bit-field."""
    one = LONG_DOUBLE_BYTES if kind.bits == LONG_DOUBLE.bits else -(-kind.bits // 8)
    return 2 * one if isinstance(kind, Floating) and kind.is_complex else one


def is_unsigned(kind: CType) -> bool:
    return isinstance(kind, Integer) and not kind.signed


def is_signed(kind: CType) -> bool:
    return isinstance(kind, Integer) and kind.signed


def holds(wide: CType, narrow: CType) -> bool:
    """Whether every value of one integer type is a value of the other."""
    if narrow == CHAR:
        return holds(wide, _NAMED["signed char"]) and holds(wide, _NAMED["unsigned char"])
    if not isinstance(wide, Integer) or not isinstance(narrow, Integer):
        return False
    return wide.least <= narrow.least and narrow.greatest <= wide.greatest


SIGNIFICANT_BITS = {FLOAT: 24, DOUBLE: 53, LONG_DOUBLE: 53}
"""Bits of the significand, on every machine: integers below 2^bits are exact in the type."""


def represents(wide: CType, narrow: CType) -> bool:
    """Whether every value of one real type is a value of the other."""
    match narrow, wide:
        case Integer(bits), Floating():
            return bits <= SIGNIFICANT_BITS.get(wide, 0)
        case Floating(small), Floating(large):
            return narrow in SIGNIFICANT_BITS and wide in SIGNIFICANT_BITS and small <= large
        case _:
            return holds(wide, narrow)


def promoted(kind: CType) -> CType:
    """The type of an operand after integer promotion: nothing is narrower than int (C17 6.3.1.1)."""
    if kind is INT:
        return kind
    is_small = kind == CHAR or (isinstance(kind, Integer) and kind.rank <= INT.rank)
    return INT if is_small and holds(INT, kind) else kind


def common(first: CType, second: CType) -> CType:
    """The type of a sum (the usual arithmetic conversions, C17 6.3.1.8)."""
    if first is INT and second is INT:
        return INT
    one, other = promoted(first), promoted(second)
    if isinstance(one, Integer) and isinstance(other, Integer):
        return _common_integer(one, other)
    if not is_arithmetic(one) or not is_arithmetic(other):
        return Unknown("the type of an operand is not known")
    floating = [kind for kind in (one, other) if isinstance(kind, Floating)]
    return Floating(max(kind.bits for kind in floating), any(kind.is_complex for kind in floating))


def mask_of(mask: int, kind: CType, masked: CType) -> int | None:
    """A mask of type `kind` as the number with the same bits in the signed type of as many bits as `x & mask`
    has, for an x of type `masked`: ~3u is -4 unless x is wider.  None if the bits are not known.
    """
    own, other = promoted(kind), promoted(masked)
    if not isinstance(own, Integer):
        return mask if mask >= 0 else None
    low = own.converted(mask)
    keeps_first = isinstance(other, Integer) and other.bits <= own.bits and low > own.greatest // 2
    return low - (1 << own.bits) if keeps_first and not own.signed else low


def _common_integer(one: Integer, other: Integer) -> Integer:
    lower, higher = sorted((one, other), key=lambda kind: (kind.rank, not kind.signed))
    if lower.signed or not higher.signed or higher.bits > lower.bits:
        return higher
    return Integer(higher.bits, signed=False, rank=higher.rank)


@lru_cache(maxsize=4096)
def literal_type(text: str) -> CType:
    """The type of a numeric literal: for an integer, the first that holds it (C17 6.4.4.1)."""
    word = text.lower()
    if not word.startswith("0x") and any(mark in word for mark in ".e"):
        return {"f": FLOAT, "l": LONG_DOUBLE}.get(word[-1], DOUBLE)
    digits = word.rstrip("ul")
    suffix = word[len(digits) :]
    value = integer_text(digits)
    if value is None:
        return Unknown(f"'{text}' cannot be read as a number")
    names = ("", "long", "long long")[suffix.count("l") :]
    signed = () if "u" in suffix else tuple(name or "int" for name in names)
    unsigned = tuple(f"unsigned {name}".strip() for name in names)
    possible = signed if signed and not digits.startswith("0") else (*signed, *unsigned)
    kinds = [kind for name in possible if isinstance(kind := _NAMED[name], Integer)]
    fitting = [kind for kind in kinds if abs(value) <= kind.greatest]
    too_large = Unknown(f"'{text}' is too large for every integer type")
    return min(fitting, key=lambda kind: kind.rank, default=too_large)
