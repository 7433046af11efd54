"""Source texts and places in them.

Offsets count characters of `Source.text`; lines and columns count from 1.  Bytes that are not UTF-8
are kept in it as surrogate escapes, so that `encode` gives back the file byte for byte.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import field, fields, is_dataclass
from functools import cache, lru_cache
from typing import Any, BinaryIO, TypeAlias

from loopwright.lazy_dataclass import dataclass

STANDARD = "-"
"""The file name that stands for standard input or standard output."""

_MOST = 64 << 20
"""The greatest number of bytes read from standard input; readers have much lower limits."""

Edit: TypeAlias = tuple[int, int, str]
"""A replacement for the characters from one offset to another."""


def called(path: str) -> str:
    """The name of a file in messages."""
    return "<stdin>" if path == STANDARD else path


def file_bytes(path: str | os.PathLike[str], most: int = -1) -> tuple[str, bytes]:
    """The name of a file in messages, and its first `most` bytes."""
    name = os.fspath(path)
    if name != STANDARD:
        with open(name, "rb") as file:
            return name, file.read(most)
    if sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    data = _content(sys.stdin.buffer)
    return called(name), data if most < 0 else data[:most]


@cache
def _content(stream: BinaryIO) -> bytes:
    """All of a stream, which can be read only once; of one that does not end, more than any reader takes."""
    return stream.read(_MOST)


def with_edits(text: str, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
    """`text[start:end]` with replacements, which are sorted."""
    pieces: list[str] = []
    for first, last, new in edits:
        pieces += [text[start:first], new]
        start = last
    return "".join([*pieces, text[start:end]])


@lru_cache(maxsize=16)
def line_ends(text: str) -> list[int]:
    """The offsets at which the lines of a text end."""
    return [match.start() for match in re.finditer("\n", text)]


@dataclass(frozen=True, slots=True)
class Source:
    """A file as its author wrote it, line ends included."""

    path: str
    text: str = field(repr=False)
    chosen: tuple[tuple[int, int], ...] = ()
    """The selected parts, if the source does not mark them: sorted offsets."""

    @staticmethod
    def decode(path: str, data: bytes) -> Source:
        return Source(path, data.decode("utf-8", "surrogateescape"))

    def encode(self) -> bytes:
        return self.text.encode("utf-8", "surrogateescape")

    @property
    def whole(self) -> Span:
        return Span(self, 0, len(self.text))

    def at(self, offset: int, length: int = 1) -> Span:
        """The `length` characters at `offset`; the end of the text is a place too."""
        start = max(0, min(offset, len(self.text)))
        return Span(self, start, start + length)

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column; the end of the text if they are beyond it."""
        start = 0
        for _ in range(line - 1):
            following = self.text.find("\n", start)
            if following < 0:
                return len(self.text)
            start = following + 1
        return min(start + max(0, column - 1), len(self.text))

    def line_of(self, offset: int) -> int:
        """The line `offset` is on."""
        return bisect_left(line_ends(self.text), offset) + 1

    def edited(self, edits: Sequence[Edit]) -> Source:
        """The source with sorted replacements; the selected parts move accordingly."""

        def moved(offset: int, before: Sequence[Edit]) -> int:
            return offset + sum(len(text) - (end - start) for start, end, text in before)

        chosen = tuple(
            (
                moved(first, [one for one in edits if one[1] <= first]),
                moved(last, [one for one in edits if one[0] < last]),
            )
            for first, last in self.chosen
        )
        return Source(self.path, with_edits(self.text, edits), chosen)


@dataclass(frozen=True, slots=True, repr=False)
class Span:
    """The characters `start` (inclusive) to `end` (exclusive) of a text; spans sort by their offsets."""

    source: Source
    start: int
    end: int

    @staticmethod
    def start_of(path: str) -> Span:
        """The place of a message about a whole file, which need not be readable."""
        return Span(Source(path, ""), 0, 0)

    def __lt__(self, other: Span) -> bool:
        return (self.start, self.end) < (other.start, other.end)

    def __repr__(self) -> str:
        return f"Span({self.file!r}, {self.start}, {self.end})"

    def contains(self, other: Span) -> bool:
        """Whether `other`, a span of the same text, lies within this one."""
        return self.start <= other.start and other.end <= self.end

    def edited(self, edits: Iterable[Edit]) -> str:
        """These characters with sorted replacements."""
        return with_edits(self.source.text, edits, self.start, self.end)

    def reworded(self, text: str = "") -> Edit:
        """The change of it to a text that takes as many lines."""
        return self.start, self.end, text + "\n" * self.text.count("\n")

    def on(self, source: Source) -> Span:
        """The same characters of another version of the text, one in which they have not moved."""
        return Span(source, self.start, self.end)

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def file(self) -> str:
        return self.source.path

    @property
    def line(self) -> int:
        return self.source.line_of(self.start)

    @property
    def column(self) -> int:
        return self.start - self._line_start + 1

    @property
    def place(self) -> str:
        """`file:line:column`, for messages."""
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def excerpt(self) -> str:
        """The line the span starts on, without its line end and without characters that are not Unicode."""
        end = self.source.text.find("\n", self.start)
        line = self.source.text[self._line_start : end if end >= 0 else None].rstrip("\r")
        return line.encode("utf-8", "replace").decode("utf-8")

    @property
    def length(self) -> int:
        """How many characters of the excerpt a caret underlines: at least one."""
        return max(1, min(self.end, self._line_start + len(self.excerpt)) - self.start)

    @property
    def _line_start(self) -> int:
        return self.source.text.rfind("\n", 0, self.start) + 1


def plain_data(value: object) -> Any:
    """A value of dataclasses as `dataclasses.asdict` gives it, its spans as what a reader looks for."""
    match value:
        case Span():
            return {name: getattr(value, name) for name in ("file", "line", "column", "excerpt", "length")}
        case tuple():
            return tuple(plain_data(part) for part in value)
        case dict():
            return {key: plain_data(part) for key, part in value.items()}
        case _ if is_dataclass(value):
            return {part.name: plain_data(getattr(value, part.name)) for part in fields(value)}
        case _:
            return value
