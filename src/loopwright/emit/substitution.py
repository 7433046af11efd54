"""A statement's own text with its iterators replaced by their new values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.c.declarations import is_unsigned_type
from loopwright.c.tokens import without_comments
from loopwright.emit.iterator_types import IteratorTypes
from loopwright.emit.subscripts import plain_subscript, tidied
from loopwright.model.program import Hole, Inlined, Program, Statement, is_element
from loopwright.source import Source, Span

_ATOM = re.compile(r"\w+")
_NAME = re.compile(r"[A-Za-z_]\w*")


def substituted(
    program: Program, statement: Statement, values: Mapping[str, str], types: IteratorTypes
) -> list[str]:
    """The lines of the statement, `values[i]` in place of every iterator `i`, not indented.

    `types` are those of the new iterators.  Lines after the first keep their indentation relative
    to it.
    """
    body = statement.body
    filling = _Filling(program.source, values, types)
    text = filling.filled(body.place, body.holes) + body.terminator
    return _unindented(text, _column(program.source, body.place.start))


@dataclass(frozen=True)
class _Filling:
    source: Source
    values: Mapping[str, str]
    types: IteratorTypes

    def filled(self, place: Span, holes: tuple[Hole | Inlined, ...], *, index: bool = False) -> str:
        """The text of `place` with its holes filled; `index` if it stands in a subscript."""
        pieces: list[str] = []
        position = place.start
        rest = holes
        while rest:
            around = plain_subscript(self.source.text, rest[0].place, place)
            inside = tuple(hole for hole in rest if around is not None and hole.place.end <= around.end)
            if around is not None:
                part, filling = around, self._subscript(around, inside)
            else:
                part = rest[0].place
                inner = index or self._in_subscript(place.start, part.start)
                filling = self._filler(rest[0], inner and not is_unsigned_type(rest[0].type))
            pieces += [self.source.text[position : part.start], filling]
            position = part.end
            rest = rest[max(1, len(inside)) :]
        pieces.append(self.source.text[position : place.end])
        return "".join(pieces)

    def _subscript(self, place: Span, holes: tuple[Hole | Inlined, ...]) -> str:
        """A sum between brackets; where it is more than new names for old ones, its terms are collected."""
        fillers = [self._filler(hole, True) for hole in holes]
        pieces: list[str] = []
        position = place.start
        for hole, filler in zip(holes, fillers, strict=True):
            pieces += [self.source.text[position : hole.place.start], filler]
            position = hole.place.end
        text = "".join(pieces) + self.source.text[position : place.end]
        as_it_was = text == fillers[0] or all(map(_NAME.fullmatch, fillers))
        return text if as_it_was else tidied(text)

    def _in_subscript(self, start: int, end: int) -> bool:
        """Whether what follows is between brackets, where only its value matters.

        Of an unsigned number that goes for sums alone, which wrap around and back again.
        """
        visible = without_comments(self.source.text[start:end], literals=False)
        return visible.count("[") > visible.count("]")

    def _filler(self, hole: Hole | Inlined, index: bool) -> str:
        match hole:
            case Hole(_, iterator):
                value = self.values[iterator]
            case Inlined(_, definition, inner, is_row=True):
                row = self.filled(definition, inner)
                return row if is_element(row) else f"({row})"
            case Inlined(_, definition, inner):
                value = self.filled(definition, inner, index=index)
        if not index and hole.type != self._type(value):
            return f"(({hole.type}){value})" if _ATOM.fullmatch(value) else f"(({hole.type})({value}))"
        alone = _ATOM.fullmatch(value) is not None or _is_whole_subscript(self.source.text, hole.place)
        return value if alone else f"({value})"

    def _type(self, value: str) -> str | None:
        """The type of an expression of the new iterators; None where sizes may have widened it."""
        if _NAME.fullmatch(value) is not None:
            return self.types.of(value)
        return "int" if self.types.number == "int" else None


def _is_whole_subscript(text: str, place: Span) -> bool:
    """`A[i]`: nothing around the iterator could bind to a part of its value."""
    before = text[max(0, place.start - 1) : place.start]
    behind = text[place.end : place.end + 1]
    return before == "[" and behind == "]"


def comment_lines(source: Source, place: Span) -> list[str]:
    """A comment, unindented like the statement it belongs to."""
    return _unindented(place.text, _column(source, place.start))


def _column(source: Source, offset: int) -> int:
    """How far the line of `offset` is indented."""
    begin = source.text.rfind("\n", 0, offset) + 1
    line = source.text[begin:offset]
    return len(line) - len(line.lstrip(" \t"))


def _unindented(text: str, column: int) -> list[str]:
    first, *rest = text.replace("\r\n", "\n").split("\n")
    return [first, *(line[min(column, len(line) - len(line.lstrip(" \t"))) :] for line in rest)]
