"""Reads objects in isl's notation inside a user's source, and locates isl's error messages in it.

isl reports the place of an error only on the standard error stream, and only if told to warn.  So a text is
read without messages first; if this fails, it is read again in a separate context with the stream captured,
and `(line, column)` of the first message is translated.

The text of a schedule tree is checked for what isl silently ignores.  isl reads the quoted objects of a tree
separately from the tree, so its message about one of them tells neither which nor where in the file; here
they are read again one by one.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import TypeVar

import islpy as isl

from loopwright.errors import BadInput, Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.read.text import mistake, without_comments
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


_DEEPEST = 100
"""The maximum nesting of nodes; every room walks them recursively."""

_OBJECTS: dict[str, Reader[object]] = {
    "context": isl.Set.read_from_str,
    "contraction": isl.UnionPwMultiAff.read_from_str,
    "domain": isl.UnionSet.read_from_str,
    "expansion": isl.UnionMap.read_from_str,
    "extension": isl.UnionMap.read_from_str,
    "filter": isl.UnionSet.read_from_str,
    "guard": isl.Set.read_from_str,
    "options": isl.UnionSet.read_from_str,
    "schedule": isl.MultiUnionPwAff.read_from_str,
}
"""What the text after each key is."""

_ABOUT = {"option": "options", "expecting child": "mark"}
"""The key that an isl message without a place refers to, by a word in it."""

_KEYS = (*_OBJECTS, "child", "coincident", "mark", "permutable", "sequence", "set")

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*) | (?P<key>[A-Za-z_]\w*+ | "[A-Za-z_]\w*+")(?=\s*:) | (?P<text>"[^"]*")
      | (?P<number>[0-9]++)(?!\w) | (?P<word>\w++)
      | (?P<dash>-(?=\s)) | (?P<open>[{\[]) | (?P<close>[}\]]) | (?P<other>[^\s])""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class _Entry:
    """`key: "text"`, with the text without its quotes; None if something else follows the key."""

    key: str
    at: int
    text: tuple[int, int] | None


@dataclass
class _Mapping:
    """A mapping that is being read: its keys, all in one column unless it is in braces."""

    column: int | None
    keys: set[str] = field(default_factory=set)


_SHOWN = {
    "text": "a quoted text",
    "number": "0 or 1",
    "open": "a list in brackets",
    "key": "a node",
    "dash": "a list of filters",
}

_FOLLOWS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_OBJECTS, ("text",)),
    "mark": ("text", "word"),
    "permutable": ("number",),
    "coincident": ("open",),
    "child": ("key", "open"),
    "sequence": ("dash", "open"),
    "set": ("dash", "open"),
}
"""What may follow a key and its colon."""


def check_tree_text(source: Source) -> None:
    """Refuse keys given twice (isl takes the last), text after the tree, and trees too deep to walk.

    What follows a key is checked here too: given something else, isl does not always terminate.
    """
    open_mappings: list[_Mapping] = []
    ended = False
    tokens = list(_tokens(source))
    key = ""
    for k, token in enumerate(tokens):
        if ended:
            raise mistake(source, token.start(), "the tree ends before this", length=len(token.group()))
        match token.lastgroup:
            case "open":
                open_mappings.append(_Mapping(None))
            case "close" if open_mappings:
                open_mappings.pop()
                ended = not open_mappings
            case "dash":
                _close(open_mappings, _column(source, token.start()))
            case "key":
                key = _add_key(source, open_mappings, token, tokens[k + 2 : k + 3])
            case _ if not _belongs(token, tokens[k - 1].group() if k else "", key):
                raise _stray(source, token)
        if len(open_mappings) > _DEEPEST:
            raise mistake(source, token.start(), f"nodes are nested more than {_DEEPEST} deep")


def _tokens(source: Source) -> Iterator[re.Match[str]]:
    return (token for token in _TOKEN.finditer(source.text) if token.lastgroup != "comment")


def _belongs(token: re.Match[str], before: str, key: str) -> bool:
    """Whether a token may follow `before` in the value of `key`."""
    if not key:
        return False
    match token.lastgroup:
        case "text":
            return before == ":" and "text" in _FOLLOWS[key]
        case "number":
            return before == ":" if key == "permutable" else key == "coincident" and before in ("[", ",")
        case "word":
            return before == ":" and key == "mark"
        case _ if token.group() == ":":
            return before.strip('"') == key
        case _:
            return token.group() == "," and before != ","


def _stray(source: Source, token: re.Match[str]) -> BadInput:
    text = token.group()
    message = "a quote that is never closed" if text == '"' else f"'{text[:40]}' has no meaning here"
    hint = 'a node is written as key: "text", as in domain: "{ S[i] : 0 <= i < 4 }"'
    return mistake(source, token.start(), message, length=min(len(text), 40), hint=hint)


def _column(source: Source, offset: int) -> int:
    return offset - (source.text.rfind("\n", 0, offset) + 1)


def _close(mappings: list[_Mapping], column: int) -> None:
    """Drop the mappings, not in braces, that a token in this column ends."""
    while mappings and mappings[-1].column is not None and mappings[-1].column > column:
        mappings.pop()


def _add_key(
    source: Source, mappings: list[_Mapping], token: re.Match[str], value: list[re.Match[str]]
) -> str:
    """Record a key and check what follows its colon."""
    key = token.group().strip('"')
    if key not in _KEYS:
        hint = f"the keys of a schedule tree are {', '.join(sorted(_KEYS))}"
        raise mistake(source, token.start(), f"unknown key {key[:40]}", length=len(key), hint=hint)
    column = _column(source, token.start())
    _close(mappings, column)
    if not mappings or (mappings[-1].column is not None and mappings[-1].column < column):
        mappings.append(_Mapping(column))
    if key in mappings[-1].keys:
        raise mistake(source, token.start(), f"{key} is given twice for one node", length=len(key))
    mappings[-1].keys.add(key)
    if not value or value[0].lastgroup not in _FOLLOWS[key]:
        example = f'{key}: "{{ ... }}"' if key in _OBJECTS else None
        message = f"{key} should be followed by {_SHOWN[_FOLLOWS[key][0]]}"
        raise mistake(source, token.start(), message, length=len(key), hint=example)
    if key in _OBJECTS:
        _check_ends(source, value[0])
    return key


def _check_ends(source: Source, text: re.Match[str]) -> None:
    """Raise unless an object ends with a bracket; isl ignores anything after it."""
    last = text.end() - 2
    while last > text.start() and source.text[last].isspace():
        last -= 1
    if last > text.start() and source.text[last] not in "}]":
        raise mistake(source, last, f"'{source.text[last]}' after the end of the object")


def _entries(source: Source) -> Iterator[_Entry]:
    """The keys in source order, with the quoted texts that follow them."""
    tokens = list(_tokens(source))
    for k, token in enumerate(tokens):
        if token.lastgroup != "key":
            continue
        follows = tokens[k + 2] if k + 2 < len(tokens) else None
        text = (follows.start() + 1, follows.end() - 1) if follows and follows.lastgroup == "text" else None
        yield _Entry(token.group(), token.start(), text)


def explain(source: Source, error: isl.Error) -> BadInput:
    """Why isl refused the tree: the first key, object or place that is wrong."""
    found = list(_entries(source))
    if not found:
        return mistake(source, _first(source), plain(error), hint='a tree begins with domain: "{ ... }"')
    for entry in found:
        wrong = _explain_entry(source, entry)
        if wrong is not None:
            return wrong
    complaint = complaint_about(isl.Schedule.read_from_str, source.text)
    if complaint is not None:
        return mistake(source, complaint.offset, complaint.message, length=complaint.length)
    message = plain(error)
    key = next((key for word, key in _ABOUT.items() if word in message), found[0].key)
    entry = next((entry for entry in found if entry.key == key), found[0])
    return mistake(source, entry.at, message, length=len(entry.key))


def _explain_entry(source: Source, entry: _Entry) -> BadInput | None:
    """The error in one entry by itself."""
    if entry.key not in _OBJECTS or entry.text is None:
        return None
    try:
        read_isl(_OBJECTS[entry.key], source, *entry.text, f"the {entry.key}")
    except BadInput as wrong:
        return wrong
    return None


def node_error(source: Source, keys: tuple[str, ...], message: str, hint: str, number: int = 0) -> BadInput:
    """An error at one of these keys, by its number in source order."""
    found = [entry for entry in _entries(source) if entry.key in keys]
    at = found[min(number, len(found) - 1)]
    return mistake(source, at.at, message, length=len(at.key), hint=hint)


_OPTIONS_HINT = (
    "options are atomic[d], separate[d], unroll[d], isolate[] -> unroll[d] and isolate[[outer] -> [inner]]"
)


def option_error(source: Source, name: str, message: str) -> BadInput:
    """An error at the first mention of an option."""
    for entry in _entries(source):
        if entry.key == "options" and entry.text is not None:
            found = re.compile(rf"\b{re.escape(name)}\b").search(source.text, *entry.text)
            if found:
                return mistake(source, found.start(), message, length=len(name), hint=_OPTIONS_HINT)
    return mistake(source, _first(source), message, hint=_OPTIONS_HINT)


def _first(source: Source) -> int:
    found = re.search(r"\S", without_comments(source).text)
    return found.start() if found else 0
