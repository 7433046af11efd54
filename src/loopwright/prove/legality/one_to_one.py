"""θ' is a function, defined on every instance, and no two instances have the same time.

θ'(s, i) = θ'(t, j)  implies  s = t and i = j          [Namjoshi2016, section 4.1]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations_with_replacement

import islpy as isl

from loopwright.presburger.sets import union
from loopwright.prove.legality.precedence import pair_orders, same_time
from loopwright.prove.legality.times import TimedPiece
from loopwright.prove.legality.violation import (
    Defect,
    DefectKind,
    WitnessContext,
    collision,
    occurrence,
    smallest,
)


def not_a_function(context: WitnessContext, known: Collection[str] = ()) -> list[Defect]:
    """For each statement of which it is not `known`, the smallest instance that has no time, or two."""
    found: list[Defect] = []
    for statement in context.program.statements:
        if statement.name in known:
            continue
        schedule = context.schedules[statement.name]
        domain = statement.domain.intersect_params(context.program.context)
        missing = domain.subtract(schedule.domain())
        if not missing.is_empty():
            found.append(_unscheduled(context, statement.name, missing))
        elif not schedule.is_single_valued():
            found.append(_scheduled_twice(context, statement.name, schedule))
    return found


def _unscheduled(context: WitnessContext, name: str, missing: isl.Set) -> Defect:
    point = smallest(missing)
    shown = occurrence(context, name, point.coordinates, point.parameters, ())
    return Defect(DefectKind.UNSCHEDULED, point.parameters, (shown,), ())


def _scheduled_twice(context: WitnessContext, name: str, schedule: isl.Map) -> Defect:
    """Two different times t ≺ t' of one instance."""
    twice = schedule.range_product(schedule)
    earlier = isl.Map.lex_lt(schedule.get_space().range()).wrap()
    point = smallest(twice.intersect_range(earlier).wrap())
    depth = context.program.statement(name).depth
    width = (len(point.coordinates) - depth) // 2
    instance, times = point.coordinates[:depth], point.coordinates[depth:]
    shown = occurrence(context, name, instance, point.parameters, times[:width])
    return Defect(DefectKind.SCHEDULED_TWICE, point.parameters, (shown,), (times[:width], times[width:]))


def collisions(context: WitnessContext, pieces: Mapping[str, tuple[TimedPiece, ...]]) -> list[Defect]:
    """For each two statements, the smallest pair of instances at the same time."""
    found: list[Defect] = []
    for one, other in combinations_with_replacement(pieces, 2):
        if all(_apart(first, second) for first in pieces[one] for second in pieces[other]):
            continue
        wrong = _colliding(context, one, other, pieces)
        if wrong is not None:
            found.append(collision(context, wrong, (one, other)))
    return sorted(found, key=lambda item: sum(map(abs, item.parameters.values())))


def _colliding(
    context: WitnessContext, one: str, other: str, pieces: Mapping[str, tuple[TimedPiece, ...]]
) -> isl.Set | None:
    space = _domain(context, one).get_space().map_from_domain_and_range(_domain(context, other).get_space())
    found = []
    pairs: isl.Map | None = None
    for order in pair_orders(pieces[one], pieces[other], space):
        if _apart(order.first, order.second):
            continue
        if pairs is None:
            pairs = _pairs(context, one, other)
        wrong = same_time(pairs, order)
        if wrong is not None:
            found.append(wrong)
    return union(found) if found else None


def _apart(first: TimedPiece, second: TimedPiece) -> bool:
    """Whether a position differs: almost always, for two statements."""
    return any(
        isinstance(a, int) and isinstance(b, int) and a != b
        for a, b in zip(first.entries, second.entries, strict=True)
    )


def _domain(context: WitnessContext, name: str) -> isl.Set:
    return context.schedules[name].domain()


def _pairs(context: WitnessContext, one: str, other: str) -> isl.Map:
    """All pairs of instances; of one statement, each two different ones once."""
    mine, theirs = _domain(context, one), _domain(context, other)
    if one == other:
        return isl.Map.lex_lt(mine.get_space()).intersect_domain(mine).intersect_range(mine)
    return isl.Map.from_domain_and_range(mine, theirs)
