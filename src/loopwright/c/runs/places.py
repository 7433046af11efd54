"""The places of lvalues in a run that is followed, and what is loaded from them and stored there.

Initialisers store too: which part of an object each value in braces is for, and the bytes of strings.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import field

from loopwright.c import types
from loopwright.c.runs.conversions import converted, element_of, moved
from loopwright.c.runs.memory import (
    FUNCTION,
    GLOBAL,
    LOCAL,
    STATIC,
    TEXT,
    Address,
    Image,
    Key,
    RunMemory,
    StoredBlock,
    TypeSizes,
    Value,
    decoded,
    encoded,
)
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile
from loopwright.c.typed.known_values import integer_type
from loopwright.lazy_dataclass import dataclass

_Part = tuple[int, types.CType, tree.Expression]
"""A place in bytes, the type there, and the value."""


def _parts_at(kind: types.CType, listed: tree.Expression, sizes: TypeSizes) -> list[_Part] | None:
    """The values of a list at their places; None if it is not followed."""
    try:
        return [*_parts(kind, 0, listed, sizes)]
    except _NotFollowed:
        return None


class _NotFollowed(Exception):
    pass


def _parts(kind: types.CType, start: int, node: tree.Expression, sizes: TypeSizes) -> Iterator[_Part]:
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


def _taken(kind: types.CType, start: int, left: list[tree.Node], sizes: TypeSizes) -> Iterator[_Part]:
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
_ESCAPES = dict(zip("abfnrtv?'\"\\e", b"\a\b\f\n\r\t\v?'\"\\\x1b", strict=True))


def _literal_bytes(node: tree.Expression) -> bytes | None:
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


_OF_VARIABLE = 3
"""The length of the key of a local variable: kind, call, place of its declaration."""


@dataclass(frozen=True)
class Lvalue:
    """The storage of an lvalue, where it is known; a bit-field starts so many bits after it."""

    place: Address | None
    type: types.CType
    shift: int = 0
    is_bit_field: bool = False


@dataclass
class Places:
    """Loads and stores; subscripts and pointers have the values of the run."""

    file: TypedFile
    sizes: TypeSizes
    memory: RunMemory
    frame: int
    """The number of the call whose variables are named."""
    steps: int
    """How many nodes may still be evaluated."""
    addressed: set[int] = field(default_factory=set, kw_only=True)
    """The local variables of functions that were called which pointers may lead to."""

    @abstractmethod
    def value(self, node: tree.Expression) -> Value:
        """The value of an expression."""

    def place(self, node: tree.Expression) -> Address | None:
        """The place of an lvalue."""
        match tree.without_casts(node):
            case tree.Name(declaration=declared) if declared.storage is tree.Storage.FUNCTION:
                return Address((FUNCTION, declared.name), 0)
            case tree.Name(declaration=declared):
                return Address(self.key(declared), 0)
            case tree.Text() as text:
                key: Key = (TEXT, id(text))
                self.memory.set_block(key, StoredBlock(None, dict(enumerate(_literal_bytes(text) or b""))))
                return Address(key, 0)
            case tree.MemberAccess(object=inner, is_arrow=is_arrow) as member:
                outer = self.value(inner) if is_arrow else self.place(inner)
                bits = self.bits(member)
                return moved(outer, None if bits is None else bits // 8)
            case tree.Subscript(base=base, index=index):
                start, at = self.value(base), self.value(index)
                return moved(start, at, self.sizes.size(element_of(base.type)))
            case tree.Unary(operator="*", operand=operand):
                found_at = self.value(operand)
                return found_at if isinstance(found_at, Address) else None
            case tree.OtherExpression(kind="COMPOUND_LITERAL_EXPR", type=kind, parts=(listed,)):
                key = (LOCAL, self.frame, id(listed), "literal")
                self.initialise(key, kind, listed) if isinstance(listed, tree.Expression) else None
                return Address(key, 0)
            case tree.Cast(operand=operand):
                return self.place(operand)
            case tree.Unary(operator="__extension__" | "&", operand=operand):
                return self.place(operand)
        return None

    def key(self, declared: tree.Declaration) -> Key:
        """The block of a variable."""
        if declared.is_own:
            return (LOCAL, self.frame, declared.offset)
        if declared.is_file_scope or declared.storage is not tree.Storage.STATIC:
            return (GLOBAL, declared.name)
        return (STATIC, declared.offset)

    def bits(self, member: tree.MemberAccess) -> int | None:
        """The place of a member in its struct."""
        kind = types.unqualified(member.object.type)
        record = element_of(kind) if member.is_arrow else kind
        found = self.sizes.member(record, member.name)
        if found is not None:
            return found[0]
        return None if member.field is None or member.in_union else member.field.offset

    def load(self, place: Address | None, kind: types.CType) -> Value:
        size = self.sizes.size(kind)
        is_kept = not isinstance(kind, types.Qualified) or not (kind.is_volatile or kind.is_atomic)
        if place is None or size is None or place.block[0] == FUNCTION or not is_kept:
            return None
        is_lost = self.memory.has_lost_fractions and self.is_seen(place.block)
        if is_lost and isinstance(types.unqualified(kind), types.Floating | types.Record):
            return None
        if isinstance(self.sizes.whole(kind), types.Record):
            return Image(self.memory.load(place, size))
        return decoded(self.memory.load(place, size), kind)

    def store(self, place: Address | None, kind: types.CType, value: Value) -> None:
        size = self.sizes.size(kind)
        if place is None:
            self.store_anywhere(kind)
        elif size is None:
            self.memory.forget(place.block)
        else:
            self.memory.store(place, encoded(converted(value, kind), kind, size))

    def store_anywhere(self, kind: types.CType) -> None:
        """Forget what a store to an unknown place may change; numbers with a fraction are no sizes."""
        if isinstance(types.unqualified(kind), types.Floating):
            self.memory.has_lost_fractions = True
        else:
            self.memory.lose(self.is_seen)

    def is_seen(self, key: Key) -> bool:
        """Whether pointers that are not known may lead to a block."""
        if key[0] == LOCAL and len(key) == _OF_VARIABLE:
            return key[2] in self.addressed
        return key[0] not in (TEXT, FUNCTION)

    def part(self, node: tree.Expression) -> Lvalue:
        """The storage of an lvalue, whose operands are evaluated."""
        kind = integer_type(node.type)
        if not isinstance(node, tree.MemberAccess) or not node.is_bit_field or kind is None:
            return Lvalue(self.place(node), node.type)
        width = kind if node.field is None else integer_type(node.field.type) or kind
        bits, place = self.bits(node), self.place(node)
        return Lvalue(None if bits is None else place, width, (bits or 0) % 8, is_bit_field=True)

    def held(self, part: Lvalue) -> Value:
        """The value in an lvalue."""
        kind = integer_type(part.type)
        if not part.is_bit_field or kind is None:
            return self.load(part.place, part.type)
        if part.place is None:
            return None
        size = -(-(part.shift + kind.bits) // 8)
        whole = decoded(self.memory.load(part.place, size), types.Integer(8 * size, signed=False, rank=5))
        return kind.converted(whole >> part.shift) if isinstance(whole, int) else None

    def put(self, part: Lvalue, value: Value) -> None:
        """Store a value in an lvalue."""
        kind = integer_type(part.type)
        if not part.is_bit_field or part.place is None or kind is None:
            self.store(part.place, part.type, value)
            return
        size = -(-(part.shift + kind.bits) // 8)
        plain = types.Integer(8 * size, signed=False, rank=5)
        before = decoded(self.memory.load(part.place, size), plain)
        if isinstance(before, int) and isinstance(value, int):
            mask = ((1 << kind.bits) - 1) << part.shift
            stored = (before & ~mask) | (value << part.shift & mask)
            self.memory.store(part.place, encoded(stored, plain, size))
        else:
            self.memory.store(part.place, (None,) * size)

    def initialise(self, key: Key, kind: types.CType, first: tree.Expression) -> None:
        """Give a new block the values of an initialiser; what a list leaves out is 0."""
        parts = _parts_at(kind, first, self.sizes)
        stored = [(at, inner, one, self._first(inner, one)) for at, inner, one in parts or ()]
        is_whole = len(stored) == 1 and stored[0][2] is first
        self.memory.set_block(key, StoredBlock(None if is_whole or parts is None else 0))
        for at, inner, one, value in stored:
            text = _literal_bytes(tree.without_casts(one)) if value is None else None
            if text is None:
                self.store(Address(key, at), inner, value)
            else:
                self.memory.store(Address(key, at), tuple(text[: self.sizes.size(inner)]))

    def _first(self, kind: types.CType, value: tree.Expression) -> Value:
        """The value of a part of an initialiser; an array of characters has none."""
        is_array = isinstance(types.unqualified(kind), types.ArrayType)
        return None if is_array else self.value(value)
