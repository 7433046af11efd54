"""The arithmetic types of C: what they are called, and which one a sum of two has.

A type that is not known, of a name a header defines, is `UNKNOWN`: nothing is concluded from it.
Sizes are those of LP64, where `int` has 32 and `long` has 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.c.macros import integer_text

UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer type: conversion rank, width in bits."""

    rank: int
    bits: int
    signed: bool

    @property
    def least(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def greatest(self) -> int:
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1


INTEGERS = {
    "_Bool": Integer(0, 1, False),
    "char": Integer(1, 8, True),
    "signed char": Integer(1, 8, True),
    "unsigned char": Integer(1, 8, False),
    "short": Integer(2, 16, True),
    "unsigned short": Integer(2, 16, False),
    "int": Integer(3, 32, True),
    "unsigned": Integer(3, 32, False),
    "long": Integer(4, 64, True),
    "unsigned long": Integer(4, 64, False),
    "long long": Integer(5, 64, True),
    "unsigned long long": Integer(5, 64, False),
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
