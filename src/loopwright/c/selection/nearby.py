"""A text without the bodies of functions that have nothing to do with what is read of it.

Such a body may forbid a reading, by a second name for the same memory; it allows none.  So what cannot be
read without it cannot be read with it, and is cheaper to try: a large file is mostly other functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.c.file import CFile
from loopwright.c.syntax import Node
from loopwright.c.tokens import blank, names_in
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, with_edits


@dataclass(frozen=True)
class _FunctionText:
    start: int
    body: int
    end: int
    heads: frozenset[str]
    """The names in front of its body, its own among them."""
    names: frozenset[str]
    is_plain: bool
    """No preprocessor line is in its body."""


class Nearby:
    """A file of which parts are tried one after the other."""

    def __init__(self, file: CFile) -> None:
        lines = [line.place.start for line in file.directives]
        self._functions = [
            _text_of(node, body, lines)
            for node in file.possible.of_type("function_definition")
            if (body := node.child_by_field_name("body")) is not None
        ]
        self._always = frozenset(name for line in file.directives for name in names_in(line.argument))
        """A macro may stand for a call."""

    def of(self, source: Source) -> Source:
        """The text with the bodies of functions blanked that the chosen parts do not lead to."""
        kept = set(self._led_to(source))
        edits: list[Edit] = []
        for number, one in enumerate(self._functions):
            if number not in kept and one.is_plain and (not edits or one.body >= edits[-1][1]):
                first, last = one.body + 1, one.end - 1
                edits.append((first, last, blank(source.text[first:last])))
        return replace(source, text=with_edits(source.text, edits))

    def _led_to(self, source: Source) -> Iterator[int]:
        """The functions around the chosen parts, and those whose names are mentioned there, and so on."""
        around = [
            number
            for number, one in enumerate(self._functions)
            if any(one.start < end and start < one.end for start, end in source.chosen)
        ]
        names = set(self._always)
        pending, seen = list(around), set(around)
        while pending:
            number = pending.pop()
            yield number
            names |= self._functions[number].names
            for other, one in enumerate(self._functions):
                if other not in seen and one.heads & names:
                    seen.add(other)
                    pending.append(other)


def _text_of(node: Node, body: Node, lines: list[int]) -> _FunctionText:
    text = node.source.text
    head = frozenset(names_in(text[node.start : body.start].partition("(")[0]))
    names = frozenset(names_in(text[node.start : node.end]))
    is_plain = text[body.start : body.start + 1] == "{" and text[body.end - 1 : body.end] == "}"
    is_plain = is_plain and not any(body.start <= line < body.end for line in lines)
    return _FunctionText(node.start, body.start, node.end, head - _KEYWORDS, names, is_plain)


_KEYWORDS = frozenset(
    (
        *("static", "inline", "extern", "const", "void", "int", "double", "float", "long", "short", "char"),
        *("struct", "unsigned", "signed", "_Bool", "volatile", "__inline", "__inline__", "__attribute__"),
    )
)
"""Words in front of a function's name that are no reason to keep it."""
