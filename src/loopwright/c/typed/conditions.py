"""The macros that have to be defined for the compiler to see a region.

A library in one file has its code under `#ifdef NAME_IMPLEMENTATION`.  A region in it has a meaning
only where that is defined, so it is read as if it were, and the reader lists it.
"""

from __future__ import annotations

import re

from loopwright.c.file import c_file
from loopwright.c.regions import Directive, Region
from loopwright.source import Source

_DEFINED = re.compile(r"\s*(!?)\s*defined\s*(?:\(\s*([A-Za-z_]\w*)\s*\)|\s([A-Za-z_]\w*))\s*$")


def needed_macros(source: Source, region: Region) -> tuple[str, ...]:
    """What has to be defined for the branches around a region to be taken, as far as names say it."""
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
    """The macro whose definition takes the first branch, or the other one; "" where it is not as simple."""
    if line.name in ("ifdef", "ifndef"):
        return line.argument.strip() if (line.name == "ifdef") == is_first else ""
    match = _DEFINED.match(line.argument)
    return "" if match is None or (match[1] == "") != is_first else match[2] or match[3]
