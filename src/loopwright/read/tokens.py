"""The words of an affine expression or condition, each with its place."""

from __future__ import annotations

import re
from enum import Enum

from loopwright.lazy_dataclass import dataclass
from loopwright.read.text import LONGEST_NUMBER, mistake
from loopwright.source import Source


class TokenKind(Enum):
    NAME = "a name"
    NUMBER = "a number"
    MARK = "a mark"
    END = "the end"


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    text: str
    offset: int


PATTERN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
      | (?P<number>[0-9]+)
      | (?P<mark><=|>=|==|!=|&&|\|\||[-+*/%()\[\],:?<>=!;])""",
    re.VERBOSE,
)


def tokens(source: Source, start: int, end: int) -> list[Token]:
    """The words of `source.text[start:end]`, comments left out; the last one is the end."""
    found: list[Token] = []
    last = position = start
    while position < end:
        match = PATTERN.match(source.text, position, end)
        if match is None:
            raise mistake(source, position, f"'{source.text[position]}' has no meaning here")
        position = match.end()
        if match.lastgroup == "space":
            continue
        last = position
        found.append(Token(TokenKind[str(match.lastgroup).upper()], match.group(), match.start()))
        if match.lastgroup == "number" and len(match.group()) > LONGEST_NUMBER:
            raise mistake(source, match.start(), f"a number of more than {LONGEST_NUMBER} digits")
    return [*found, Token(TokenKind.END, "", last)]
