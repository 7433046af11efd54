"""Two outputs, bit by bit."""

from __future__ import annotations

from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """The first byte that differs; `None` stands for the end of the shorter output."""

    offset: int
    one: int | None
    two: int | None

    def __str__(self) -> str:
        def shown(byte: int | None) -> str:
            return "the end" if byte is None else f"{byte:02x}"

        return f"byte {self.offset}: {shown(self.one)}, not {shown(self.two)}"


def first_difference(one: bytes, two: bytes) -> Difference | None:
    """Where two outputs differ first, or None: they are the same bits."""
    if one == two:
        return None
    shorter = min(len(one), len(two))
    low, high = 0, shorter  # one[:low] == two[:low]; the first difference is at `high` at the latest
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return Difference(low, _byte(one, low), _byte(two, low))


def _byte(data: bytes, offset: int) -> int | None:
    return data[offset] if offset < len(data) else None
