"""Sets defined in terms of each other: their least fixed point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Generic, TypeVar

from loopwright.lazy_dataclass import dataclass

Element = TypeVar("Element")
_Key = tuple[object, ...]


@dataclass
class LeastSets(Generic[Element]):
    """The least sets that satisfy the constraints of the file, computed on demand."""

    known: dict[_Key, frozenset[Element]] = field(default_factory=dict)
    computed_by: dict[_Key, Callable[[], frozenset[Element]]] = field(default_factory=dict)
    readers: dict[_Key, dict[_Key, None]] = field(default_factory=dict)
    """For each set, those that were computed from it."""
    active: list[_Key] = field(default_factory=list)
    """The sets that are being computed, the innermost last."""
    pending: dict[_Key, None] = field(default_factory=dict)
    """The sets to compute again, as one that they were computed from has grown."""

    def least(self, key: _Key, compute: Callable[[], frozenset[Element]]) -> frozenset[Element]:
        """The set of a key, computed from other sets.

        A set requested during its own computation is what is known of it so far.  Each set that was computed
        from one that has grown since is computed again, before the outermost request is answered:
        X = F(X), from below, as sets only grow and the file is finite.
        """
        if key not in self.known:
            self.known[key] = frozenset()
            self.computed_by[key] = compute
            self._compute(key)
        if self.active:
            self.readers.setdefault(key, {})[self.active[-1]] = None
        while self.pending and not self.active:
            again = next(iter(self.pending))
            del self.pending[again]
            self._compute(again)
        return self.known[key]

    def _compute(self, key: _Key) -> None:
        """Compute a set; those computed from it before are pending if it grows."""
        self.active.append(key)
        found = self.known[key] | self.computed_by[key]()
        self.active.pop()
        if found != self.known[key]:
            self.known[key] = found
            self.pending |= self.readers.get(key, {})
