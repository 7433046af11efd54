"""Text in, model out: every format Loopwright reads, or `BadInput` at the place it cannot."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from loopwright.errors import BadInput, Code, Span
from loopwright.model.schedule import Schedule
from loopwright.read.source import load

READERS = {
    ".cloog": "loopwright.read.cloog",
    ".in": "loopwright.read.isl_flat",
    ".poly": "loopwright.read.poly",
    ".scop": "loopwright.read.openscop",
    ".st": "loopwright.read.isl_tree",
}
"""The module that reads a file, by the end of the file's name; each has `parse(text, filename)`."""


def read_schedule(path: str | Path) -> Schedule:
    """The schedule described by a `.poly`, `.in`, `.st`, `.cloog` or `.scop` file."""
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1]
    if suffix not in READERS and not os.path.isdir(name):
        raise BadInput(
            Code.FILE,
            f"no reader for files that end in '{suffix}'" if suffix else "the file's name has no ending",
            span=Span(name, 1, 1),
            hint=f"known endings are {', '.join(READERS)}",
        )
    source = load(name)
    schedule: Schedule = importlib.import_module(READERS[suffix]).parse(source.text, source.file)
    return schedule
