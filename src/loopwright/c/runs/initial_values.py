"""Initialisers: which part of an object each value in braces is for, and the bytes of strings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c import types
from loopwright.c.runs.memory import TypeSizes
from loopwright.c.typed import tree
from loopwright.c.typed.known_values import integer_type

Part = tuple[int, types.CType, tree.Expression]
"""A place in bytes, the type there, and the value."""


def parts_at(kind: types.CType, listed: tree.Expression, sizes: TypeSizes) -> list[Part] | None:
    """The values of a list at their places; None if it is not followed."""
    try:
        return [*_parts(kind, 0, listed, sizes)]
    except _NotFollowed:
        return None


class _NotFollowed(Exception):
    pass


def _parts(kind: types.CType, start: int, node: tree.Expression, sizes: TypeSizes) -> Iterator[Part]:
    if not _is_list(node):
        yield start, kind, node
        return
    assert isinstance(node, tree.OtherExpression)
    left = list(reversed(node.parts))
    if len(left) == 1 and isinstance(only := left[0], tree.Expression) and _is_string_of(kind, only):
        yield start, kind, only
        return
    yield from _taken(kind, start, left, sizes)
    if left and isinstance(types.unqualified(kind), types.ArrayType | types.Record):
        raise _NotFollowed


def _taken(kind: types.CType, start: int, left: list[tree.Node], sizes: TypeSizes) -> Iterator[Part]:
    """The parts of an object that the next values of a list are for, which may go on after the object."""
    if not isinstance(types.unqualified(kind), types.ArrayType | types.Record):
        value = left.pop()
        yield from _parts(kind, start, value, sizes) if isinstance(value, tree.Expression) else ()
        return
    places, at, last = _places(kind, sizes), 0, -1
    is_union = isinstance(plain := sizes.whole(kind), types.Record) and plain.is_union
    while left:
        one = left[-1]
        if isinstance(one, tree.OtherExpression) and one.kind not in _VALUES:
            at = _designated(one.designator[: _length(one)], kind, sizes)
            left[-1] = _after(one)
        elif is_union and at:
            return
        found = places.get(at) if isinstance(places, dict) else (at * places[0], places[1])
        value = left[-1]
        if found is None or (not isinstance(places, dict) and _is_full(kind, at)):
            return
        is_again = at <= last and isinstance(types.unqualified(found[1]), types.ArrayType | types.Record)
        if not isinstance(value, tree.Expression) or is_again or (is_union and last >= 0):
            raise _NotFollowed
        if _is_whole(found[1], value):
            left.pop()
            yield from _parts(found[1], start + found[0], value, sizes)
        else:
            yield from _taken(found[1], start + found[0], left, sizes)
        at, last = at + 1, max(at, last)


def _is_full(kind: types.CType, at: int) -> bool:
    plain = types.unqualified(kind)
    return isinstance(plain, types.ArrayType) and isinstance(plain.length, int) and at >= plain.length


def _is_list(node: tree.Node) -> bool:
    return isinstance(node, tree.OtherExpression) and node.kind == "INIT_LIST_EXPR"


_VALUES = ("INIT_LIST_EXPR", "COMPOUND_LITERAL_EXPR", "StmtExpr", "GENERIC_SELECTION_EXPR")
_Places = dict[int, tuple[int, types.CType]] | tuple[int, types.CType]


def _places(kind: types.CType, sizes: TypeSizes) -> _Places:
    """The places and types of members, by their number; of elements, the size and the type."""
    whole = sizes.whole(kind)
    if isinstance(whole, types.ArrayType):
        size = sizes.size(whole.element)
        if size is None:
            raise _NotFollowed
        return size, whole.element
    fields = whole.fields if isinstance(whole, types.Record) else None
    if any(one.offset % 8 for one in fields or ()):
        raise _NotFollowed
    return {number: (one.offset // 8, one.type) for number, one in enumerate(fields or ())}


def _length(node: tree.OtherExpression) -> int:
    """How many tokens the first part of a designator has: `.s` of `.s.e`, `[1]` of `[1].d`."""
    return 3 if node.designator[:1] == ("[",) else 2


def _after(node: tree.OtherExpression) -> tree.Node:
    """The value for the part that the first part of a designator names: `{ .e = 4 }` for `.s.e = 4`."""
    rest = node.designator[_length(node) :]
    if not rest:
        return node.parts[-1]
    inner = tree.OtherExpression(node.place, node.type, node.kind, node.parts, rest)
    return tree.OtherExpression(node.place, node.type, "INIT_LIST_EXPR", (inner,))


def _designated(designator: tuple[str, ...], kind: types.CType, sizes: TypeSizes) -> int:
    """The number of the part that a designator names."""
    match designator, sizes.whole(kind):
        case (".", name), types.Record(fields=tuple(fields)):
            names = [one.name for one in fields]
            if name in names:
                return names.index(name)
        case ("[", text, "]"), types.ArrayType() if text.isdigit():
            return int(text)
    raise _NotFollowed


def _is_whole(kind: types.CType, value: tree.Expression) -> bool:
    """Whether a value is that of one whole part."""
    plain = types.unqualified(kind)
    if _is_list(value) or _is_string_of(kind, value) or not isinstance(plain, types.ArrayType | types.Record):
        return True
    return isinstance(types.unqualified(value.type), types.Record) and isinstance(plain, types.Record)


def _is_string_of(kind: types.CType, value: tree.Expression) -> bool:
    """Whether a value is a string for an array of characters."""
    plain = types.unqualified(kind)
    element = integer_type(plain.element) if isinstance(plain, types.ArrayType) else None
    return element is not None and isinstance(tree.without_casts(value), tree.Text)


_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_LITERALS = re.compile(rf"(?:{_LITERAL.pattern}\s*)+")
_ESCAPED = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|(.))|([^\\]+)", re.DOTALL)
_ESCAPES = dict(zip("abfnrtv?\'\"\\e", b"\a\b\f\n\r\t\v?\'\"\\\x1b", strict=True))


def literal_bytes(node: tree.Expression) -> bytes | None:
    """The bytes of a string as it is written in the file, with the 0 at its end."""
    text = node.place.span.text
    if not isinstance(node, tree.Text) or not _LITERALS.fullmatch(text) or "??" in text:
        return None
    found = bytearray()
    for literal in _LITERAL.findall(text):
        for octal, number, letter, plain in _ESCAPED.findall(literal):
            value = int(octal, 8) if octal else int(number, 16) if number else _ESCAPES.get(letter, 256)
            if not plain and value > _LARGEST_BYTE:
                return None
            found += plain.encode("utf-8", "surrogateescape") if plain else bytes((value,))
    return bytes(found) + b"\0"


_LARGEST_BYTE = 255
