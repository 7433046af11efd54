"""Functions whose heads name no type of the file; outside regions, nothing declares a type by them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopwright.c.tokens import without_comments
from loopwright.source import Span

_TYPES_OF_C = ("unsigned", "signed", "long", "short", "int", "char", "float", "double", "void")
_KEYWORDS = frozenset(("static", "inline", "const", *_TYPES_OF_C))
_OF_C = rf"(?:(?:(?:struct|union|enum)\s+\w+|{'|'.join(sorted(_KEYWORDS))})\b[\s*]*)+"
_PARAMETER = rf"\s*{_OF_C}(?:[A-Za-z_]\w*\s*(?:\[\]\s*)?)?"
_PLAIN_HEAD = re.compile(rf"{_OF_C}([A-Za-z_]\w*)\s*\((?:{_PARAMETER},)*{_PARAMETER}\)\s*")
"""`static double g(int n, const double *x)`: it names a function, and no type of the file."""


def without_plain_functions(text: str, regions: Sequence[Span]) -> tuple[str, frozenset[str]]:
    """A source without the functions outside regions whose heads name no type of the file, and their names.

    Offsets do not change.  If braces do not match, as in the branches of an `#if`, all functions are kept.
    """
    visible = without_comments(text, literals=False)
    pieces, names, depth, opened, after, done = list[str](), set[str](), 0, 0, 0, 0
    for brace in _BRACES.finditer(visible):
        depth += 1 if brace[0] == "{" else -1
        if depth < 0:
            return text, frozenset()
        if depth == 1 and brace[0] == "{":
            opened = brace.start()
        if depth > 0 or brace[0] == "{":
            continue
        start = max(after, visible.rfind(";", after, opened) + 1)
        head = _PLAIN_HEAD.fullmatch(visible[start:opened].lstrip())
        after = brace.end()
        is_outside = all(one.end <= start or after <= one.start for one in regions)
        if is_outside and head and head[1] not in _KEYWORDS:
            pieces += [text[done:start], " " * (after - start)]
            names.add(head[1])
            done = after
    return ("".join([*pieces, text[done:]]), frozenset(names)) if depth == 0 else (text, frozenset())


_BRACES = re.compile("[{}]")
