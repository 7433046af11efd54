"""A text the user gave, and how to point into it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from loopwright.errors import BadInput, Code, Span

LARGEST = 4_000_000
"""Bytes a description may have; a longer file is a mistake, and reading it would only take long."""

DEEPEST = 500
"""How far brackets may be nested: deeper ones would overflow a recursive parser's stack, isl's too."""


@dataclass(frozen=True)
class Source:
    """The text of one file; offsets count characters from 0."""

    file: str
    text: str

    def span(self, offset: int, length: int = 1) -> Span:
        """The place of `length` characters at `offset`; the end of the text is a place too."""
        offset = max(0, min(offset, len(self.text)))
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        line = self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")
        room = max(1, len(line) - (offset - start))
        number = self.text.count("\n", 0, offset) + 1
        return Span(self.file, number, offset - start + 1, line, max(1, min(length, room)))

    def error(
        self,
        offset: int,
        message: str,
        *,
        hint: str | None = None,
        length: int = 1,
        code: Code = Code.GRAMMAR,
    ) -> BadInput:
        """The error for a place in the text, to be raised."""
        return BadInput(code, message, span=self.span(offset, length), hint=hint)

    def offset(self, line: int, column: int) -> int:
        """Where a line and column (from 1) are; beyond the text, its end."""
        start = 0
        for _ in range(line - 1):
            following = self.text.find("\n", start)
            if following < 0:
                return len(self.text)
            start = following + 1
        return min(start + max(0, column - 1), len(self.text))

    def without_comments(self) -> Source:
        """The same text with `#` comments blanked, every other character where it was."""
        blank = re.sub(r"#[^\n]*", lambda comment: " " * len(comment.group()), self.text)
        return Source(self.file, blank)


def load(path: str | Path) -> Source:
    """The text of a file, or what is wrong with the file."""
    name = os.fspath(path)
    if os.path.isdir(name):
        raise BadInput(Code.FILE, "this is a directory", span=Span(name, 1, 1), hint="name a file inside it")
    try:
        with open(name, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise BadInput(Code.FILE, f"cannot be read: {error.strerror}", span=Span(name, 1, 1)) from None
    if len(data) > LARGEST:
        raise BadInput(
            Code.FILE,
            f"the file is larger than {LARGEST} bytes",
            span=Span(name, 1, 1),
            hint="a description of loops is small; is this the right file?",
        )
    return plain(Source(name, decode(name, data)))


def decode(name: str, data: bytes) -> str:
    """The bytes as text: UTF-8, no control characters but white space."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        shown = Source(name, data.decode("utf-8", "replace"))
        is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        raise BadInput(
            Code.FILE,
            f"byte 0x{data[error.start]:02x} is not UTF-8 text",
            span=_printable(shown.span(len(data[: error.start].decode("utf-8")))),
            hint="this looks like UTF-16: save it as UTF-8" if is_wide else "save it as UTF-8 text",
        ) from None
    return text


def plain(source: Source) -> Source:
    """Refuse what no reader can make sense of: control characters, a pit of brackets."""
    control = re.search(r"[\x00-\x08\x0e-\x1f\x7f]", source.text)
    if control:
        raise BadInput(
            Code.FILE,
            f"character 0x{ord(control.group()):02x} does not belong in a text file",
            span=_printable(source.span(control.start())),
            hint="descriptions of loops are plain text files",
        )
    _refuse_deep_nesting(source.without_comments())
    return source


def checked(source: Source) -> Source:
    """The same for descriptions of loops, of which an empty one has no meaning; an empty script has."""
    if not source.without_comments().text.strip():
        hint = "it holds no statement and no schedule"
        raise source.error(0, "the file is empty", hint=hint, code=Code.FILE)
    return plain(source)


def _printable(span: Span) -> Span:
    """The span with an excerpt a terminal can show."""
    excerpt = re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", span.excerpt)
    return Span(span.file, span.line, span.column, excerpt, span.length)


def _refuse_deep_nesting(source: Source) -> None:
    """Brackets, `exists` without brackets, and products, all of which isl reads recursively."""
    brackets = exists = factors = 0
    for mark in re.finditer(r"\bexists\b|\*|[-+<>=,:;()\[\]{}]", source.text):
        text = mark.group()
        factors = factors + 1 if text == "*" else 0
        exists = exists + 1 if text == "exists" else 0 if text in "()[]{};" else exists
        brackets += 1 if text in "[({" else -1 if text in "])}" else 0
        if brackets > DEEPEST:
            raise source.error(mark.start(), f"brackets are nested more than {DEEPEST} deep")
        if exists > DEEPEST or factors > DEEPEST:
            raise source.error(mark.start(), f"more than {DEEPEST} times '{text}' in a row", length=len(text))
