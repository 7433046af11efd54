"""Expressions of sizes that are believed to be at least 0, since C takes them for unsigned numbers.

`i < n - 1` with an unsigned n means something else for n = 0, and `i < n` with an unsigned i and a
signed n for n = -1.  Where iterators have a part in it, it is proved (`wraparound`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopwright.c.declarations import is_unsigned_type, type_text
from loopwright.c.syntax import Node, walk
from loopwright.presburger.named import everywhere, number
from loopwright.read.c.affine import affine
from loopwright.read.c.frames import Frame, Loop
from loopwright.read.c.index_calls import mentions_iterator
from loopwright.read.c.loops import declared_type
from loopwright.read.c.names import Setting, loop_iterator
from loopwright.read.c.not_affine import NotAffine
from loopwright.read.c.wraparound import operands_from_zero


def sizes_from_zero(setting: Setting, block: Node, expressions: Iterable[Node]) -> tuple[Node, ...]:
    """One of each text, of those the assumptions do not show to be at least 0."""
    found: dict[str, Node] = {}
    start = Frame(setting, everywhere())
    for node in (*_converted(setting, block), *_operands(setting, expressions)):
        if not mentions_iterator(node, start) and _may_be_below(node, start):
            found.setdefault(node.text, node)
    return tuple(found.values())


def _operands(setting: Setting, expressions: Iterable[Node]) -> Iterator[Node]:
    for expression in expressions:
        frame = _around(setting, expression)
        for node in walk(expression):
            if node.type == "binary_expression":
                yield from operands_from_zero(node, frame)


def _converted(setting: Setting, block: Node) -> Iterator[Node]:
    """What unsigned variables of the region are given at first."""
    for node in walk(block):
        if node.type == "declaration":
            kind = setting.declarations.resolved(type_text(node, qualifiers=False))
            values = [d.child_by_field_name("value") for d in node.children_by_field_name("declarator")]
            yield from (value for value in values if value is not None and is_unsigned_type(kind))


def _around(setting: Setting, node: Node) -> Frame:
    """The loops around `node`, for the types of their iterators."""
    loops: list[Loop] = []
    outer: Node | None = node
    while outer is not None:
        name = loop_iterator(outer) if outer.type == "for_statement" else None
        if name is not None:
            kind = declared_type(outer, Frame(setting, everywhere()), name)
            loops.insert(0, Loop(name, 1, outer.span, kind))
        outer = outer.parent
    return Frame(setting, everywhere(), tuple(loops))


def _may_be_below(node: Node, frame: Frame) -> bool:
    try:
        value = affine(node, frame)
    except NotAffine:
        return False
    return not frame.known().intersect(value.lt_set(number(0))).is_empty()
