"""Macros whose definition for the compiler differs from the one in the file, and macros that a region needs.

A header that is included later may redefine or undefine a macro; so may an option.

A single-file library has its code under `#ifdef NAME_IMPLEMENTATION`.  A region in it has a meaning
only if that is defined, so it is read as if it were, and the reader lists the assumption.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from loopwright.c.file import c_file
from loopwright.c.macros import Macro, definitions
from loopwright.c.regions import Directive, Region
from loopwright.c.tokens import lexemes, names_in
from loopwright.c.typed.expansion import Definition, definition
from loopwright.c.typed.preprocess import Preprocessed
from loopwright.source import Source


def redefined(
    names: Iterable[str], macros: Sequence[Macro], text: Preprocessed, at: int | None = None
) -> list[str]:
    """Those of these names, and of the names that they expand to, that the file defines once and
    unconditionally, and that the compiler defines otherwise at an offset, or anywhere in text of the file."""
    found: list[str] = []
    pending = list(dict.fromkeys(names))
    for name in pending:
        own = definitions(macros, name)
        if len(own) != 1 or own[0].conditional:
            continue
        pending += [word for word in names_in(own[0].body) if word not in pending]
        if not all(_is_same(own[0], one) for one in _meanings(text, name, at)):
            found.append(name)
    return found


def _meanings(text: Preprocessed, name: str, at: int | None) -> list[Definition | None]:
    if at is not None:
        return [text.definition(name, at)]
    changes = text.changes.get(name, ())
    ends = (*(start for start, _ in changes[1:]), len(text.text) - text.shift)
    return [
        definition(line)
        for (start, line), end in zip(changes, ends, strict=False)
        if _has_own(text, start + text.shift, end + text.shift)
    ]


def _has_own(text: Preprocessed, start: int, end: int) -> bool:
    """Whether the text between two offsets contains anything from the file itself, directives aside."""
    for piece in range(max(bisect_right(text.starts, start) - 1, 0), len(text.starts)):
        first, last = text.starts[piece], min((end, *text.starts[piece + 1 : piece + 2]))
        if first >= end:
            return False
        if text.lines[piece] and text.text[max(first, start) : last].strip():
            return True
    return False


def _is_same(own: Macro, macro: Definition | None) -> bool:
    """Whether two definitions have the same tokens; string and character literals are left out."""
    if macro is None or (own.parameters is None) != (macro.parameters is None):
        return False
    names = (macro.parameters or ())[: -1 if macro.is_variadic else None]
    given = (own.parameters or ())[: len(names)]
    words = [one.text for one in macro.body if one.text[-1] not in "\"'"]
    return given == names and words == [one.text for one in lexemes(own.body, 0, len(own.body))]


_DEFINED = re.compile(r"\s*(!?)\s*defined\s*(?:\(\s*([A-Za-z_]\w*)\s*\)|\s([A-Za-z_]\w*))\s*$")


def needed_macros(source: Source, region: Region) -> tuple[str, ...]:
    """The macros to define so that the branches around a region are taken, as far as conditions tell."""
    around: list[tuple[Directive, bool]] = []
    for line in c_file(source).directives:
        if line.place.start >= region.place.start:
            break
        if line.name in ("if", "ifdef", "ifndef"):
            around.append((line, True))
        elif line.name in ("else", "elif") and around:
            around[-1] = (around[-1][0], False)
        elif line.name == "endif" and around:
            around.pop()
    found = [_needed(line, is_first=is_first) for line, is_first in around]
    return tuple(dict.fromkeys(name for name in found if name))


def _needed(line: Directive, *, is_first: bool) -> str:
    """The macro whose definition selects the first branch, or the other one; "" if it is not that simple."""
    if line.name in ("ifdef", "ifndef"):
        return line.argument.strip() if (line.name == "ifdef") == is_first else ""
    match = _DEFINED.match(line.argument)
    return "" if match is None or (match[1] == "") != is_first else match[2] or match[3]
