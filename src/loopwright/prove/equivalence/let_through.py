"""Conditions that stand before a region, and the inputs that they let through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopwright.c.syntax import Node, identifiers, walk
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.equivalence.known_numbers import KnownNumbers

Inputs = Mapping[tuple[str, tuple[int, ...]], float]
"""What cells hold at first, those that make a difference."""


@dataclass(frozen=True)
class AssumedCondition:
    """A condition that inputs decide, how they do where the region is reached, and what is known there."""

    test: Node
    is_true: bool
    known: KnownNumbers

    def holds(self, given: Inputs) -> bool:
        """Whether inputs decide it so: other cells than these may hold anything."""
        scalars = {name: value for (name, subscripts), value in given.items() if not subscripts}
        known = replace(self.known, values={**self.known.values, **scalars}, cells=given)
        value = known.value(self.test)
        if value is not None:
            return bool(value) == self.is_true
        return not self._reads(known, given, set(scalars))

    def _reads(self, known: KnownNumbers, given: Inputs, scalars: set[str]) -> bool:
        """Whether it may read one of these cells; a pointer by itself is none."""
        arrays = {name for name, subscripts in given if subscripts}
        for part in walk(self.test):
            match part.type:
                case "identifier" if part.text in scalars:
                    return True
                case "subscript_expression":
                    place = known.place_of(part)
                    if place in given or (place is None and not arrays.isdisjoint(identifiers(part))):
                        return True
                case "pointer_expression" | "field_expression" if not arrays.isdisjoint(identifiers(part)):
                    return True
        return False
