"""What is said of an operation that is not modelled."""

from __future__ import annotations

from loopwright.errors import Code, GaveUp
from loopwright.source import Span


class NotModelled(GaveUp):
    """An operation of which it is not known what it does."""

    def __init__(self, what: str, place: Span) -> None:
        super().__init__(Code.UNDECIDED, f"not modelled: {what} at line {place.line}", span=place)
