"""Intervals of values of C expressions, with their types."""

from __future__ import annotations

from loopwright.c.syntax import Node
from loopwright.c.types import CType, Integer, common, promoted
from loopwright.lazy_dataclass import dataclass

Interval = tuple[int, int]


class NotShown(Exception):
    """An expression is not shown to stay within its type; the message names it."""


class Overflows(NotShown):
    """The only value of an expression is outside its type; the message names it."""

    def __init__(self, message: str, kind: Integer) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Typed:
    """The interval of values of an expression, and its C type."""

    least: int
    greatest: int
    type: CType

    def within(self, node: Node) -> Typed:
        """Returns self if the interval is within the type; raises an error otherwise."""
        kind, text = self.type, " ".join(node.text.split())
        if not isinstance(kind, Integer) or not kind.least <= self.least <= self.greatest <= kind.greatest:
            if isinstance(kind, Integer) and self.least == self.greatest:
                limits = f"not between {kind.least} and {kind.greatest}"
                raise Overflows(f"'{text}' is {self.least}, which is {limits}", kind)
            raise NotShown(f"'{text}' may be {self.least} or {self.greatest}")
        return self


TRUTH = Typed(0, 1, Integer(32, signed=True, rank=3))


def hull(sides: list[Typed], node: Node) -> Typed:
    kind = promoted(sides[0].type)
    for one in sides[1:]:
        kind = common(kind, one.type)
    low, high = min(one.least for one in sides), max(one.greatest for one in sides)
    return Typed(low, high, kind).within(node)


def truncated(value: int, divisor: int) -> int:
    return value // divisor if value >= 0 else -(-value // divisor)
