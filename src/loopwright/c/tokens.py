r"""What a token of C is (C17, 6.4), for texts that no syntax tree is made of: macros, pragmas, types.

    comment    /* ... */, // ... to the end of the line, lines joined by \ included
    literal    "..." and '...', with a prefix such as L
    number     3, .5, 0x1F, 1e-3f: whatever starts with a digit, letters included
    name       an identifier or a keyword
    mark       anything else that is not white space, one character at a time
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

_COMMENT = r"/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*"
_LITERAL = r"""(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_NUMBER = r"\.?[0-9](?:[eEpP][-+]|[\w.])*"
_NAME = r"[A-Za-z_]\w*"
_TOKEN = re.compile(
    rf"(?P<comment>{_COMMENT})|(?P<literal>{_LITERAL})|(?P<number>{_NUMBER})|(?P<name>{_NAME})|(?P<mark>\S)",
    re.DOTALL,
)
_NAMES = re.compile(rf"{_COMMENT}|{_LITERAL}|{_NUMBER}|({_NAME})", re.DOTALL)
_HIDDEN_STARTS = re.compile(r"""["'/]|u8(?=["'])|[uUL](?=["'])""")
_HIDDEN = re.compile(rf"{_COMMENT}|(?P<literal>{_LITERAL})", re.DOTALL)


def blank(text: str) -> str:
    """`text` with everything but line ends turned into spaces."""
    return re.sub(r"[^\r\n]+", lambda line: " " * len(line.group()), text)


def packed(text: str) -> str:
    """`text` without white space: two that differ in nothing else are the same then."""
    return "".join(text.split())


def on_one_line(text: str) -> str:
    """`text` without comments, with single spaces where there was white space."""
    return " ".join(without_comments(text, literals=True).split())


def words_and_marks(text: str) -> list[str]:
    """Runs of letters and digits, and all other characters but white space one by one."""
    return re.findall(r"\w+|[^\w\s]", text)


@lru_cache(maxsize=32)
def without_comments(text: str, *, literals: bool) -> str:
    """`text` with comments blanked, and strings and characters unless `literals` stay.

    Several readers ask it of the same file.
    """

    def replacement(match: re.Match[str]) -> str:
        return match[0] if literals and match["literal"] is not None else blank(match[0])

    pieces: list[str] = []
    done = 0
    for start in _HIDDEN_STARTS.finditer(text):
        match = None if start.start() < done else _HIDDEN.match(text, start.start())
        if match is not None:
            pieces += [text[done : match.start()], replacement(match)]
            done = match.end()
    return "".join([*pieces, text[done:]])


def name_matches(text: str) -> list[re.Match[str]]:
    """The identifiers and keywords of a text, with their places; none inside comments and literals."""
    return [match for match in _TOKEN.finditer(text) if match.lastgroup == "name"]


@lru_cache(maxsize=64)
def names_in(text: str) -> tuple[str, ...]:
    """The identifiers and keywords of a text, in order; the f of `1.5f` is none.

    Several readers ask it of the same function.
    """
    return tuple([name for name in _NAMES.findall(text) if name])


def with_names_replaced(text: str, given: Mapping[str, str]) -> str:
    """`text` with other texts in place of some names, as the preprocessor replaces parameters."""
    return _TOKEN.sub(
        lambda match: given.get(match[0], match[0]) if match.lastgroup == "name" else match[0], text
    )


def is_number(text: str) -> bool:
    """Whether `text` is a number of whatever type, perhaps with a sign."""
    return re.fullmatch(rf"[-+]?\s*{_NUMBER}", text.strip()) is not None
