"""What the classifications of numbers in <math.h> return: `isnan(x)`, `fpclassify(x)`.

Where a number is of the class, they return any integer but 0, by the C library: only a difference that all of
`TRUTHS` lead to is one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from loopwright.c.types import DOUBLE, FLOAT, Floating
from loopwright.prove.equivalence.numbers import Undefined

TRUTHS = (1, -1, 8, 128)
"""Integers that C libraries return where a number is of the class: first those of gcc, whose `isinf` returns
the sign too."""
_LEAST = {FLOAT: 2.0**-126, DOUBLE: 2.0**-1022}
"""The smallest normal number of each type."""
_CLASSES = {"FP_NAN": 0, "FP_INFINITE": 1, "FP_ZERO": 2, "FP_SUBNORMAL": 3, "FP_NORMAL": 4}
"""What `fpclassify` returns, by glibc, musl and newlib."""


def classified(
    name: str, number: float, kind: Floating, truth: int, constants: Mapping[str, float]
) -> int | None:
    """The result of a classification, with `truth` for any integer but 0; None if it is not known.

    `constants` are numbers of the headers, which tell whether their library is another one.
    """
    if kind not in _LEAST:
        return None
    class_of = _class(number, _LEAST[kind])
    match name:
        case "fpclassify":
            is_other = any(constants.get(one, value) != value for one, value in _CLASSES.items())
            return None if is_other else _CLASSES[class_of]
        case "isnan":
            holds = class_of == "FP_NAN"
        case "isinf":
            holds = class_of == "FP_INFINITE"
            truth = -truth if truth == TRUTHS[0] and number < 0 else truth
        case "isfinite":
            holds = math.isfinite(number)
        case "isnormal":
            holds = class_of == "FP_NORMAL"
        case "signbit":
            if class_of == "FP_NAN":
                raise Undefined("the sign of a NaN")
            holds = math.copysign(1, number) < 0
        case _:
            return None
    return truth if holds else 0


def _class(number: float, least: float) -> str:
    if not math.isfinite(number):
        return "FP_NAN" if math.isnan(number) else "FP_INFINITE"
    if number == 0:
        return "FP_ZERO"
    return "FP_NORMAL" if abs(number) >= least else "FP_SUBNORMAL"
