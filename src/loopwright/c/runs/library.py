"""What functions of the C library return for numbers: `abs(-4)`, `sqrt(16.0)`, `strlen("abc")`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

Number = int | float


def _rounded(value: Number) -> Number:
    """Half-way cases away from zero."""
    whole = math.floor(abs(value))
    return math.copysign(whole + (abs(value) - whole >= 0.5), value)


def _to_even(value: Number) -> Number:
    return math.copysign(float(round(value)), value)


_FLOATING: dict[str, Callable[..., Number]] = {
    **{name: getattr(math, name) for name in ("sqrt", "pow", "exp", "log", "log2", "log10", "hypot", "fmod")},
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "atan", "atan2", "fabs", "exp2", "cbrt")},
    **{name: getattr(math, name) for name in ("ceil", "floor", "trunc", "ldexp")},
    "fmax": max,
    "fmin": min,
    "round": _rounded,
    "rint": _to_even,
    "nearbyint": _to_even,
    "lround": _rounded,
    "llround": _rounded,
    "lrint": _to_even,
    "llrint": _to_even,
}
_INTEGER: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "labs": abs,
    "llabs": abs,
    "popcount": lambda value: (value & 0xFFFFFFFF).bit_count(),
    "popcountl": lambda value: (value & (1 << 64) - 1).bit_count(),
    "expect": lambda value, _: value,
    "toupper": lambda value: value - 32 if 97 <= value <= 122 else value,
    "tolower": lambda value: value + 32 if 65 <= value <= 90 else value,
}
_WRITTEN_NUMBER = re.compile(rb"\s*([+-]?\d+)")
_WRITTEN_FLOAT = re.compile(rb"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")


def result_of(name: str, arguments: Sequence[Number]) -> Number | None:
    """The result of a function of numbers; None if it is not known."""
    plain = name.removeprefix("__builtin_")
    function = _INTEGER.get(plain)
    if function is None:
        plain = plain if plain in _FLOATING else plain.removesuffix("f").removesuffix("l")
        function = _FLOATING.get(plain)
    elif not all(isinstance(one, int) for one in arguments):
        return None
    if function is None:
        return None
    try:
        found = function(*arguments)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return found if isinstance(found, int | float) and math.isfinite(found) else None


def result_of_text(name: str, text: bytes, others: Sequence[Number | None]) -> Number | None:
    """The result of a function of a string and numbers: `atoi("4")`, `strtol("4", 0, 10)`."""
    match name.removeprefix("__builtin_"):
        case "strlen":
            return len(text)
        case "atoi" | "atol" | "atoll":
            found = _WRITTEN_NUMBER.match(text)
            return _in_range(int(found[1])) if found else 0
        case "strtol" | "strtoul" | "strtoll" | "strtoull" if others[-1:] in ([10], [0]):
            found = _WRITTEN_NUMBER.match(text)
            is_plain = others[-1] == 10 or (found is not None and not found[1].lstrip(b"+-").startswith(b"0"))
            return _in_range(int(found[1])) if found and is_plain else None
        case "atof" | "strtod" | "strtof":
            found = _WRITTEN_FLOAT.match(text)
            return float(found[1]) if found and text[found.end() :][:1] not in (b"x", b"X") else None
    return None


def _in_range(value: int) -> int | None:
    """A number that is not cut off at the limits of the type."""
    return value if abs(value) < 2**31 else None
