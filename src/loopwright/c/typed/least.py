"""Sets defined in terms of each other: their least fixed point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Generic, TypeVar

from loopwright.lazy_dataclass import dataclass

Element = TypeVar("Element")


@dataclass
class LeastSets(Generic[Element]):
    """The least sets that satisfy the constraints of the file, computed on demand."""

    known: dict[tuple[object, ...], frozenset[Element]] = field(default_factory=dict)
    pending: set[tuple[object, ...]] = field(default_factory=set)
    done: set[tuple[object, ...]] = field(default_factory=set)
    has_grown: bool = False

    def least(self, key: tuple[object, ...], compute: Callable[[], frozenset[Element]]) -> frozenset[Element]:
        """The set of a key, computed from other sets.

        A set requested during its own computation is what is known of it so far; the outermost request
        repeats until nothing grows:  X = F(X), from below, as sets only grow and the file is finite.
        """
        if key in self.done or key in self.pending:
            return self.known.get(key, frozenset())
        is_first, stable = not self.pending, {*self.done} if not self.pending else set()
        while True:
            self.pending.add(key)
            found = compute() | self.known.get(key, frozenset())
            self.pending.discard(key)
            self.has_grown = self.has_grown or found != self.known.get(key, frozenset())
            self.known[key] = found
            self.done.add(key)
            if not is_first or not self.has_grown:
                return found
            self.has_grown, self.done = False, {*stable}
