"""The lines of a CLooG file: words with their places, comments and empty lines left out."""

from __future__ import annotations

import re

from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.read.text import mistake, without_comments
from loopwright.source import Source

INTEGER = re.compile(r"[+-]?[0-9]{1,300}")


@dataclass(frozen=True)
class Word:
    text: str
    offset: int


@dataclass
class Lines:
    """A place in a list of lines, which moves on as they are taken."""

    source: Source
    lines: list[tuple[Word, ...]]
    position: int = 0

    @staticmethod
    def of(source: Source) -> Lines:
        blank = without_comments(source)
        words = [Word(found.group(), found.start()) for found in re.finditer(r"\S+", blank.text)]
        lines: dict[int, list[Word]] = {}
        number, last = 0, 0
        for word in words:
            number += blank.text.count("\n", last, word.offset)
            last = word.offset
            lines.setdefault(number, []).append(word)
        return Lines(blank, [tuple(line) for line in lines.values()])

    def done(self) -> bool:
        return self.position >= len(self.lines)

    def peek(self, wanted: str) -> tuple[Word, ...]:
        """The next line, which must be there: it is `wanted`."""
        if self.done():
            end = len(self.source.text.rstrip())
            raise mistake(self.source, end, f"the file ends where {wanted} should be")
        return self.lines[self.position]

    def take(self, wanted: str) -> tuple[Word, ...]:
        line = self.peek(wanted)
        self.position += 1
        return line

    def put_back(self, words: tuple[Word, ...]) -> None:
        """Let `words` be a line of their own, the next one."""
        if words:
            self.lines.insert(self.position, words)

    def take_count(self, wanted: str) -> int:
        """The number at the start of a line; CLooG reads past whatever follows it there."""
        return self.count(self.take(wanted)[0], wanted)

    def count(self, word: Word, wanted: str) -> int:
        number = self.integer(word, wanted)
        if number < 0:
            raise self.at(word, f"{wanted} cannot be negative")
        return number

    def integer(self, word: Word, wanted: str) -> int:
        if not INTEGER.fullmatch(word.text):
            raise self.at(word, f"'{word.text[:40]}' where {wanted} should be")
        return int(word.text)

    def at(self, word: Word, message: str, hint: str | None = None) -> BadInput:
        return mistake(self.source, word.offset, message, hint=hint, length=len(word.text))
