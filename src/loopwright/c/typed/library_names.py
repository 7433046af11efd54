"""Names that mean what the C library says, as the compiler sees them in a line of a file."""

from __future__ import annotations

import re

from loopwright.c.file import c_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import Preprocessed, preprocess
from loopwright.source import Span


def is_of_library(name: str, place: Span, options: CompilerOptions) -> bool:
    """Whether a name is a macro or function of a system header there, and of nothing else.

    `INT_MIN` and `fmax` may be variables, enumerators or functions of the user where their headers are not
    included, and macros of the command line.
    """
    source, first = place.source, place.line
    if c_file(source).declarations.visible(name, place) is not None:
        return False
    text = preprocess(source, options)
    own = [start for start, line in zip(text.starts, text.lines, strict=True) if 0 < line <= first]
    changes = [at + text.shift for at, _ in text.changes.get(name, ()) if at + text.shift < own[-1]]
    if changes:
        return own[0] <= changes[-1] and text.is_of_system(changes[-1]) and _is_defined(name, text, own[-1])
    declared = re.search(rf"\b{re.escape(name)}\b", text.text[: own[-1]])
    return declared is not None and text.is_of_system(declared.start())


def _is_defined(name: str, text: Preprocessed, at: int) -> bool:
    return text.definition(name, at) is not None
