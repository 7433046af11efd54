"""Where shadows lie.

Every shadow lies alone in a quarter of a terabyte of address space: a subscript that is far out
ends in a fault, after which the precise run tells what happened, and never in another shadow.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.check.algorithms.scheme import Scheme
from loopwright.check.original.specification import Specification, box
from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass

FIRST_PLACE = 0x100000000000
ROOM = 1 << 38


@dataclass(frozen=True)
class Shadow:
    """Where the shadow of an array lies: cell w at `address` + `size` · its row-major position."""

    array: str
    address: int
    size: int
    extent: tuple[tuple[int, int], ...]

    @property
    def bytes(self) -> int:
        cells = 1
        for low, high in self.extent:
            cells *= high - low + 1
        return cells * self.size

    def cell(self, texts: Sequence[str]) -> str:
        """The shadow of the cell with these subscripts, an lvalue."""
        index = "0"
        for text, (low, high) in zip(texts, self.extent, strict=True):
            own = text if low == 0 else f"({text} - {low})" if low > 0 else f"({text} + {-low})"
            index = own if index == "0" else f"({index}) * {high - low + 1}L + {own}"
        return f"((lw_code{self.size} *){self.address:#x}UL)[{index}]"

    def compared(self, texts: Sequence[str], code: str) -> str:
        """A statement that leaves a trace if the cell does not hold `code`.

        In numbers as wide as the shadow: the fewer bytes, the more of them in a vector register.
        """
        return f"dif{self.size} |= {self.cell(texts)} ^ (lw_code{self.size})({code})"


def shadows(spec: Specification, scheme: Scheme) -> dict[str, Shadow]:
    """The shadow of every array that is written; GaveUp where one is too large."""
    found: dict[str, Shadow] = {}
    for number, array in enumerate(spec.written):
        cells = spec.footprint(array)
        if cells.is_empty():
            continue
        shadow = Shadow(array, FIRST_PLACE + number * ROOM + ROOM // 4, scheme.size[array], box(cells))
        if shadow.bytes > ROOM // 4:
            raise GaveUp(
                Code.SIZE, f"the shadow of {array} is too large", hint="check a smaller problem size"
            )
        found[array] = shadow
    return found
