"""Vector types and functions of the x86 and ARM headers, and the types that `vector_size` makes.

Only those are listed whose lanes are computed independently, by one C operation each:

    _mm256_add_pd(a, b)         a + b                      _mm256_max_pd(a, b)       a > b ? a : b
    _mm256_fmadd_pd(a, b, c)    fma(a, b, c)               _mm256_sqrt_pd(a)         sqrt(a)
    vaddq_f32(a, b)             a + b                      vfmaq_f32(c, a, b)        fma(a, b, c)

A load or store that needs an aligned address is listed; `aligned` says which addresses are.

`VectorMove` describes functions of the x86 headers that move lanes or combine neighbours:

    _mm256_castpd256_pd128(a)      a0 a1                  _mm256_extractf128_pd(a, 1)   a2 a3
    _mm_unpackhi_pd(a, b)          a1 b1                  _mm_shuffle_pd(a, b, 1)       a1 b0
    _mm_hadd_pd(a, b)              a0+a1 b0+b1            _mm_add_sd(a, b)              a0+b0 a1

In registers of 256 and 512 bits, shuffles, unpacks and horizontal sums work on each part of 128 bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from loopwright.c.tokens import packed
from loopwright.lazy_dataclass import dataclass

HEADERS = frozenset(
    f"<{name}.h>"
    for name in (
        *("immintrin", "x86intrin", "xmmintrin", "emmintrin", "pmmintrin", "tmmintrin", "smmintrin"),
        *("nmmintrin", "arm_neon"),
    )
)
SIZES = {"float": 4, "double": 8}
_ELEMENTS = {"pd": "double", "ps": "float", "sd": "double", "ss": "float"}
_TARGETS = re.compile(r"(?:sse[\d.]*|ssse3|avx2?|avx512\w*|fma|f16c|arch=[\w-]+|tune=[\w-]+)")


@dataclass(frozen=True)
class VectorType:
    """A number of lanes of one type; `is_anywhere`: a pointer to it needs only an element's alignment."""

    element: str
    lanes: int
    is_anywhere: bool = False

    def is_like(self, other: VectorType) -> bool:
        return (self.element, self.lanes) == (other.element, other.lanes)


REGISTERS = {
    f"__m{bits}{letter}": VectorType(element, bits // 8 // SIZES[element])
    for bits in (128, 256, 512)
    for letter, element in (("d", "double"), ("", "float"))
} | {"float32x4_t": VectorType("float", 4), "float64x2_t": VectorType("double", 2)}


@dataclass(frozen=True)
class VectorFunction:
    """A function of the headers: its action, and the vectors that it acts on."""

    action: str
    type: VectorType


ALIGNED = ("load", "store")
LOADS, STORES, FIRST_LANES = ("loadu", "load"), ("storeu", "store"), ("cvtsd_f64", "cvtss_f32")
FILLS = ("set1", "setzero", "set", "setr", "broadcast")
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
CHOICES = {"max": ">", "min": "<"}
FUSED = {"fmadd": ("", ""), "fmsub": ("", "-"), "fnmadd": ("-", ""), "fnmsub": ("-", "-")}
"""The signs of the product and of the addend."""
ADDED_FIRST = {"fma": "fmadd", "fms": "fnmadd"}
"""On ARM, the addend, or the minuend, is the first argument, before the factors."""
ROOTS = ("sqrt",)
_ACTIONS = frozenset((*LOADS, *STORES, *FILLS, *ARITHMETIC, *CHOICES, *FUSED, *ROOTS))
_FUNCTION = re.compile(r"_mm(|256|512)_([a-z]+1?)_(pd|ps|sd|ss)")
_OF_ARM = re.compile(r"v([a-z]+1?)q(_n|)_f(32|64)")
_ARM_ACTIONS = {"ld1": "loadu", "st1": "storeu", "dup_n": "set1", "mov_n": "set1", "fma": "fma", "fms": "fms"}
_ARM_ACTIONS |= {name: name for name in (*ARITHMETIC, *ROOTS)}
_FIRST = re.compile(r"_mm(|256|512)_(cvtsd_f64|cvtss_f32)")


def vector_function(name: str) -> VectorFunction | None:
    """The function with this name, if its lanes are known."""
    first = _FIRST.fullmatch(name)
    if first is not None:
        element = "double" if first[2] == "cvtsd_f64" else "float"
        return VectorFunction(first[2], _register(int(first[1] or 128), element))
    arm = _OF_ARM.fullmatch(name)
    if arm is not None:
        action = _ARM_ACTIONS.get(arm[1] + arm[2])
        element = "float" if arm[3] == "32" else "double"
        return None if action is None else VectorFunction(action, _register(128, element))
    match = _FUNCTION.fullmatch(name)
    if match is None or match[2] not in _ACTIONS:
        return None
    bits, action, suffix = match.groups()
    is_one = suffix in ("sd", "ss")
    if is_one != (action == "broadcast") or (is_one and (bits == "512" or (bits, suffix) == ("", "sd"))):
        return None
    return VectorFunction(action, _register(int(bits or 128), _ELEMENTS[suffix]))


def _register(bits: int, element: str) -> VectorType:
    return VectorType(element, bits // 8 // SIZES[element])


def is_word_of_vectors(name: str) -> bool:
    """Whether a name is a type, function or macro of the headers."""
    words = r"_mm\d*_|_MM_|__m(?:64|128|256|512)|__builtin_ia32_"
    return re.match(rf"{words}|v[a-z\d]+q_(?:[a-z]+_)?[fsup]\d+$|float\d+x\d+", name) is not None


_TYPEDEF = re.compile(
    r"typedef\s+(?:(float|double)\s+(\w+)\s+__attribute__\s*\(\((.*)\)\)"
    r"|(float|double)\s+__attribute__\s*\(\((.*)\)\)\s*(\w+))\s*;",
    re.DOTALL,
)


def vector_typedef(text: str) -> tuple[str, VectorType] | None:
    """The name and type of a `typedef` with `vector_size`; None for any other."""
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
    """A number, or a product of numbers and sizes of types; 0 for anything else."""
    product = 1
    plain = re.sub(r"\bsizeof\s*\(\s*(float|double)\s*\)", lambda one: str(SIZES[one[1]]), text)
    for factor in plain.split("*"):
        if not factor.strip().isdecimal():
            return 0
        product *= int(factor)
    return product


def are_targets(texts: Sequence[str]) -> bool:
    """Whether the arguments of `target("...")` only enable instructions, which changes no result."""
    return all(_TARGETS.fullmatch(word.strip()) for text in texts for word in text.split(","))


Texts = Sequence[str]


@dataclass(frozen=True)
class VectorMove:
    """A function's vector arguments, the lanes of its result, and whether it takes a selecting number."""

    takes: tuple[VectorType, ...]
    made: VectorType
    lanes: Callable[[Sequence[Texts], int], tuple[str, ...]]
    has_number: bool = False


def vector_move(name: str) -> VectorMove | None:
    """The lane-moving function with this name, if it is supported."""
    return _narrowed(name) or _extracted(name) or _in_parts(name) or _whole(name) or _of_first(name)


def _narrowed(name: str) -> VectorMove | None:
    """A move that keeps the lower lanes."""
    found = re.fullmatch(r"_mm(256|512)_cast(p[ds])(256|512)_(p[ds])(128|256)", name)
    if found is None or found[1] != found[3] or found[2] != found[4] or int(found[5]) >= int(found[3]):
        return None
    wide, narrow = (_register(int(bits), _ELEMENTS[found[2]]) for bits in (found[3], found[5]))
    return VectorMove((wide,), narrow, lambda all_of, _: tuple(all_of[0][: narrow.lanes]))


def _extracted(name: str) -> VectorMove | None:
    """A move that extracts one part of a register, by its number."""
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
    """A move within each part of 128 bits."""
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
    """The selector bits for one part: of doubles, each part has two; of floats, all share the same eight."""
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
    """Moves with individual names."""
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
    """Two halves selected from two registers; selectors that zero a half are not supported."""
    width = len(all_of[0]) // 2
    halves = [one[k * width : (k + 1) * width] for one in all_of for k in (0, 1)]
    if number & 0x88:
        return ()
    return (*halves[number & 3], *halves[number >> 4 & 3])


def _of_first(name: str) -> VectorMove | None:
    """Arithmetic on the first lanes; the other lanes are those of the first operand."""
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
    """The number that selects lanes: a literal, or `_MM_SHUFFLE` of four."""
    text = packed(text)
    four = re.fullmatch(r"_MM_SHUFFLE\(([0-3]),([0-3]),([0-3]),([0-3])\)", text)
    if four is not None:
        return sum(int(one) << 2 * (3 - k) for k, one in enumerate(four.groups()))
    if re.fullmatch(r"0[xX][0-9a-fA-F]+|0[bB][01]+|0|[1-9]\d*", text) is None:
        return None
    number = int(text, 0)
    return number if 0 <= number < 256 else None
