"""The text a program was read from, and places in it.

Offsets count characters of `Source.text`.  Bytes that are not UTF-8 live in it as surrogate
escapes, so that `encode` gives back the file byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.errors import Span


@dataclass(frozen=True, slots=True, order=True)
class TextRange:
    """The characters `start` (inclusive) to `end` (exclusive)."""

    start: int
    end: int

    def contains(self, other: TextRange) -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class Source:
    """A file as its author wrote it, line ends included."""

    path: str
    text: str

    @staticmethod
    def decode(path: str, data: bytes) -> Source:
        return Source(path, data.decode("utf-8", "surrogateescape"))

    def encode(self) -> bytes:
        return self.text.encode("utf-8", "surrogateescape")

    def slice(self, place: TextRange) -> str:
        return self.text[place.start : place.end]

    def line_of(self, offset: int) -> int:
        """The line `offset` is on, counted from 1."""
        return self.text.count("\n", 0, offset) + 1

    def span(self, place: TextRange) -> Span:
        """`place` as a diagnostic shows it: the caret stays on the first line of the place."""
        begin = self.text.rfind("\n", 0, place.start) + 1
        end = self.text.find("\n", place.start)
        end = len(self.text) if end < 0 else end
        excerpt = self.text[begin:end].rstrip("\r")
        excerpt = excerpt.encode("utf-8", "replace").decode("utf-8")
        length = max(1, min(place.end, begin + len(excerpt)) - place.start)
        return Span(self.path, self.line_of(place.start), place.start - begin + 1, excerpt, length)
