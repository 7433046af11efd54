"""The functions and macros that are known in index expressions by their names: min, max, floord, ceild."""

from __future__ import annotations

import re

from loopwright.c.file import CFile
from loopwright.c.macros import definitions
from loopwright.c.tokens import packed, without_comments

DIVISIONS = {"floord": "floor", "ceild": "ceil"}
"""Assumed to divide and round even if the file defines them, where they do so by these functions."""
INDEX_HELPERS = frozenset(("min", "max", "MIN", "MAX", "imin", "imax", "__min", "__max", *DIVISIONS))
_FLOATING = re.compile(r"\b(double|float|floor|ceil)\b")


def is_defined_in_integers(file: CFile, name: str) -> bool:
    """Whether the file has one definition of a macro or function, which computes without floating point."""
    found = _definition(file, name)
    return found is not None and _FLOATING.search(found[1]) is None


def divides_in_floating(file: CFile, name: str) -> bool:
    """Whether the file defines ceild as `ceil((double)(a) / (double)(b))`, or floord so with `floor`.

    No reader follows doubles: such a definition is assumed to do what its name says.  Any other is not.
    """
    found = _definition(file, name)
    if name not in DIVISIONS or found is None or len(found[0]) != 2:
        return False
    first, second = (rf"(?:{one}|\({one}\))" for one in found[0])
    operands = (rf"(?:\(double\){one}|\(\(double\){one}\))" for one in (first, second))
    quotient = rf"{DIVISIONS[name]}\({next(operands)}/(?:{next(operands)}|{second})\)"
    whole = rf"(?:\((?:int|long)\))?{quotient}"
    body = packed(without_comments(found[1], literals=True))
    return re.fullmatch(rf"{whole}|\({whole}\)|\{{return{whole};\}}", body) is not None


def _definition(file: CFile, name: str) -> tuple[tuple[str, ...], str] | None:
    """The parameters and the body of the only definition of a macro or function."""
    macros, function = definitions(file.macros, name), file.function(name)
    if len(macros) == 1 and not macros[0].conditional:
        return macros[0].parameters or (), macros[0].body
    return None if function is None else (function.parameters, function.body.text)
