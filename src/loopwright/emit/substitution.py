"""A statement's own text with its iterators replaced by their new values."""

from __future__ import annotations

import re
from collections.abc import Mapping

from loopwright.model.program import Hole, Inlined, Program, Statement
from loopwright.model.source import Source, TextRange

_ATOM = re.compile(r"\w+")


def substituted(program: Program, statement: Statement, values: Mapping[str, str]) -> list[str]:
    """The lines of the statement, `values[i]` in place of every iterator `i`, not indented.

    Lines after the first keep their indentation relative to it.
    """
    body = statement.body
    text = _filled(program.source, body.place, body.holes, values) + body.terminator
    return _unindented(text, _column(program.source, body.place.start))


def _filled(
    source: Source, place: TextRange, holes: tuple[Hole | Inlined, ...], values: Mapping[str, str]
) -> str:
    pieces: list[str] = []
    position = place.start
    for hole in holes:
        pieces.append(source.text[position : hole.place.start])
        match hole:
            case Hole(_, iterator):
                value = values[iterator]
            case Inlined(_, definition, inner):
                value = _filled(source, definition, inner, values)
        is_alone = _ATOM.fullmatch(value) is not None or _is_whole_subscript(source.text, hole.place)
        pieces.append(value if is_alone else f"({value})")
        position = hole.place.end
    pieces.append(source.text[position : place.end])
    return "".join(pieces)


def _is_whole_subscript(text: str, place: TextRange) -> bool:
    """`A[i]`: nothing around the iterator could bind to a part of its value."""
    before = text[max(0, place.start - 1) : place.start]
    behind = text[place.end : place.end + 1]
    return before == "[" and behind == "]"


def comment_lines(source: Source, place: TextRange) -> list[str]:
    """A comment, unindented like the statement it belongs to."""
    return _unindented(source.slice(place), _column(source, place.start))


def _column(source: Source, offset: int) -> int:
    """How far the line of `offset` is indented."""
    begin = source.text.rfind("\n", 0, offset) + 1
    line = source.text[begin:offset]
    return len(line) - len(line.lstrip(" \t"))


def _unindented(text: str, column: int) -> list[str]:
    first, *rest = text.replace("\r\n", "\n").split("\n")
    return [first, *(line[min(column, len(line) - len(line.lstrip(" \t"))) :] for line in rest)]
