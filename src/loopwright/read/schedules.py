"""Reads descriptions of schedules; the suffix of the file's name selects the reader."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from loopwright.errors import BadInput, Code
from loopwright.model.schedule import Schedule
from loopwright.read.text import load, without_comments
from loopwright.source import STANDARD, Span, called

SUFFIXES = (".cloog", ".in", ".poly", ".scop", ".st")

Parser = Callable[[str, str], Schedule]
"""A function from a text and the name of its file to the schedule."""


def read_schedule(path: str | Path, form: str | None = None) -> Schedule:
    """The schedule that a file describes; its format is `form`, or given by the suffix of its name."""
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1] if form is None else f".{form}"
    if name == STANDARD and form is None:
        message = "the format of standard input is not known"
        raise BadInput(Code.OPTION, message, span=Span.start_of(called(name)), hint="--format poly")
    if suffix not in SUFFIXES and not os.path.isdir(name):
        hint = f"known endings are {', '.join(SUFFIXES)}; 'codegen --format st' states the format of others"
        if suffix in (".c", ".h"):
            hint = "'loopwright transform' rewrites the loops of a C file, 'loopwright extract' shows them"
        raise BadInput(
            Code.FILE,
            f"no reader for files that end in '{suffix}'" if suffix else "the file's name has no ending",
            span=Span.start_of(name),
            hint=hint,
        )
    source = load(name)
    return _parser(suffix)(source.text, source.path)


def schedule_span(path: str | Path) -> Span:
    """The place to report errors that concern the schedule of a description as a whole."""
    source = load(path)
    text = without_comments(source).text
    found = re.search(r"\bschedule\b", text) or re.search(r"\S+", text)
    return source.at(found.start(), len(found.group())) if found else source.at(0)


def _parser(suffix: str) -> Parser:
    """The reader of a format; only the required one is imported."""
    match suffix:
        case ".cloog":
            from loopwright.read.cloog import parse
        case ".in":
            from loopwright.read.isl_flat import parse
        case ".poly":
            from loopwright.read.poly import parse
        case ".scop":
            from loopwright.read.openscop import parse
        case _:
            from loopwright.read.isl_tree import parse
    return parse
