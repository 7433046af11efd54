"""Rewrites loop heads that set other variables than the counter: these are set before the loop.

    for (s = 0, i = a; c; i++) B                      { s = 0; for (i = a; c; i++) B }
    for (int i = a, m = n / 2; i < m; i++) B          { int m = n / 2; for (int i = a; i < m; i++) B }

What is set after the counter moves before it: neither value contains what the other one sets, and both
consist of names and numbers.  Otherwise it is an identity of C, whatever the values are.  Macros are not
expanded: the caller must check whether they hide an assignment.  Line numbers do not change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopwright.c.reworded.passages import Passage, rewritten
from loopwright.c.reworded.plain_loops import counter_of, is_simple
from loopwright.c.syntax import Node, field, identifiers, named_children, operator
from loopwright.c.tokens import on_one_line
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

_SEVERAL = re.compile(r"\bfor\s*\([^;{}]*,")
"""Matches every source that can be rewritten: a comma in the first part of a head."""


@dataclass(frozen=True)
class _Set:
    """A variable that a head sets, and the text that does it; `value` is None for any other expression."""

    text: str
    name: str = ""
    value: Node | None = None


def with_one_counter(source: Source) -> Source:
    """The source with the loops of its regions in this form."""
    return rewritten(source, _edits, "for_statement") if _SEVERAL.search(source.text) else source


def _edits(loop: Node, passage: Passage) -> list[Edit] | None:
    start = loop.child_by_field_name("initializer")
    if start is None or start.type not in ("declaration", "comma_expression"):
        return None  # it sets one variable
    name = counter_of(loop)[1]
    if name is None or passage.is_directed(loop):
        return None
    kind = f"{field(start, 'type').text} " if start.type == "declaration" else ""
    parts = _declared(start) if kind else _assigned(start)
    places = [index for index, one in enumerate(parts) if one.name == name]
    if len(parts) < 2 or len(places) != 1:
        return None
    (place,) = places
    before, counter, after = parts[:place], parts[place], parts[place + 1 :]
    if not all(_is_apart(counter, one) for one in after):
        return None
    others = "".join(f"{kind}{on_one_line(one.text)}; " for one in (*before, *after))
    head = f"{{ {others}for ({kind}{on_one_line(counter.text)}{';' if kind else ''}"
    last = loop.source.text[loop.end - 1]
    return [Span(loop.source, loop.start, start.end).reworded(head), (loop.end - 1, loop.end, f"{last} }}")]


def _declared(start: Node) -> Sequence[_Set]:
    """The variables of a declaration in a head, all of them plain numbers with a value."""
    declarators = start.children_by_field_name("declarator")
    if any(
        one.type != "init_declarator" or field(one, "declarator").type != "identifier" for one in declarators
    ):
        return ()
    if {one.type for one in named_children(start)} - {"init_declarator", field(start, "type").type}:
        return ()
    return [_Set(one.text, field(one, "declarator").text, field(one, "value")) for one in declarators]


def _assigned(node: Node) -> Sequence[_Set]:
    """The expressions between the commas of a head."""
    if node.type == "comma_expression":
        return [*_assigned(field(node, "left")), *_assigned(field(node, "right"))]
    if node.type == "assignment_expression" and operator(node) == "=":
        target = field(node, "left")
        if target.type == "identifier":
            return [_Set(node.text, target.text, field(node, "right"))]
    return [_Set(node.text)]


def _is_apart(one: _Set, other: _Set) -> bool:
    """Whether two variables can be set in either order."""
    if one.value is None or other.value is None or not (is_simple(one.value) and is_simple(other.value)):
        return False
    return one.name not in identifiers(other.value) and other.name not in identifiers(one.value)
