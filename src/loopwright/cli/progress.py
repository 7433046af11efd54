"""What is being done, while it is being done: on a terminal one line that goes away, else silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

CLEAR = "\r\x1b[K"
"""Back to the start of the line, and erase it."""


@contextmanager
def progress(stream: TextIO) -> Iterator[Callable[[str], None]]:
    """A function that shows what it is told, until the block ends."""
    if not stream.isatty():
        yield lambda doing: None
        return

    def say(doing: str) -> None:
        stream.write(f"{CLEAR}{doing} ...")
        stream.flush()

    try:
        yield say
    finally:
        stream.write(CLEAR)
        stream.flush()
