"""Functions of x86's headers that move lanes, and those that combine neighbours: which lane becomes which.

    _mm256_castpd256_pd128(a)      a0 a1                  _mm256_extractf128_pd(a, 1)   a2 a3
    _mm_unpackhi_pd(a, b)          a1 b1                  _mm_shuffle_pd(a, b, 1)       a1 b0
    _mm_hadd_pd(a, b)              a0+a1 b0+b1            _mm_add_sd(a, b)              a0+b0 a1

Registers of 256 and 512 bits are worked on in parts of 128 bits by shuffles, unpacks and horizontal sums.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from loopwright.c.reworded.vector_words import ARITHMETIC, CHOICES, SIZES, VectorType
from loopwright.lazy_dataclass import dataclass

Texts = Sequence[str]
_ELEMENTS = {"pd": "double", "ps": "float", "sd": "double", "ss": "float"}


@dataclass(frozen=True)
class VectorMove:
    """The vectors a function takes, what it makes of their lanes, and whether a number says how."""

    takes: tuple[VectorType, ...]
    made: VectorType
    lanes: Callable[[Sequence[Texts], int], tuple[str, ...]]
    has_number: bool = False


def vector_move(name: str) -> VectorMove | None:
    """The function of this name, if it is one of those here."""
    return _narrowed(name) or _extracted(name) or _in_parts(name) or _whole(name) or _of_first(name)


def _register(bits: int, element: str) -> VectorType:
    return VectorType(element, bits // 8 // SIZES[element])


def _narrowed(name: str) -> VectorMove | None:
    """The lower lanes."""
    found = re.fullmatch(r"_mm(256|512)_cast(p[ds])(256|512)_(p[ds])(128|256)", name)
    if found is None or found[1] != found[3] or found[2] != found[4] or int(found[5]) >= int(found[3]):
        return None
    wide, narrow = (_register(int(bits), _ELEMENTS[found[2]]) for bits in (found[3], found[5]))
    return VectorMove((wide,), narrow, lambda all_of, _: tuple(all_of[0][: narrow.lanes]))


def _extracted(name: str) -> VectorMove | None:
    """One of the parts of a register, by its number."""
    bits = {
        "_mm256_extractf128_pd": (256, 128, "double"),
        "_mm256_extractf128_ps": (256, 128, "float"),
        "_mm512_extractf64x4_pd": (512, 256, "double"),
        "_mm512_extractf32x4_ps": (512, 128, "float"),
    }.get(name)
    if bits is None:
        return None
    wide, part = _register(bits[0], bits[2]), _register(bits[1], bits[2])
    count = wide.lanes // part.lanes

    def lanes(all_of: Sequence[Texts], number: int) -> tuple[str, ...]:
        first = number % count * part.lanes
        return tuple(all_of[0][first : first + part.lanes])

    return VectorMove((wide,), part, lanes, has_number=True)


def _in_parts(name: str) -> VectorMove | None:
    """What is done in each part of 128 bits by itself."""
    found = re.fullmatch(r"_mm(|256|512)_(unpacklo|unpackhi|hadd|shuffle|permute)_(p[ds])", name)
    if found is None:
        return None
    bits, action, suffix = int(found[1] or 128), found[2], found[3]
    if bits == 512 and action == "hadd":
        return None
    made, width = _register(bits, _ELEMENTS[suffix]), 128 // 8 // SIZES[_ELEMENTS[suffix]]

    def lanes(all_of: Sequence[Texts], number: int) -> tuple[str, ...]:
        texts: list[str] = []
        for part in range(made.lanes // width):
            own = [one[part * width : (part + 1) * width] for one in all_of]
            texts += _part(action, own[0], own[-1], _own_bits(number, part, width))
        return tuple(texts)

    takes = (made,) * (1 if action == "permute" else 2)
    return VectorMove(takes, made, lanes, has_number=action in ("shuffle", "permute"))


def _own_bits(number: int, part: int, width: int) -> int:
    """Of doubles each part has two bits of its own; of floats all parts have the same eight."""
    return number >> 2 * part if width == 2 else number


def _part(action: str, a: Texts, b: Texts, number: int) -> list[str]:
    half = len(a) // 2
    match action:
        case "unpacklo" | "unpackhi":
            first = half if action == "unpackhi" else 0
            return [one[first + k] for k in range(half) for one in (a, b)]
        case "hadd":
            return [f"({one[2 * k]} + {one[2 * k + 1]})" for one in (a, b) for k in range(half)]
        case _:
            size = 1 if len(a) == 2 else 2
            chosen = [number >> size * k & (1 << size) - 1 for k in range(len(a))]
            return [(a if k < half else b)[place] for k, place in enumerate(chosen)]


def _whole(name: str) -> VectorMove | None:
    """Moves with names of their own."""
    four = _register(128, "float")
    match name:
        case "_mm_movehl_ps":
            return VectorMove((four,) * 2, four, lambda all_of, _: (*all_of[1][2:], *all_of[0][2:]))
        case "_mm_movelh_ps":
            return VectorMove((four,) * 2, four, lambda all_of, _: (*all_of[0][:2], *all_of[1][:2]))
        case "_mm_movehdup_ps":
            return VectorMove((four,), four, lambda all_of, _: _taken(all_of[0], (1, 1, 3, 3)))
        case "_mm_moveldup_ps":
            return VectorMove((four,), four, lambda all_of, _: _taken(all_of[0], (0, 0, 2, 2)))
        case "_mm256_permute2f128_pd" | "_mm256_permute2f128_ps":
            made = _register(256, _ELEMENTS[name[-2:]])
            return VectorMove((made,) * 2, made, _halves, has_number=True)
        case _:
            return None


def _taken(texts: Texts, places: Sequence[int]) -> tuple[str, ...]:
    return tuple(texts[place] for place in places)


def _halves(all_of: Sequence[Texts], number: int) -> tuple[str, ...]:
    """Two halves of two registers; a half of zeros where a bit says so is not made."""
    width = len(all_of[0]) // 2
    halves = [one[k * width : (k + 1) * width] for one in all_of for k in (0, 1)]
    if number & 0x88:
        return ()
    return (*halves[number & 3], *halves[number >> 4 & 3])


def _of_first(name: str) -> VectorMove | None:
    """Arithmetic of the first lanes; the others are those of the first operand."""
    found = re.fullmatch(r"_mm_([a-z]+)_(s[ds])", name)
    if found is None or found[1] not in (*ARITHMETIC, *CHOICES):
        return None
    made, action = _register(128, _ELEMENTS[found[2]]), found[1]
    sign = ARITHMETIC.get(action)

    def lanes(all_of: Sequence[Texts], _: int) -> tuple[str, ...]:
        left, right = all_of[0][0], all_of[1][0]
        chosen = f"({left} {CHOICES.get(action)} {right} ? {left} : {right})"
        first = f"({left} {sign} {right})" if sign else chosen
        return (first, *all_of[0][1:])

    return VectorMove((made,) * 2, made, lanes)


def move_number(text: str) -> int | None:
    """The number that says how lanes move: a literal, or `_MM_SHUFFLE` of four."""
    text = "".join(text.split())
    four = re.fullmatch(r"_MM_SHUFFLE\(([0-3]),([0-3]),([0-3]),([0-3])\)", text)
    if four is not None:
        return sum(int(one) << 2 * (3 - k) for k, one in enumerate(four.groups()))
    if re.fullmatch(r"0[xX][0-9a-fA-F]+|0[bB][01]+|0|[1-9]\d*", text) is None:
        return None
    number = int(text, 0)
    return number if 0 <= number < 256 else None
