"""Vectors as lanes, where the words of vectors are those of the compiler's own headers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loopwright.c.reworded.vector_lanes import InLanes, with_lanes
from loopwright.c.reworded.vector_words import HEADERS
from loopwright.c.tokens import is_number, names_in
from loopwright.c.typed.options import CompilerOptions
from loopwright.source import Source

_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")
_HIDING = ("-include", "-imacros", "-nostdinc", "-U", "-undef")
_LISTS = ("CPATH", "C_INCLUDE_PATH")
"""Variables of the environment with folders in which a compiler looks for headers before its own."""
_ELSEWHERE = ("GCC_EXEC_PREFIX", "COMPILER_PATH")


def in_lanes(source: Source, options: CompilerOptions, *, contracted: bool = False) -> InLanes:
    """The text with lanes in place of its vectors, if its words have no other meaning here.

    Options and the environment may give them one.  `contracted`: fused products and sums are products and
    sums.
    """
    found = with_lanes(source, contracted=contracted)
    if found.source == source:
        return found
    reason = _hidden(source, options.for_file(source.path).arguments)
    return replace(found, source=source, reason=reason) if reason else found


def _hidden(source: Source, arguments: Sequence[str]) -> str:
    """What an option, or the environment, may change of the words of a file."""
    for name in (*_LISTS, *_ELSEWHERE):
        folders = os.environ[name].split(os.pathsep) if os.environ.get(name) else []
        if folders and (name in _ELSEWHERE or any(_has_header(Path(folder)) for folder in folders)):
            return f"the variable {name} of the environment"
    words = [*arguments, ""]
    for k, word in enumerate(words[:-1]):
        if word.startswith(_HIDING):
            return f"the option {word}"
        folder = next((name for name in _FOLDERS if word.startswith(name)), None)
        if folder is not None:
            place = Path(word.removeprefix(folder) or words[k + 1])
            if _has_header(place):
                return f"a header of vectors in {place}"
        if word.startswith("-D"):
            name, _, value = (word.removeprefix("-D") or words[k + 1]).partition("=")
            if name in names_in(source.text) and value and not is_number(value):
                return f"the option -D{name}"
    return ""


def _has_header(folder: Path) -> bool:
    return any((folder / header.strip("<>")).exists() for header in HEADERS)
