"""Checks the text of a schedule tree for what isl silently ignores, and locates isl's errors.

isl reads the quoted objects of a tree separately from the tree, so its message about one of them tells
neither which nor where in the file; here they are read again one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

import islpy as isl

from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.read.isl_text import Reader, complaint_about, plain, read_isl
from loopwright.read.text import mistake, without_comments
from loopwright.source import Source

DEEPEST = 100
"""The maximum nesting of nodes; every room walks them recursively."""

OBJECTS: dict[str, Reader[object]] = {
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

ABOUT = {"option": "options", "expecting child": "mark"}
"""The key that an isl message without a place refers to, by a word in it."""

KEYS = (*OBJECTS, "child", "coincident", "mark", "permutable", "sequence", "set")

TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*) | (?P<key>[A-Za-z_]\w*+ | "[A-Za-z_]\w*+")(?=\s*:) | (?P<text>"[^"]*")
      | (?P<number>[0-9]++)(?!\w) | (?P<word>\w++)
      | (?P<dash>-(?=\s)) | (?P<open>[{\[]) | (?P<close>[}\]]) | (?P<other>[^\s])""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Entry:
    """`key: "text"`, with the text without its quotes; None if something else follows the key."""

    key: str
    at: int
    text: tuple[int, int] | None


@dataclass
class Mapping:
    """A mapping that is being read: its keys, all in one column unless it is in braces."""

    column: int | None
    keys: set[str] = field(default_factory=set)


SHOWN = {
    "text": "a quoted text",
    "number": "0 or 1",
    "open": "a list in brackets",
    "key": "a node",
    "dash": "a list of filters",
}

FOLLOWS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(OBJECTS, ("text",)),
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
    open_mappings: list[Mapping] = []
    ended = False
    tokens = list(_tokens(source))
    key = ""
    for k, token in enumerate(tokens):
        if ended:
            raise mistake(source, token.start(), "the tree ends before this", length=len(token.group()))
        match token.lastgroup:
            case "open":
                open_mappings.append(Mapping(None))
            case "close" if open_mappings:
                open_mappings.pop()
                ended = not open_mappings
            case "dash":
                _close(open_mappings, _column(source, token.start()))
            case "key":
                key = _add_key(source, open_mappings, token, tokens[k + 2 : k + 3])
            case _ if not _belongs(token, tokens[k - 1].group() if k else "", key):
                raise _stray(source, token)
        if len(open_mappings) > DEEPEST:
            raise mistake(source, token.start(), f"nodes are nested more than {DEEPEST} deep")


def _tokens(source: Source) -> Iterator[re.Match[str]]:
    return (token for token in TOKEN.finditer(source.text) if token.lastgroup != "comment")


def _belongs(token: re.Match[str], before: str, key: str) -> bool:
    """Whether a token may follow `before` in the value of `key`."""
    if not key:
        return False
    match token.lastgroup:
        case "text":
            return before == ":" and "text" in FOLLOWS[key]
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


def _close(mappings: list[Mapping], column: int) -> None:
    """Drop the mappings, not in braces, that a token in this column ends."""
    while mappings and mappings[-1].column is not None and mappings[-1].column > column:
        mappings.pop()


def _add_key(
    source: Source, mappings: list[Mapping], token: re.Match[str], value: list[re.Match[str]]
) -> str:
    """Record a key and check what follows its colon."""
    key = token.group().strip('"')
    if key not in KEYS:
        hint = f"the keys of a schedule tree are {', '.join(sorted(KEYS))}"
        raise mistake(source, token.start(), f"unknown key {key[:40]}", length=len(key), hint=hint)
    column = _column(source, token.start())
    _close(mappings, column)
    if not mappings or (mappings[-1].column is not None and mappings[-1].column < column):
        mappings.append(Mapping(column))
    if key in mappings[-1].keys:
        raise mistake(source, token.start(), f"{key} is given twice for one node", length=len(key))
    mappings[-1].keys.add(key)
    if not value or value[0].lastgroup not in FOLLOWS[key]:
        example = f'{key}: "{{ ... }}"' if key in OBJECTS else None
        message = f"{key} should be followed by {SHOWN[FOLLOWS[key][0]]}"
        raise mistake(source, token.start(), message, length=len(key), hint=example)
    if key in OBJECTS:
        _check_ends(source, value[0])
    return key


def _check_ends(source: Source, text: re.Match[str]) -> None:
    """Raise unless an object ends with a bracket; isl ignores anything after it."""
    last = text.end() - 2
    while last > text.start() and source.text[last].isspace():
        last -= 1
    if last > text.start() and source.text[last] not in "}]":
        raise mistake(source, last, f"'{source.text[last]}' after the end of the object")


def entries(source: Source) -> Iterator[Entry]:
    """The keys in source order, with the quoted texts that follow them."""
    tokens = list(_tokens(source))
    for k, token in enumerate(tokens):
        if token.lastgroup != "key":
            continue
        follows = tokens[k + 2] if k + 2 < len(tokens) else None
        text = (follows.start() + 1, follows.end() - 1) if follows and follows.lastgroup == "text" else None
        yield Entry(token.group(), token.start(), text)


def explain(source: Source, error: isl.Error) -> BadInput:
    """Why isl refused the tree: the first key, object or place that is wrong."""
    found = list(entries(source))
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
    key = next((key for word, key in ABOUT.items() if word in message), found[0].key)
    entry = next((entry for entry in found if entry.key == key), found[0])
    return mistake(source, entry.at, message, length=len(entry.key))


def _explain_entry(source: Source, entry: Entry) -> BadInput | None:
    """The error in one entry by itself."""
    if entry.key not in OBJECTS or entry.text is None:
        return None
    try:
        read_isl(OBJECTS[entry.key], source, *entry.text, f"the {entry.key}")
    except BadInput as wrong:
        return wrong
    return None


def node_error(source: Source, keys: tuple[str, ...], message: str, hint: str, number: int = 0) -> BadInput:
    """An error at one of these keys, by its number in source order."""
    found = [entry for entry in entries(source) if entry.key in keys]
    at = found[min(number, len(found) - 1)]
    return mistake(source, at.at, message, length=len(at.key), hint=hint)


HINT = "options are atomic[d], separate[d], unroll[d], isolate[] -> unroll[d] and isolate[[outer] -> [inner]]"


def option_error(source: Source, name: str, message: str) -> BadInput:
    """An error at the first mention of an option."""
    for entry in entries(source):
        if entry.key == "options" and entry.text is not None:
            found = re.compile(rf"\b{re.escape(name)}\b").search(source.text, *entry.text)
            if found:
                return mistake(source, found.start(), message, length=len(name), hint=HINT)
    return mistake(source, _first(source), message, hint=HINT)


def _first(source: Source) -> int:
    found = re.search(r"\S", without_comments(source).text)
    return found.start() if found else 0
