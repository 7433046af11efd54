"""Attributes that stand after what is declared, at the front of the declaration, where the grammar has them.

    double t[4] __attribute__((aligned(32)));         __attribute__((aligned(32))) double t[4];

It is the same where one variable is declared, and the attribute is one of the list below: then it is about
the variable, not about its type.  Lines stay.
"""

from __future__ import annotations

import re

from loopwright.c.regions import marked_places
from loopwright.c.tokens import blank, on_one_line, without_comments
from loopwright.source import Edit, Source

_KIND = r"(?:aligned|__aligned__)\s*(?:\(\s*\w+\s*\))?|unused|__unused__"
_TRAILING = re.compile(rf"(?<=[\w\]])\s*(__attribute(?:__)?\s*\(\s*\(\s*(?:{_KIND})\s*\)\s*\))(?=\s*;)")
_DECLARED = re.compile(
    r"(?:\b(?!return\b|typedef\b|goto\b|else\b)[A-Za-z_]\w*[\s*]+)+[A-Za-z_]\w*(?:\s*\[[^\[\];{}]*\])*\s*"
)
"""Words, a name and its sizes, up to the attribute."""


def with_leading_attributes(source: Source) -> Source:
    """The text with attributes of the variables of its regions before what they are about."""
    if "__attribute" not in source.text:
        return source
    text = without_comments(source.text, literals=True)
    edits: list[Edit] = []
    for place in marked_places(source):
        for found in _TRAILING.finditer(text, place.start, place.end):
            start = max(text.rfind(mark, place.start, found.start(1)) for mark in ";{}\n")
            start = start + 1 if start >= 0 else place.start
            start += len(text[start : found.start(1)]) - len(text[start : found.start(1)].lstrip())
            if _DECLARED.fullmatch(text, start, found.start(1)):
                edits += [(start, start, on_one_line(found[1]) + " "), (*found.span(1), blank(found[1]))]
    return source.edited(sorted(edits)) if edits else source
