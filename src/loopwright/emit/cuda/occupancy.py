"""How many warps or blocks with arrays in registers can run on a multiprocessor at a time."""

from __future__ import annotations

from math import prod

from loopwright.emit.cuda.launches import SHARED_TILE
from loopwright.model.program import Array

_REGISTERS = 16384
"""Of each of the four parts of a multiprocessor, which has warps of its own."""


def resident_blocks(array: Array) -> int:
    """How many blocks can run on a multiprocessor; where several warps share a tile, a block has these."""
    warps = resident_warps(array)
    return max(warps // int(array.extents[0]), 1) if array.rank == SHARED_TILE else warps


def resident_warps(array: Array) -> int:
    """How many warps can run on a multiprocessor whose lanes keep an array of `stream` in registers.

    Of each level but the last, two rows live from one step to the next, and the columns beside one row; of
    the first one, a row that is loaded.  The outermost strips need no columns beside.  Addresses and what is
    being computed take some 36 more, and 12 more where three steps are written out, so that no row moves.
    """
    levels, _, *strips, width = map(int, array.extents[2 if array.rank == SHARED_TILE else 1 :])
    columns, count, inner = width - 2, prod(strips), prod(one - 2 for one in strips)
    words = (levels - 1) * (2 * columns * count + 2 * inner) + columns * count
    registers = (2 if array.element_type == "double" else 1) * words + (36 if strips else 48)
    return 4 * max(_REGISTERS // (32 * 8 * -(-registers // 8)), 2)
