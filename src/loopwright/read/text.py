"""Loads descriptions of loops as text files, and refuses what no reader accepts."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from pathlib import Path

from loopwright.arguments import file_named
from loopwright.errors import BadInput, Code
from loopwright.source import Source, Span, called, file_bytes

LARGEST = 4_000_000
"""The maximum size of a description in bytes; a longer file is a mistake, and slow to read."""

LONGEST_NUMBER = 300
"""The maximum number of digits of a number."""

DEEPEST = 500
"""The maximum nesting of brackets: deeper ones overflow the stack of recursive parsers, including isl's."""


def mistake(
    source: Source,
    offset: int,
    message: str,
    *,
    hint: str | None = None,
    length: int = 1,
    code: Code = Code.GRAMMAR,
) -> BadInput:
    """The error for a place in a text, to be raised."""
    return BadInput(code, message, span=source.at(offset, length), hint=hint)


def without_comments(source: Source) -> Source:
    """The same source with `#` comments blanked, and all offsets unchanged."""
    return Source(source.path, re.sub(r"#[^\n]*", lambda comment: " " * len(comment.group()), source.text))


def load(path: str | Path) -> Source:
    """The source of a file; raises if it cannot be read."""
    name = os.fspath(file_named(path))
    try:
        name, data = file_bytes(name, LARGEST + 1)
    except OSError as error:
        raise unreadable(name, error) from None
    if len(data) > LARGEST:
        raise BadInput(
            Code.FILE,
            f"the file is larger than {LARGEST} bytes",
            span=Span.start_of(name),
            hint="a description of loops is small; is this the right file?",
        )
    return plain(Source(name, decode(name, data)))


def unreadable(name: str, failure: OSError) -> BadInput:
    """The error for a file that cannot be opened, with the file of a similar name that may be meant."""
    hint = None
    if isinstance(failure, IsADirectoryError):
        hint = "name a file inside it"
    elif isinstance(failure, FileNotFoundError):
        hint = _similar(name)
    message = f"cannot be read: {failure.strerror}"
    return BadInput(Code.FILE, message, span=Span.start_of(called(name)), hint=hint)


def _similar(name: str) -> str:
    from difflib import get_close_matches

    folder, last = os.path.split(name)
    if not os.path.isdir(folder or "."):
        return f"there is no folder {folder}, seen from {os.getcwd()}"
    near = get_close_matches(last, sorted(os.listdir(folder or ".")), 1, 0.8)
    if near:
        return f"did you mean {os.path.join(folder, near[0])}?"
    return f"no file in {folder or os.getcwd()} has a similar name"


def decode(name: str, data: bytes) -> str:
    """The bytes as text: UTF-8 without control characters other than white space."""
    data = data.removeprefix(BOM_UTF8)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = Source(name, data.decode("utf-8", "replace"))
        is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        raise BadInput(
            Code.FILE,
            f"byte 0x{data[error.start]:02x} is not UTF-8 text",
            span=shown.at(len(data[: error.start].decode("utf-8"))),
            hint="this looks like UTF-16: save it as UTF-8" if is_wide else "save it as UTF-8 text",
        ) from None
    return text


def plain(source: Source) -> Source:
    """Refuse control characters, long numbers and excessive nesting."""
    control = re.search(r"[\x00-\x08\x0e-\x1f\x7f]", source.text)
    if control:
        raise BadInput(
            Code.FILE,
            f"character 0x{ord(control.group()):02x} does not belong in a text file",
            span=source.at(control.start()),
            hint="descriptions of loops are plain text files",
        )
    bare = without_comments(source)
    refuse_long_numbers(bare)
    _refuse_deep_nesting(bare)
    return source


def refuse_long_numbers(source: Source, most: int = LONGEST_NUMBER) -> None:
    """Raise for a number of more than `most` digits, which Python would not even convert."""
    found = re.search(rf"[0-9]{{{most + 1},}}", source.text)
    if found:
        length = found.end() - found.start()
        raise mistake(source, found.start(), f"a number of more than {most} digits", length=length)


def checked(source: Source) -> Source:
    """The same for descriptions of loops, which must not be empty; a script may be."""
    if not without_comments(source).text.strip():
        hint = "it holds no statement and no schedule"
        raise mistake(source, 0, "the file is empty", hint=hint, code=Code.FILE)
    return plain(source)


def _refuse_deep_nesting(source: Source) -> None:
    """Raise for deep nesting of brackets, bare `exists` and products, which isl reads recursively."""
    brackets = exists = factors = 0
    for mark in re.finditer(r"\bexists\b|\*|[-+<>=,:;()\[\]{}]", source.text):
        text = mark.group()
        factors = factors + 1 if text == "*" else 0
        exists = exists + 1 if text == "exists" else 0 if text in "()[]{};" else exists
        brackets += 1 if text in "[({" else -1 if text in "])}" else 0
        if brackets > DEEPEST:
            raise mistake(source, mark.start(), f"brackets are nested more than {DEEPEST} deep")
        if exists > DEEPEST or factors > DEEPEST:
            raise mistake(
                source, mark.start(), f"more than {DEEPEST} times '{text}' in a row", length=len(text)
            )
