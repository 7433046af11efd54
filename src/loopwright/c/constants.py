"""Constants as they are written: `10`, `'a'`, and those of `sizeof a / sizeof *a`."""

from __future__ import annotations

import re

from loopwright.c.casts import Kinds
from loopwright.c.macros import constant_macro, definitions, integer_text
from loopwright.c.syntax import Node, field, is_dereference, without_parentheses
from loopwright.c.types import Floating, Integer
from loopwright.source import Span

_POINTER = 8
_ESCAPES = {"\\0": 0, "\\a": 7, "\\b": 8, "\\t": 9, "\\n": 10, "\\v": 11, "\\f": 12, "\\r": 13}


def constant_value(node: Node, kinds: Kinds, at: Span) -> int | None:
    """The value of an integer, a character of ASCII or a `sizeof` at a place; None where it is not known."""
    if node.type == "number_literal":
        return integer_text(node.text)
    if node.type == "char_literal":
        inside = node.text[1:-1]
        is_plain = re.fullmatch(r"[ -~]", inside) is not None and inside != "\\"
        return ord(inside) if is_plain else _ESCAPES.get(inside)
    return _size(node, kinds, at) if node.type == "sizeof_expression" else None


def _size(node: Node, kinds: Kinds, at: Span) -> int | None:
    kind = node.child_by_field_name("type")
    if kind is not None:
        is_pointer = kind.text.endswith("*") and not set("([") & set(kind.text)
        return _POINTER if is_pointer else _bytes(kind.text, kinds)
    core, indices = without_parentheses(field(node, "value")), 0
    while core.type == "subscript_expression" or is_dereference(core):
        core, indices = without_parentheses(field(core, "argument")), indices + 1
    found = kinds.declarations.visible(core.text, at) if core.type == "identifier" else None
    if found is None or found.may_alias or found.has_row_pointers or definitions(kinds.macros, core.text):
        return None
    size = _bytes(found.type, kinds)
    if size is None or len(found.extents) != found.rank or indices > found.rank:
        return None
    for text in found.extents[indices:]:
        length = integer_text(text)
        length = constant_macro(kinds.macros, text) if length is None else length
        if length is None or length <= 0:
            return None
        size *= length
    return size


def _bytes(text: str, kinds: Kinds) -> int | None:
    if kinds.declarations.resolved(text) == "char":
        return 1
    kind = kinds.written_type(text, certain=True)
    if not isinstance(kind, Integer | Floating) or kind.bits not in (1, 8, 16, 32, 64):
        return None
    return None if isinstance(kind, Floating) and kind.is_complex else -(-kind.bits // 8)
