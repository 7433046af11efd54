"""Vectors of C: the types and functions of x86's headers, and the types that `vector_size` makes.

Those alone are here whose lanes are computed by themselves, by one operation of C each:

    _mm256_add_pd(a, b)         a + b                      _mm256_max_pd(a, b)       a > b ? a : b
    _mm256_fmadd_pd(a, b, c)    fma(a, b, c)               _mm256_sqrt_pd(a)         sqrt(a)

A load or store that needs an aligned address is not here: that it is aligned is not proved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopwright.lazy_dataclass import dataclass

HEADERS = frozenset(
    f"<{name}.h>"
    for name in (
        *("immintrin", "x86intrin", "xmmintrin", "emmintrin", "pmmintrin", "tmmintrin", "smmintrin"),
        "nmmintrin",
    )
)
SIZES = {"float": 4, "double": 8}
_SUFFIXES = {"pd": "double", "ps": "float"}
_TARGETS = re.compile(r"(?:sse[\d.]*|ssse3|avx2?|avx512\w*|fma|f16c|arch=[\w-]+|tune=[\w-]+)")


@dataclass(frozen=True)
class VectorType:
    """So many lanes of one type; `is_anywhere`: a pointer to it may lead to any of its elements."""

    element: str
    lanes: int
    is_anywhere: bool = False

    def is_like(self, other: VectorType) -> bool:
        return (self.element, self.lanes) == (other.element, other.lanes)


REGISTERS = {
    f"__m{bits}{letter}": VectorType(element, bits // 8 // SIZES[element])
    for bits in (128, 256, 512)
    for letter, element in (("d", "double"), ("", "float"))
}


@dataclass(frozen=True)
class VectorFunction:
    """A function of the headers: what it does, and the vectors it is about."""

    action: str
    type: VectorType


LOADS, STORES, FIRST_LANES = ("loadu",), ("storeu",), ("cvtsd_f64", "cvtss_f32")
FILLS = ("set1", "setzero", "set", "setr", "broadcast")
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
CHOICES = {"max": ">", "min": "<"}
FUSED = {"fmadd": ("", ""), "fmsub": ("", "-"), "fnmadd": ("-", ""), "fnmsub": ("-", "-")}
"""The signs of the product and of what is added to it."""
ROOTS = ("sqrt",)
_ACTIONS = frozenset((*LOADS, *STORES, *FILLS, *ARITHMETIC, *CHOICES, *FUSED, *ROOTS))
_FUNCTION = re.compile(r"_mm(|256|512)_([a-z]+1?)_(pd|ps|sd|ss)")
_FIRST = re.compile(r"_mm(|256|512)_(cvtsd_f64|cvtss_f32)")


def vector_function(name: str) -> VectorFunction | None:
    """The function of this name, if it is one whose lanes are known."""
    first = _FIRST.fullmatch(name)
    if first is not None:
        element = "double" if first[2] == "cvtsd_f64" else "float"
        return VectorFunction(first[2], _register(first[1], element))
    match = _FUNCTION.fullmatch(name)
    if match is None or match[2] not in _ACTIONS:
        return None
    bits, action, suffix = match.groups()
    is_one = suffix in ("sd", "ss")
    if is_one != (action == "broadcast") or (is_one and (bits == "512" or (bits, suffix) == ("", "sd"))):
        return None
    return VectorFunction(action, _register(bits, _SUFFIXES[f"p{suffix[1]}"]))


def _register(bits: str, element: str) -> VectorType:
    return VectorType(element, int(bits or 128) // 8 // SIZES[element])


def is_word_of_vectors(name: str) -> bool:
    """Whether a name is one of the headers' types, functions or macros."""
    return re.match(r"_mm\d*_|_MM_|__m(?:64|128|256|512)|__builtin_ia32_", name) is not None


_TYPEDEF = re.compile(
    r"typedef\s+(?:(float|double)\s+(\w+)\s+__attribute__\s*\(\((.*)\)\)"
    r"|(float|double)\s+__attribute__\s*\(\((.*)\)\)\s*(\w+))\s*;",
    re.DOTALL,
)


def vector_typedef(text: str) -> tuple[str, VectorType] | None:
    """The name and the vectors that a `typedef` with `vector_size` is about; None for any other."""
    match = _TYPEDEF.fullmatch(text)
    if match is None:
        return None
    element, name, words = match[1] or match[4], match[2] or match[6], match[3] or match[5]
    size, alignment = 0, 0
    for one in re.split(r",(?![^()]*\))", words):
        attribute = re.fullmatch(r"\s*_*([a-z]+(?:_[a-z]+)*?)_*\s*(?:\((.*)\))?\s*", one)
        match attribute and (attribute[1], attribute[2]):
            case ("vector_size", str(number)):
                size = _bytes(number)
            case ("aligned", str(number)):
                alignment = _bytes(number)
            case ("may_alias", None):
                pass
            case _:
                return None
    lanes, rest = divmod(size, SIZES[element])
    if lanes < 2 or rest or lanes & (lanes - 1):
        return None
    return name, VectorType(element, lanes, is_anywhere=0 < alignment <= SIZES[element])


def _bytes(text: str) -> int:
    """A number, or a product of numbers and sizes of types; 0 where it is something else."""
    product = 1
    plain = re.sub(r"\bsizeof\s*\(\s*(float|double)\s*\)", lambda one: str(SIZES[one[1]]), text)
    for factor in plain.split("*"):
        if not factor.strip().isdecimal():
            return 0
        product *= int(factor)
    return product


def are_targets(texts: Sequence[str]) -> bool:
    """Whether words of `target("...")` name instructions alone, which change no result."""
    return all(_TARGETS.fullmatch(word.strip()) for text in texts for word in text.split(","))
