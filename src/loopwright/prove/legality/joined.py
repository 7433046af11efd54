"""Copies to a cell by several tiles, seen as one write where it does not matter which tile it was.

A copy κ at time θ(κ) writes the cell c(κ), and is to hold the value h(κ).  With the first p entries of times,

    value      h(κ) is a function of θ(κ)[:p] and c(κ);
    order      every other access of the array differs from κ in one of the entries before p, which are
               numbers for both;
    known      all instances of κ are claimed to hold their value.

Then the order of κ and any other access is told by these entries, and of two instances of κ with the same
ones and the same cell both write the same value: the instances are looked at as pairs (θ[:p], c), without
the dimensions of tiles, and with one set in the place of those of inner tiles and tiles at borders, if
its pairs are all there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import first, selection
from loopwright.presburger.sets import DIM, OUT
from loopwright.prove.legality.sources import JoinedWrites
from loopwright.prove.legality.times import TimeEntry
from loopwright.transform.storage import HeldCell


def joined_writes(
    program: Program, copy: Statement, held: HeldCell, entries: dict[str, tuple[TimeEntry, ...]]
) -> tuple[JoinedWrites, HeldCell] | None:
    """The writes of a copy as pairs, and what these hold; None where the above cannot be shown."""
    (write,) = copy.writes
    others = [one.name for one in program.statements if _touches(one, write.array) and one is not copy]
    others = [name for name in others if entries[name]]  # the others have no instances
    if any(access.array == write.array for access in copy.reads):
        return None
    known = held.cell.domain().intersect(held.time.domain())
    if not copy.domain.intersect_params(program.context).is_subset(known):
        return None
    for length in _lengths(entries[copy.name], [entries[name] for name in others]):
        place = first(copy.schedule, OUT, length).flat_range_product(write.relation)
        place = place.intersect_domain(copy.domain).intersect_params(program.context)
        value = _function(place, held)
        if value is not None:
            break
    else:
        return None
    pairs = place.range()
    simple = pairs.remove_divs().coalesce()
    if simple.n_basic_set() > 1 or not simple.is_subset(pairs):
        return None
    count = simple.dim(DIM)
    cells = selection(simple.get_space(), range(length, count)).set_tuple_name(OUT, write.array)
    times = selection(simple.get_space(), range(length)).intersect_domain(simple)
    return JoinedWrites(cells.intersect_domain(simple), times), value


def _touches(statement: Statement, array: str) -> bool:
    return any(access.array == array for access in statement.accesses)


def _lengths(mine: Sequence[TimeEntry], others: Sequence[Sequence[TimeEntry]]) -> Iterator[int]:
    """How many entries tell the instances from all others, from the fewest on."""
    apart = 0
    for other in others:
        pairs = zip(mine, other, strict=True)
        places = (k for k, (a, b) in enumerate(pairs) if isinstance(a, int) and isinstance(b, int) and a != b)
        place = next(places, None)
        if place is None:
            return
        apart = max(apart, place + 1)
    yield from range(apart, len(mine))


def _function(place: isl.Map, held: HeldCell) -> HeldCell | None:
    """{ [entries, cell] -> the cell and the time of P } by its equalities, if these make it a function."""
    found: list[isl.Map] = []
    for value in (held.cell, held.time):
        both = place.range_product(value).affine_hull().range()
        relation = isl.Map.from_basic_map(both.unwrap())
        if not relation.is_single_valued():
            return None
        found.append(relation)
    return HeldCell(found[0], found[1])
