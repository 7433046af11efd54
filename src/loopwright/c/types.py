"""The types of C, as values; a type that is not known is `Unknown`, and nothing is concluded from it.

    arithmetic    Integer, Floating, Enumeration
    derived       Pointer, Array, Record (struct and union), Function
    others        Void, Qualified (const, volatile, _Atomic around any of them), Unknown

Sizes are in bits.  Those of the names in `INTEGERS` are those of LP64, where `int` has 32 and `long`
has 64 bits; whoever knows better (a front end that asked the compiler) makes the values itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.c.macros import integer_text

UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer type, or a bit-field of it: then `bits` is its width, and `rank` that of its type.

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


@dataclass(frozen=True, slots=True)
class Floating:
    """A real floating type: 32 bits for float, 64 for double, what the machine has for long double."""

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
class Array:
    """`length` is a number, the text of an expression (a variable length array), or None: `a[]`."""

    element: CType
    length: int | str | None


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a record; one of an anonymous struct or union has the name ""."""

    name: str
    type: CType
    offset: int
    """In bits from the start of the record."""


@dataclass(frozen=True, slots=True)
class Record:
    """`struct tag` or `union tag`.

    `fields` is None where they are not known (an incomplete type), or not spelled out again: inside
    its own fields a record is named by its tag only.
    """

    tag: str
    fields: tuple[Field, ...] | None
    is_union: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """`parameters` is None for `f()`, which says nothing about them."""

    result: CType
    parameters: tuple[CType, ...] | None
    is_variadic: bool = False


@dataclass(frozen=True, slots=True)
class Qualified:
    """A type of objects that are const, volatile or _Atomic; at least one of them."""

    type: CType
    is_const: bool = False
    is_volatile: bool = False
    is_atomic: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """`reason` says why, in words for a message: "'real' is declared in a header that is missing"."""

    reason: str


CType = Integer | Floating | Enumeration | Void | Pointer | Array | Record | Function | Qualified | Unknown


def unqualified(kind: CType) -> CType:
    """The type of a value read from an object of type `kind`."""
    return unqualified(kind.type) if isinstance(kind, Qualified) else kind


INTEGERS = {
    "_Bool": Integer(1, False, 0),
    "char": Integer(8, True, 1),
    "signed char": Integer(8, True, 1),
    "unsigned char": Integer(8, False, 1),
    "short": Integer(16, True, 2),
    "unsigned short": Integer(16, False, 2),
    "int": Integer(32, True, 3),
    "unsigned": Integer(32, False, 3),
    "long": Integer(64, True, 4),
    "unsigned long": Integer(64, False, 4),
    "long long": Integer(64, True, 5),
    "unsigned long long": Integer(64, False, 5),
}
FLOATING = ("float", "double", "long double")
"""The later one is the common type of two."""

_NAMES = {
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


def known_type(text: str) -> str:
    """The arithmetic type a text with its typedefs resolved is, `UNKNOWN` if it is no such type."""
    words = sorted(_NAMES.get(word, word) for word in text.split() if word not in _QUALIFIERS)
    if len(words) == 1 and words[0] in (*FLOATING, *INTEGERS):
        return words[0]
    parts = [word for name in words for word in name.split()]
    if sorted(parts) == ["double", "long"]:
        return "long double"
    sign = "unsigned" in parts
    kept = [word for word in parts if word not in ("signed", "unsigned", "int")]
    if any(word not in ("char", "short", "long") for word in kept) or not parts:
        return UNKNOWN
    size = " ".join(kept)
    name = f"unsigned {size}".strip() if sign else size or "int"
    if name == "char" and "signed" in parts:
        return "signed char"
    return name if name in INTEGERS else UNKNOWN


def is_known(name: str) -> bool:
    return name in INTEGERS or name in FLOATING


def is_unsigned(name: str) -> bool:
    return name in INTEGERS and not INTEGERS[name].signed


def is_floating(name: str) -> bool:
    return name in FLOATING


def promoted(name: str) -> str:
    """What an operand is turned into before anything else: nothing is smaller than int."""
    return "int" if name in INTEGERS and INTEGERS[name].rank < INTEGERS["int"].rank else name


def common(first: str, second: str) -> str:
    """The type of a sum (the usual arithmetic conversions, C17 6.3.1.8)."""
    if not (is_known(first) and is_known(second)):
        return UNKNOWN
    if is_floating(first) or is_floating(second):
        return max((name for name in (first, second) if is_floating(name)), key=FLOATING.index)
    one, other = promoted(first), promoted(second)
    small, large = sorted((one, other), key=lambda name: (INTEGERS[name].rank, not INTEGERS[name].signed))
    lower, higher = INTEGERS[small], INTEGERS[large]
    if lower.signed or not higher.signed or higher.bits > lower.bits:
        return large
    return f"unsigned {large}"


def literal_type(text: str) -> str:
    """The type of a number as it is written: for an integer, the first that holds it (C17 6.4.4.1)."""
    word = text.lower()
    if not word.startswith("0x") and any(mark in word for mark in ".e"):
        return {"f": "float", "l": "long double"}.get(word[-1], "double")
    digits = word.rstrip("ul")
    suffix = word[len(digits) :]
    value = integer_text(digits)
    if value is None:
        return UNKNOWN
    longs = suffix.count("l")
    signed = () if "u" in suffix else ("int", "long", "long long")[longs:]
    unsigned = ("unsigned", "unsigned long", "unsigned long long")[longs:]
    possible = signed if signed and not digits.startswith("0") else (*signed, *unsigned)
    fitting = [name for name in possible if abs(value) <= INTEGERS[name].greatest]
    return min(fitting, key=lambda name: INTEGERS[name].rank, default=UNKNOWN)
