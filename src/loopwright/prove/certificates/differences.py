"""What new loops need not do as the original does, and the checker is told of."""

from __future__ import annotations

from collections.abc import Collection

from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Owned:
    """In a loop around some of these statements and no others each iteration has its own `array`."""

    array: str
    statements: Collection[str]
    last: bool = False
    """Whether the copy of the last iteration is kept."""


@dataclass(frozen=True)
class AllowedDifferences:
    """What new loops need not do as the original does."""

    combining: tuple[str, ...] = ()
    """Statements that are steps of reductions, of which the user allows any order."""
    private: tuple[Owned, ...] = ()
    """Of these each iteration of a parallel loop has its own, whose values are not compared; the copy of the
    iteration that writes last holds what the original leaves, and which one that is, legality proves."""
    temporaries: tuple[str, ...] = ()
    """These may hold other values in between: loops are then checked in sequence, without copies."""


NO_DIFFERENCES = AllowedDifferences()
