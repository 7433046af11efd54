"""Schedule vectors (p0, j1, p1, ..., jM, pM): positions and iteration numbers [Namjoshi2016, section 3.2].

Entry 2k is the position p_k, entry 2k - 1 the iteration number j_k.  Positions are constants on
each piece of a statement's schedule; loops are counted from 0, so loop l has iteration number
j_(l+1), at entry 2l + 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.presburger import dimensions
from loopwright.presburger.dimensions import all_points, first
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM, IN, OUT, integer

Position: TypeAlias = tuple[int, ...]
"""(p0, ..., pM): the path from the root of the syntax tree to a statement."""


def entry(loop: int) -> int:
    """The index in the schedule vector of the iteration number of a loop, counted from 0."""
    return 2 * loop + 1


def loops_of(schedule: isl.Map) -> int:
    """M: the number of iteration numbers in the vectors."""
    return (int(schedule.dim(OUT)) - 1) // 2


def pieces(schedule: isl.Map) -> tuple[tuple[Position, isl.Map], ...]:
    """The schedule as parts of one position each, in the order of the positions."""
    found: dict[Position, isl.Map] = {}
    for basic in schedule.get_basic_maps():
        part = basic.to_map()
        fixed = _fixed(part)
        for position in _positions(part) if fixed is None else [fixed]:
            here = part if fixed is not None else part.intersect_range(at(part, position))
            found[position] = found[position].union(here) if position in found else here
    return tuple(sorted(found.items(), key=lambda item: item[0]))


def _fixed(part: isl.Map) -> Position | None:
    """The position, if it is constant in isl."""
    values = [part.plain_get_val_if_fixed(OUT, place) for place in range(0, part.dim(OUT), 2)]
    if all(value.is_int() for value in values):
        return tuple(map(integer, values))
    return None


def _positions(part: isl.Map) -> Iterator[Position]:
    positions = without_parameters(part.range())
    for loop in reversed(range(loops_of(part))):
        positions = positions.project_out(DIM, entry(loop), 1)
    if not positions.is_bounded():
        raise InternalError(Code.INTERNAL, "a statement has a position that is not a constant")
    yield from all_points(positions)


def at(schedule: isl.Map, prefix: Position) -> isl.Set:
    """The schedule vectors whose first positions are `prefix`."""
    vectors = isl.Set.universe(schedule.get_space().range())
    for k, value in enumerate(prefix):
        vectors = vectors.fix_val(DIM, 2 * k, isl.Val(value))
    return vectors


def moved(piece: isl.Map, offset: Position) -> isl.Map:
    """(p, j) -> (p + offset, j)."""
    shift = isl.MultiAff.identity_on_domain_space(piece.get_space().range())
    for k, amount in enumerate(offset):
        if amount:
            shift = shift.set_aff(2 * k, shift.get_aff(2 * k).add_constant_val(isl.Val(amount)))
    return piece.apply_range(isl.Map.from_multi_aff(shift))


def iteration_numbers(piece: isl.Map, count: int) -> isl.Map:
    """Instances -> (j1, ..., jcount)."""
    numbers = first(piece, OUT, 2 * count)
    for loop in reversed(range(count)):
        numbers = numbers.project_out(OUT, 2 * loop, 1)
    return numbers


def rewritten(piece: isl.Map, function: isl.Map, position: Position) -> isl.Map:
    """((q, j)) -> (`position`, f(j1 ... ja), j(a+1), ..., jM) for the function f: Z^a -> Z^b."""
    taken, given = int(function.dim(IN)), int(function.dim(OUT))
    rest = loops_of(piece) - taken
    step = function
    for loop in range(taken):
        step = step.insert_dims(IN, 2 * loop, 1)
    for loop in range(given):
        step = step.insert_dims(OUT, 2 * loop, 1)
    step = step.add_dims(IN, 1 + 2 * rest).add_dims(OUT, 1 + 2 * rest)
    for k, value in enumerate(position):
        step = step.fix_val(OUT, 2 * k, isl.Val(value))
    for loop in range(rest):
        step = step.equate(IN, entry(taken + loop), OUT, entry(given + loop))
    return piece.apply_range(step)


def padded(schedule: isl.Map, loops: int) -> isl.Map:
    """The vectors with `loops` iteration numbers: zeros are appended, or trailing ones dropped."""
    wanted, length = 2 * loops + 1, int(schedule.dim(OUT))
    if wanted <= length:
        return first(schedule, OUT, wanted)
    return dimensions.padded(schedule, wanted)


def step_after(position: Position, place: Position, depth: int) -> Position:
    """Advance by one the positions from `place` on in the body of the loop at `depth`."""
    later = position[:depth] == place[:depth] and position[depth] >= place[depth]
    return tuple(int(later and k == depth) for k in range(len(position)))


def padded_position(position: Position, loops: int) -> Position:
    return (*position, *(0,) * (loops + 1 - len(position)))[: loops + 1]
