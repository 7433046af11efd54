"""Tiles, seen in a schedule: the entries of its vectors that count them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Statement
from loopwright.presburger.sets import DIV, IN, OUT
from loopwright.show.small import Coordinates, Instance

FEWEST = 2
"""Instances in a tile, on the average: outlines around single dots say nothing."""


@dataclass(frozen=True)
class DrawnTile:
    """The instances of one tile, numbered in the order the tiles run."""

    number: int
    instances: tuple[Instance, ...]


def tiles(
    statements: Sequence[Statement], schedules: Mapping[str, isl.Map], after: Mapping[Instance, Coordinates]
) -> tuple[DrawnTile, ...]:
    """Instances whose times agree in the entries that count tiles, numbered by the first to run.

    Of tiles inside tiles the largest number of levels counts that leaves several instances in one.
    """
    places = {statement.name: _counting(schedules[statement.name]) for statement in statements}
    for levels in range(max((len(own) for own in places.values()), default=0), 0, -1):
        found = _agreeing({name: own[:levels] for name, own in places.items()}, after)
        if levels == 1 or sum(len(tile.instances) for tile in found) >= FEWEST * len(found):
            return found
    return ()


def _agreeing(
    places: Mapping[str, Sequence[int]], after: Mapping[Instance, Coordinates]
) -> tuple[DrawnTile, ...]:
    """The instances by the entries of their times at `places`, and by the loops those count."""
    members: dict[Coordinates, list[Instance]] = {}
    for instance in sorted(after, key=lambda one: after[one]):
        own, time = places[instance[0]], after[instance]
        if own:
            key = (*time[0 : own[-1] : 2], *(time[place] for place in own))
            members.setdefault(key, []).append(instance)
    return tuple(DrawnTile(k + 1, tuple(inside)) for k, inside in enumerate(members.values()))


def _counting(schedule: isl.Map) -> list[int]:
    """The entries that grow by less than one from an iteration to the next.

    A quotient such as ⌊(i + 2t)/32⌋ has the slope 1/32 along i; a remainder i − 32⌊i/32⌋ has the
    slope 0, and an iterator a whole number.
    """
    slopes = _slopes(schedule)
    return sorted({place for place, own in slopes if any(one.denominator > 1 for one in own)})


def cut_loops(schedule: isl.Map) -> set[int]:
    """The iterators whose loops are cut into tiles."""
    return {k for _, own in _slopes(schedule) for k, one in enumerate(own) if one.denominator > 1}


def leans(schedules: Iterable[isl.Map]) -> bool:
    """Whether an entry of a schedule grows along two iterators: lines on which it is constant slant."""
    entries = [own for schedule in schedules for _, own in _slopes(schedule)]
    return any(sum(one != 0 for one in own) > 1 for own in entries)


def _slopes(schedule: isl.Map) -> list[tuple[int, list[Fraction]]]:
    """For each entry of a piece, how much it grows along the iterators."""
    found: list[tuple[int, list[Fraction]]] = []

    def visit(domain: isl.Set, function: isl.MultiAff) -> None:
        for place in range(int(schedule.dim(OUT))):
            entry = function.get_aff(place)
            found.append((place, [_slope(entry, k) for k in range(entry.dim(IN))]))

    isl.PwMultiAff.from_map(schedule).foreach_piece(visit)
    return found


def _slope(entry: isl.Aff, k: int) -> Fraction:
    """How much the entry grows along iterator `k`, its roundings left out."""
    slope = Fraction(str(entry.get_coefficient_val(IN, k)))
    for number in range(entry.dim(DIV)):
        factor = Fraction(str(entry.get_coefficient_val(DIV, number)))
        if factor:
            slope += factor * _slope(entry.get_div(number), k)
    return slope
