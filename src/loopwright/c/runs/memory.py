"""The memory of a run that is followed as far as the file shows: blocks of bytes, some of them unknown.

A byte is a number, a part of an address, or None: not known.  A block is a variable, what a call allocates,
or a string; what is not stored in it has its default, 0 or None.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple, Protocol

from loopwright.c import types
from loopwright.c.typed.known_values import integer_type
from loopwright.lazy_dataclass import dataclass

Key = tuple[object, ...]
GLOBAL, STATIC, LOCAL, HEAP, TEXT, FUNCTION = "global", "static", "local", "heap", "text", "function"
"""The first part of the key of a block."""


class Address(NamedTuple):
    """A place in a block; an unknown one if `offset` is None."""

    block: Key
    offset: int | None


class Image(NamedTuple):
    """The bytes of a struct."""

    bytes: tuple[Byte, ...]


Byte = int | tuple[Address, int] | None
Value = int | float | Address | Image | None
_ADDRESS = 8
_FLOATS = {32: "<f", 64: "<d"}


@dataclass
class StoredBlock:
    """Bytes by their offset; the others have the default."""

    default: int | None
    bytes: dict[int, Byte] = field(default_factory=dict)

    def at(self, offset: int) -> Byte:
        return self.bytes.get(offset, self.default)


class FirstBlock(Protocol):
    """The block of a variable that nothing has changed; whether other files may have changed it."""

    def __call__(self, key: Key, *, is_lost: bool) -> StoredBlock: ...


@dataclass
class RunMemory:
    """Blocks, which copies share until one of them changes a block."""

    first: FirstBlock
    blocks: dict[Key, StoredBlock] = field(default_factory=dict)
    own: set[Key] = field(default_factory=set)
    """The blocks that no copy shares."""
    is_lost: bool = False
    """Whether functions of other files may have changed the variables that these see."""
    is_doubtful: bool = False
    """Whether such a function was called under a condition, from which it may not have returned."""
    has_lost_fractions: bool = False
    """Whether a floating-point number was stored at an unknown place."""

    def copy(self) -> RunMemory:
        self.own.clear()
        flags = self.is_lost, self.is_doubtful, self.has_lost_fractions
        return RunMemory(self.first, dict(self.blocks), set(), *flags)

    def block(self, key: Key) -> StoredBlock:
        found = self.blocks.get(key)
        return self.first(key, is_lost=self.is_lost) if found is None else found

    def changed(self, key: Key) -> StoredBlock:
        """A block that may be changed."""
        if key not in self.own:
            found = self.block(key)
            self.blocks[key] = StoredBlock(found.default, dict(found.bytes))
            self.own.add(key)
        return self.blocks[key]

    def set_block(self, key: Key, block: StoredBlock) -> None:
        self.blocks[key] = block
        self.own.add(key)

    def forget(self, key: Key) -> None:
        self.set_block(key, StoredBlock(None))

    def lose(self, is_seen: Callable[[Key], bool]) -> None:
        """Forget the blocks that are seen elsewhere, and the variables of the file."""
        self.is_lost = True
        for key in [one for one in self.blocks if is_seen(one)]:
            self.forget(key)

    def reached(self, value: Value) -> Iterator[Key]:
        """The blocks that an address leads to, by the addresses in them too."""
        pending, seen = [value], set[Key]()
        while pending:
            one = pending.pop()
            if isinstance(one, Address) and one.block not in seen and one.block[0] != FUNCTION:
                seen.add(one.block)
                yield one.block
                inside = self.block(one.block).bytes.values()
                pending += [part[0] for part in inside if isinstance(part, tuple) and not part[1]]

    def join(self, other: RunMemory) -> bool:
        """Keep what two runs agree on; whether that is less than was known."""
        is_less = (other.is_lost and not self.is_lost) or (
            other.has_lost_fractions and not self.has_lost_fractions
        )
        for key in [*self.blocks, *(one for one in other.blocks if one not in self.blocks)]:
            mine, theirs = self.blocks.get(key), other.blocks.get(key)
            if mine is theirs:
                continue
            if key[0] in (GLOBAL, STATIC):
                mine, theirs = self.block(key), other.block(key)
            if mine is None and theirs is not None:
                self.blocks[key] = theirs
            elif mine is not None and theirs is not None:
                both = _both(mine, theirs)
                is_less = is_less or both.default != mine.default or both.bytes != mine.bytes
                self.set_block(key, both)
        self.is_lost = self.is_lost or other.is_lost
        self.has_lost_fractions = self.has_lost_fractions or other.has_lost_fractions
        self.is_doubtful = self.is_doubtful and other.is_doubtful
        other.own.clear()
        return is_less

    def load(self, place: Address, size: int) -> tuple[Byte, ...]:
        block = self.block(place.block)
        if place.offset is None:
            return (None,) * size
        return tuple(block.at(place.offset + k) for k in range(size))

    def store(self, place: Address, bytes_: Sequence[Byte]) -> None:
        if place.offset is None:
            self.forget(place.block)
            return
        self.changed(place.block).bytes.update(enumerate(bytes_, place.offset))


def _both(one: StoredBlock, other: StoredBlock) -> StoredBlock:
    default = one.default if one.default == other.default else None
    found = {at: (byte if byte == other.at(at) else None) for at, byte in one.bytes.items()}
    for at, byte in other.bytes.items():
        if at not in found:
            found[at] = byte if byte == one.at(at) else None
    return StoredBlock(default, found)


def decoded(bytes_: Sequence[Byte], kind: types.CType) -> Value:
    """The value of a type that bytes stand for; None if one of them is not known."""
    if None in bytes_ or not bytes_:
        return None
    if isinstance(types.unqualified(kind), types.Record):
        return Image(tuple(bytes_))
    numbers = bytes([one for one in bytes_ if isinstance(one, int)])
    if len(numbers) < len(bytes_):
        first = bytes_[0]
        address = first[0] if isinstance(first, tuple) else None
        is_whole = tuple(bytes_) == tuple((address, k) for k in range(_ADDRESS))
        return address if is_whole else Image(tuple(bytes_))
    match types.unqualified(kind):
        case types.Floating(bits=bits, is_complex=False) if bits in _FLOATS:
            value: float = struct.unpack(_FLOATS[bits], numbers)[0]
            return value
        case types.Floating():
            return None
    integer = integer_type(kind)
    return int.from_bytes(numbers, "little", signed=integer is not None and integer.signed)


def encoded(value: Value, kind: types.CType, size: int) -> tuple[Byte, ...]:
    """The bytes of a value of a type."""
    match value:
        case Image(bytes=inside):
            return inside if len(inside) == size else (None,) * size
        case Address() if size == _ADDRESS:
            return tuple((value, k) for k in range(size))
        case int() if not isinstance(types.unqualified(kind), types.Floating):
            return tuple((value & ((1 << 8 * size) - 1)).to_bytes(size, "little"))
        case int() | float():
            bits = 8 * size
            return tuple(struct.pack(_FLOATS[bits], value)) if bits in _FLOATS else (None,) * size
    return (None,) * size


@dataclass(frozen=True)
class TypeSizes:
    """The sizes of types in bytes, and the places of members."""

    records: Callable[[], Mapping[str, types.Record]]
    """The structs by their tags: inside itself, and where it is declared later, a struct is only a tag."""

    def whole(self, kind: types.CType) -> types.CType:
        """A type with its members."""
        kind = types.unqualified(kind)
        if isinstance(kind, types.Record) and kind.fields is None:
            return self.records().get(kind.tag, kind)
        return kind

    def size(self, kind: types.CType) -> int | None:
        match self.whole(kind):
            case (types.Integer() | types.Floating()) as number:
                return types.stored_bytes(number)
            case types.Enumeration(integer=integer):
                return types.stored_bytes(integer)
            case types.Pointer():
                return _ADDRESS
            case types.Void() | types.FunctionType():
                return 1
            case types.ArrayType(element=element, length=int(length)):
                inner = self.size(element)
                return None if inner is None else inner * length
            case types.Record(bytes=size):
                return size
        return None

    def member(self, kind: types.CType, name: str) -> tuple[int, types.CType] | None:
        """The place of a member in bits, in a struct inside the struct too if that has no name."""
        record = self.whole(kind)
        for one in (record.fields or ()) if isinstance(record, types.Record) else ():
            if one.name == name:
                return one.offset, one.type
            if "anonymous" in one.name or not one.name:
                inner = self.member(one.type, name)
                if inner is not None:
                    return one.offset + inner[0], inner[1]
        return None
