"""The memory that the threads of a block share: what a kernel declares, and what its launch has room for."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from loopwright.prove.reading.c_expressions import Unreadable

MOST_SHARED = 49152
"""Bytes of the arrays that a kernel declares as shared."""
MOST_ROOM = 232448
"""Bytes of these and of the one that its launch has room for."""
ROOM_RANK = 5
_BYTES = {"float": 4, "int": 4, "unsigned": 4, "double": 8, "long": 8}


def element_bytes(kind: str) -> int:
    """Of a type; more than a block has where it is not known."""
    return _BYTES.get(kind, MOST_ROOM + 1)


def check_room(
    kernel: str, buffers: Sequence[tuple[str, str, tuple[str, ...]]], room: int, late: int
) -> None:
    """The buffers of a kernel, and `late` bytes for copies, fit into the memory of a block.

    Those of five dimensions begin where the room of the launch does: there is one of them, as large.
    """
    total, large = late, 0
    for kind, _, sizes in buffers:
        size = prod(map(int, sizes)) * element_bytes(kind)
        if len(sizes) != ROOM_RANK:
            total += size
        elif size != room:
            raise Unreadable(f"{kernel} is launched with room for {room} bytes, and needs {size}")
        else:
            large += 1
    if total > MOST_SHARED or total + room > MOST_ROOM or large > 1:
        raise Unreadable(f"{kernel} has buffers of {total + room} bytes, more than a block has")
