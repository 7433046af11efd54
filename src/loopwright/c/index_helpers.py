"""The functions and macros that are known in index expressions by their names: min, max, floord, ceild."""

from __future__ import annotations

import re

from loopwright.c.file import CFile
from loopwright.c.macros import definitions

DIVISIONS = ("floord", "ceild")
"""Assumed to divide and round even if the file defines them, where they do so in floating point."""
INDEX_HELPERS = frozenset(("min", "max", "MIN", "MAX", "imin", "imax", "__min", "__max", *DIVISIONS))
_FLOATING = re.compile(r"\b(double|float|floor|ceil)\b")


def is_defined_in_integers(file: CFile, name: str) -> bool:
    """Whether the file has one definition of a macro or function, which computes without floating point."""
    body = _body(file, name)
    return body is not None and _FLOATING.search(body) is None


def divides_in_floating(file: CFile, name: str) -> bool:
    """Whether the file defines floord or ceild by floating point: it is assumed to do what its name says."""
    body = _body(file, name) if name in DIVISIONS else None
    return body is not None and _FLOATING.search(body) is not None


def _body(file: CFile, name: str) -> str | None:
    """The text of the only definition of a macro or function."""
    macros, function = definitions(file.macros, name), file.function(name)
    if len(macros) == 1 and not macros[0].conditional:
        return macros[0].body
    return None if function is None else function.body.text
