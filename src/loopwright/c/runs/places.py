"""The places of lvalues in a run that is followed, and what is loaded from them and stored there."""

from __future__ import annotations

from abc import abstractmethod

from loopwright.c import types
from loopwright.c.runs.conversions import converted, element_of, moved
from loopwright.c.runs.initial_values import literal_bytes, parts_at
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
                self.memory.set_block(key, StoredBlock(None, dict(enumerate(literal_bytes(text) or b""))))
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
                key = (LOCAL, self.frame, id(listed))
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
        if not isinstance(types.unqualified(kind), types.Floating):
            self.memory.lose(self.is_seen)

    def is_seen(self, key: Key) -> bool:
        """Whether pointers that are not known may lead to a block."""
        return key[0] not in (LOCAL, TEXT, FUNCTION)

    def bit_field(self, node: tree.MemberAccess) -> Value:
        place, kind = self._field_bytes(node), integer_type(node.type)
        if place is None or kind is None:
            return None
        at, shift, size = place
        whole = decoded(self.memory.load(at, size), types.Integer(8 * size, signed=False, rank=5))
        return kind.converted(whole >> shift) if isinstance(whole, int) else None

    def store_bit_field(self, node: tree.MemberAccess, value: Value) -> None:
        place, kind = self._field_bytes(node), integer_type(node.type)
        if place is None or kind is None:
            self.store(self.place(node), types.INT, None)
            return
        at, shift, size = place
        plain = types.Integer(8 * size, signed=False, rank=5)
        before = decoded(self.memory.load(at, size), plain)
        if isinstance(before, int) and isinstance(value, int):
            mask = ((1 << kind.bits) - 1) << shift
            self.memory.store(at, encoded((before & ~mask) | (value << shift & mask), plain, size))
        else:
            self.memory.store(at, (None,) * size)

    def _field_bytes(self, node: tree.MemberAccess) -> tuple[Address, int, int] | None:
        """The first byte of a bit-field, how many bits are before it there, and how many bytes it is in."""
        outer = self.value(node.object) if node.is_arrow else self.place(node.object)
        bits, kind = self.bits(node), integer_type(node.type)
        if not isinstance(outer, Address) or outer.offset is None or bits is None or kind is None:
            return None
        first, shift = divmod(bits, 8)
        return Address(outer.block, outer.offset + first), shift, (shift + kind.bits + 7) // 8

    def initialise(self, key: Key, kind: types.CType, first: tree.Expression) -> None:
        """Give a new block the values of an initialiser; what a list leaves out is 0."""
        parts = parts_at(kind, first, self.sizes)
        stored = [(at, inner, one, self._first(inner, one)) for at, inner, one in parts or ()]
        is_whole = len(stored) == 1 and stored[0][2] is first
        self.memory.set_block(key, StoredBlock(None if is_whole or parts is None else 0))
        for at, inner, one, value in stored:
            text = literal_bytes(tree.without_casts(one)) if value is None else None
            if text is None:
                self.store(Address(key, at), inner, value)
            else:
                self.memory.store(Address(key, at), tuple(text))

    def _first(self, kind: types.CType, value: tree.Expression) -> Value:
        """The value of a part of an initialiser; an array of characters has none."""
        is_array = isinstance(types.unqualified(kind), types.ArrayType)
        return None if is_array else self.value(value)
