"""Shapes of relations up to the names of statements: a fact about one pair holds for all of equal shape.

A nest of many statements has many pairs, but few kinds of them: domains, times and accesses are the same but
for the names of the statements and for their positions.  Of two positions it matters only which comes first.
Shapes that are equal are of equal relations; of equal relations they may differ, and then nothing is shared.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.sets import IN, OUT


@dataclass(frozen=True)
class TimeShape:
    """The times of the instances of a statement; `numbers` are its entries that are one for all of them."""

    text: str
    numbers: tuple[int | None, ...]


def time_shape(schedule: isl.Map) -> TimeShape:
    numbers: list[int | None] = []
    for k in range(schedule.dim(OUT)):
        value = schedule.plain_get_val_if_fixed(OUT, k)
        numbers.append(int(value.to_python()) if value.is_int() else None)
    rest = schedule
    for k in reversed(range(len(numbers))):
        if numbers[k] is not None:
            rest = rest.project_out(OUT, k, 1)
    return TimeShape(relation_shape(rest), tuple(numbers))


def relation_shape(relation: isl.Map) -> str:
    """A relation without the name of its domain."""
    return str(relation.reset_tuple_id(IN) if relation.has_tuple_id(IN) else relation)


def order_shape(first: TimeShape, second: TimeShape) -> Hashable:
    """The facts that determine whether times of the first come before times of the second.

    Entries are compared one by one; of two numbers the result is a sign, whatever they are.
    """
    return first.text, second.text, _signs(first.numbers, second.numbers)


@lru_cache(maxsize=1 << 16)
def _signs(first: tuple[int | None, ...], second: tuple[int | None, ...]) -> tuple[Hashable, ...]:
    return tuple(
        (mine > theirs) - (mine < theirs) if mine is not None and theirs is not None else (mine, theirs)
        for mine, theirs in zip(first, second, strict=True)
    )


def renamed(relation: isl.Map, source: str, sink: str) -> isl.Map:
    """The same pairs, as those of two statements."""
    return relation.set_tuple_name(IN, source).set_tuple_name(OUT, sink)
