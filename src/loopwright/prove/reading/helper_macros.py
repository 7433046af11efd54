"""Macros that are called min, max, floord or ceild, and compute what their names say; and those that compute
no subscript."""

from __future__ import annotations

import re
from itertools import pairwise

from loopwright.c.expression_types import COMPARISONS
from loopwright.c.macros import Macro, definitions
from loopwright.c.tokens import packed, spelled

_HELPERS = {
    "max": ("((a)>(b)?(a):(b))",),
    "min": ("((a)<(b)?(a):(b))",),
    "floord": ("((a)/(b)-((a)%(b)<0))", "(((a)<0)?-((-(a)+(b)-1)/(b)):(a)/(b))"),
    "ceild": ("(((a)<0)?-((-(a))/(b)):((a)+(b)-1)/(b))",),
}
"""Definitions whose meaning is known for a positive b: ours and Pluto's."""


def is_helper(name: str, macros: tuple[Macro, ...]) -> bool:
    """Whether the file defines the macro in a way that is known to compute what its name says."""
    found = definitions(macros, name)
    if len(found) != 1 or found[0].conditional or len(found[0].parameters or ()) != 2:
        return False
    (macro,) = found
    first, second = macro.parameters or ("", "")
    letters = {first: "a", second: "b"}
    body = re.sub(r"[^\W\d]\w*", lambda word: letters.get(word[0], "?"), packed(macro.body))
    return body in _HELPERS.get(name, ())


def has_no_subscript(macro: Macro) -> bool:
    """Whether the body of a macro consists of its parameters, literals and operators without subscripts."""
    given, words = macro.parameters or (), spelled(macro.body)
    is_plain = all(word in given or word in _SIGNS or word[0].isdigit() for word in words)
    calls = any(word in given and after == "(" for word, after in pairwise(words))
    return not macro.conditional and is_plain and not calls


_SIGNS = frozenset(("(", ")", "?", ":", "+", "-", "&&", "||", "!", *COMPARISONS))
