"""Selects the outlines in the order after the script: tiles, or the loops of a directive.

Tiles, seen in a schedule: the entries of its vectors that count them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from fractions import Fraction

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Statement
from loopwright.presburger.functions import functions_of
from loopwright.presburger.sets import DIV, IN, OUT
from loopwright.show.small import Coordinates, Instance
from loopwright.transform.directives import DirectiveKind, LoopDirective
from loopwright.transform.plan import Plan
from loopwright.transform.vectors import pieces


class TileOrder(Enum):
    """The execution order of instances in outlines."""

    ONE_BY_ONE = "one by one"
    BESIDE = "each outline in its own order, beside the others"
    AT_ONCE = "all of an outline at once"


@dataclass(frozen=True)
class Outlines:
    """Sets of instances and what it means to be in one of them."""

    meaning: str = "tile"
    tiles: tuple[DrawnTile, ...] = ()
    order: TileOrder = TileOrder.ONE_BY_ONE
    rest: str = ""
    """What those are called that are smaller than the others, where that makes a difference."""

    def is_rest(self, tile: DrawnTile) -> bool:
        return bool(self.rest) and len(tile.instances) < max(len(one.instances) for one in self.tiles)


def outlines(
    plan: Plan,
    statements: Sequence[Statement],
    schedules: Mapping[str, isl.Map],
    after: Mapping[Instance, Coordinates],
) -> Outlines:
    """Tiles where there are some; otherwise what the last wish is about, or the parts of a split."""
    directives = {one.kind: one for one in plan.directives}
    found = tiles(statements, schedules, after)
    if found:
        rest = "the rest" if {DirectiveKind.UNROLL, DirectiveKind.ISOLATE} & set(directives) else ""
        return Outlines(_called(directives), found, rest=rest)
    if DirectiveKind.BLOCK in directives:
        blocks = _iterations(directives[DirectiveKind.BLOCK], after)
        return Outlines("runs in one block", blocks, TileOrder.BESIDE)
    if DirectiveKind.THREAD in directives:
        lanes = _lanes(directives[DirectiveKind.THREAD], after)
        return Outlines("runs at once, in the threads of a block", lanes, TileOrder.AT_ONCE)
    if DirectiveKind.PARALLEL in directives:
        return _side_by_side(directives[DirectiveKind.PARALLEL], after)
    if DirectiveKind.VECTORIZE in directives:
        rows = _lanes(directives[DirectiveKind.VECTORIZE], after)
        return Outlines("runs at once, in the lanes of vectors", rows, TileOrder.AT_ONCE)
    if DirectiveKind.UNROLL in directives:
        return Outlines("unrolled", _lanes(directives[DirectiveKind.UNROLL], after))
    if DirectiveKind.SEPARATE in directives:
        return Outlines("a loop of its own", _separated(directives[DirectiveKind.SEPARATE], after))
    split = {one.name for one in statements if len(pieces(schedules[one.name])) > 1}
    return Outlines("a loop of its own", _parts(split, after)) if split else Outlines()


def _side_by_side(wish: LoopDirective, after: Mapping[Instance, Coordinates]) -> Outlines:
    """The iterations of a parallel loop; where each is one instance, all of one run of the loop."""
    found = _iterations(wish, after)
    if all(len(tile.instances) == 1 for tile in found):
        return Outlines("runs in parallel, in any order", _lanes(wish, after), TileOrder.AT_ONCE)
    return Outlines("one iteration of the parallel loop", found, TileOrder.BESIDE)


def _called(directives: Mapping[DirectiveKind, LoopDirective]) -> str:
    if DirectiveKind.UNROLL in directives:
        return "unrolled"
    return "full tile" if DirectiveKind.ISOLATE in directives else "tile"


def _is_about(wish: LoopDirective, instance: Instance, time: Coordinates) -> bool:
    return instance[0] in wish.statements and time[0 : wish.dimension : 2] in wish.paths


def _grouped(keys: Iterable[tuple[object, Instance]]) -> tuple[DrawnTile, ...]:
    members: dict[object, list[Instance]] = {}
    for key, instance in keys:
        members.setdefault(key, []).append(instance)
    return tuple(DrawnTile(k + 1, tuple(inside)) for k, inside in enumerate(members.values()))


def _iterations(wish: LoopDirective, after: Mapping[Instance, Coordinates]) -> tuple[DrawnTile, ...]:
    """Those of one iteration of the loop: times that agree up to its entry."""
    return _grouped(
        (time[: wish.dimension + 1], one) for one, time in _ordered(after) if _is_about(wish, one, time)
    )


def _lanes(wish: LoopDirective, after: Mapping[Instance, Coordinates]) -> tuple[DrawnTile, ...]:
    """Those of all iterations of one run of the loop: times that agree before its entry."""
    return _grouped(
        (time[: wish.dimension], one) for one, time in _ordered(after) if _is_about(wish, one, time)
    )


def _separated(wish: LoopDirective, after: Mapping[Instance, Coordinates]) -> tuple[DrawnTile, ...]:
    """Iterations of the loop in which the same statements run, as far as they follow each other."""
    iterations: dict[Coordinates, list[Instance]] = {}
    for one, time in _ordered(after):
        if _is_about(wish, one, time):
            iterations.setdefault(time[: wish.dimension + 1], []).append(one)
    return _grouped(
        ((time[: wish.dimension], frozenset(name for name, _ in inside)), one)
        for time, inside in iterations.items()
        for one in inside
    )


def _parts(split: set[str], after: Mapping[Instance, Coordinates]) -> tuple[DrawnTile, ...]:
    """The statements of each part of a split."""
    return _grouped((time[0::2], one) for one, time in _ordered(after) if one[0] in split)


def _ordered(after: Mapping[Instance, Coordinates]) -> list[tuple[Instance, Coordinates]]:
    return sorted(after.items(), key=lambda item: (item[1], item[0]))


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
    for function in functions_of(schedule):
        for place in range(function.dim(OUT)):
            entry = function.get_aff(place)
            found.append((place, [_slope(entry, k) for k in range(entry.dim(IN))]))
    return found


def _slope(entry: isl.Aff, k: int) -> Fraction:
    """How much the entry grows along iterator `k`, its roundings left out."""
    slope = Fraction(str(entry.get_coefficient_val(IN, k)))
    for number in range(entry.dim(DIV)):
        factor = Fraction(str(entry.get_coefficient_val(DIV, number)))
        if factor:
            slope += factor * _slope(entry.get_div(number), k)
    return slope
