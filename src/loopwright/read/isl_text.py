"""Reads objects in isl's notation inside a user's source, and locates isl's error messages in it.

isl reports the place of an error only on the standard error stream, and only if told to warn.  So a text is
read without messages first; if this fails, it is read again in a separate context with the stream captured,
and `(line, column)` of the first message is translated.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.read.text import mistake
from loopwright.source import Source

T = TypeVar("T")

Reader = Callable[[isl.Context, str], T]

WARN = 0
"""isl's ISL_ON_ERROR_WARN: continue after an error, but report it on standard error."""


@dataclass(frozen=True)
class Complaint:
    """isl's error message about a text, at the character `offset`."""

    message: str
    offset: int
    length: int


def read_isl(read: Reader[T], source: Source, start: int, end: int, what: str, like: str = "{ ... }") -> T:
    """`source.text[start:end]` as the isl object `what`, or `BadInput` at the place where isl stops.

    `like` is an example of such an object.
    """
    text = source.text[start:end]
    try:
        return read(isl.DEFAULT_CONTEXT, text)
    except isl.Error as error:
        complaint = complaint_about(read, text) or Complaint(plain(error), len(text) - len(text.lstrip()), 1)
        raise mistake(
            source,
            start + complaint.offset,
            f"{what} cannot be read: {complaint.message}",
            length=complaint.length,
            hint=f"{what} is written in isl's notation: {like}",
        ) from None


def complaint_about(read: Reader[T], text: str) -> Complaint | None:
    """isl's first error message about the text that has a place; None if there is none."""
    context = isl.Context()
    context.set_on_error(WARN)
    with _standard_error_caught() as caught:
        try:
            read(context, text)
        except isl.Error:
            stream = caught()
        else:
            raise InternalError(Code.INTERNAL, "isl read a text the second time that it had refused")
    return _first_complaint(stream, text)


def plain(error: isl.Error) -> str:
    """isl's message without the names of its functions and files."""
    message = re.sub(r"^call to \w+ failed: ", "", str(error))
    return re.sub(r" in \S+:\d+$", "", message)


def _first_complaint(stream: str, text: str) -> Complaint | None:
    found = re.search(r"syntax error \((\d+), (\d+)\): (.*)(?:\ngot (.*))?", stream)
    if not found:
        return None
    line, column, message, got = found.groups()
    word = _word(got)
    offset = _place(text, int(line), int(column), word)
    message = message.replace("isl_token", "token").replace("unexpected token", "unexpected")
    if word:
        message = f"{message} '{word}'"
    elif offset >= len(text):
        message = "the text ends too early"
    return Complaint(message, offset, max(1, len(word)))


def _word(got: str | None) -> str:
    """The text of the token that isl reports: `ident 'j'`, `token '>'`, `'}'`."""
    quoted = re.search(r"'(.*)'", got or "")
    return quoted.group(1) if quoted else ""


def _place(text: str, line: int, column: int, word: str) -> int:
    """The offset of isl's (line, column), moved back to the word if isl is already past it."""
    offset = Source("", text).offset(line, column)
    if not word or text.startswith(word, offset):
        return offset
    before = text.rfind(word, 0, offset + 1)
    return before if before >= 0 and offset - before <= len(word) + 1 else offset


@contextmanager
def _standard_error_caught() -> Iterator[Callable[[], str]]:
    """A context in which the process's output to file descriptor 2 goes to a temporary file."""
    with tempfile.TemporaryFile() as file:

        def caught() -> str:
            file.seek(0)
            return file.read().decode("utf-8", "replace")

        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield caught
        finally:
            os.dup2(kept, 2)
            os.close(kept)
