"""Exact, value-based data flow, access by access: the sources of the values that are read.

A read is an instance of a reader, under the name of the reader; a write is an instance of `S writes k`, the
access number k of a statement; the value of a cell before the region is `before A[c]`.

Copies to a cell by several tiles are treated as one write if it does not matter which tile it was.

A copy κ at time θ(κ) writes the cell c(κ), and must hold the value h(κ).  With the first p entries of times,

    value      h(κ) is a function of θ(κ)[:p] and c(κ);
    order      every other access of the array differs from κ in one of the entries before p, which are
               constants for both;
    known      all instances of κ are claimed to hold their value.

Then these entries determine the order of κ and any other access, and two instances of κ with the same entries
and the same cell both write the same value: the instances are represented as pairs (θ[:p], c), without the
dimensions of tiles, and with one set instead of those of inner tiles and tiles at borders, if it contains no
other pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Literal

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import at, first, followed, padded, preceded, selection
from loopwright.presburger.last_writes import seen_writes
from loopwright.presburger.sets import DIM, IN, OUT, nonempty_maps
from loopwright.prove.legality.times import TimeEntry
from loopwright.transform.storage import HeldCell

_BEFORE = "before"


@dataclass(frozen=True)
class AccessTuple:
    """An access of a statement as an isl tuple, which has only a name: `S1 reads 2`, `S1 writes 0`.

    The number is that of the access; a copy has one read, so `S1 reads` suffices.
    """

    statement: str
    verb: Literal["reads", "writes"]
    number: int | None = None

    def __str__(self) -> str:
        return f"{self.statement} {self.verb}{'' if self.number is None else f' {self.number}'}"

    @staticmethod
    def of(name: str) -> AccessTuple | None:
        """The access with this name; None for cells before and after the region."""
        match name.split(" "):
            case [statement, "reads"] if statement != _BEFORE:
                return AccessTuple(statement, "reads")
            case [statement, "reads" | "writes" as verb, number]:
                return AccessTuple(statement, "reads" if verb == "reads" else "writes", int(number))
        return None


def cell_before(name: str) -> str | None:
    """The array of a tuple of cells with their values before the region."""
    before, _, array = name.partition(" ")
    return array if before == _BEFORE and array else None


@dataclass(frozen=True, eq=False)
class JoinedWrites:
    """Writes of a statement that are distinguished by the first entries of their times and the cell alone.

    { [entries, cell] -> cell } and { [entries, cell] -> entries }; the module docstring says when.
    """

    cells: isl.Map
    entries: isl.Map


def sources(
    program: Program,
    readers: list[tuple[str, isl.Map]],
    given: Mapping[str, isl.Map] | None = None,
    joined: Mapping[str, JoinedWrites] | None = None,
) -> dict[str, isl.UnionMap]:
    """{ reader -> write, or the cell that no write changed before }, by the names of the readers.

    An instance executes its reads at [0, θ, 0] and its writes at [0, θ, 1]; the end is [1, 0, ...]. Readers
    that are not statements may have a `given` time θ.  Writes that are `joined` are treated as one.
    """
    length = max((one.schedule.dim(OUT) for one in program.statements), default=0)
    timed = {one.name: _timed(one, length) for one in program.statements}
    touched = {str(relation.get_tuple_name(OUT)) for _, relation in readers}
    writes = list(_writes(program, timed, touched, joined or {}))
    during: list[_TimedRead] = []
    at_end: list[_TimedRead] = []
    asked: list[_Question] = []
    for name, relation in readers:
        time = (given or {}).get(name)
        if time is not None:
            asked.append(_Question.of(relation, padded(time, length).set_tuple_name(IN, name)))
        elif (access := AccessTuple.of(name)) is not None and access.statement in timed:
            during.append(_TimedRead(relation, _reading_time(access, relation, timed[access.statement])))
        else:
            late = isl.Map.from_domain(relation.domain()).add_dims(OUT, length + 2)
            at_end.append(_TimedRead(relation, at(late, OUT, (1, *(0,) * (length + 1)))))
    questions = {one.key: one.read for one in asked}
    found = _flow(program, [*during, *questions.values()], writes)
    answers = {key: found.pop(key, None) for key in questions}
    for one in asked:
        answer = answers[one.key]
        if answer is not None:
            found[one.name] = isl.UnionMap.from_map(one.place).apply_range(answer)
    return found | _flow(program, at_end, _lasting(writes)) if at_end else found


@dataclass(frozen=True, eq=False)
class _TimedRead:
    cells: isl.Map
    time: isl.Map


@dataclass(frozen=True, eq=False)
class _Question:
    """The value of the cell c before the time θ: { read -> [θ, c] }.

    The answer depends on θ and c alone, so readers with the same equalities between them share it, and the
    dimensions and cases of a reader do not matter.
    """

    name: str
    place: isl.Map
    read: _TimedRead

    @property
    def key(self) -> str:
        return str(self.place.get_tuple_name(OUT))

    @staticmethod
    def of(cells: isl.Map, time: isl.Map) -> _Question:
        place, length = time.flat_range_product(cells), time.dim(OUT)
        known = isl.Set.from_basic_set(place.affine_hull().range())
        key = f"{cells.get_tuple_name(OUT)} at {known}"
        known = known.set_tuple_name(key)
        count = known.dim(isl.dim_type.set)
        array = cells.get_tuple_name(OUT)
        asked = selection(known.get_space(), range(length, count)).set_tuple_name(OUT, array)
        at_time = followed(preceded(selection(known.get_space(), range(length)), 0), 0)
        read = _TimedRead(asked.intersect_domain(known), at_time.intersect_domain(known))
        name = str(cells.get_tuple_name(IN))
        return _Question(name, place.set_tuple_name(OUT, key), read)


@dataclass(frozen=True, eq=False)
class _TimedWrite:
    cells: isl.Map
    time: isl.Map
    must: bool


def _writes(
    program: Program, timed: dict[str, isl.Map], touched: Collection[str], joined: Mapping[str, JoinedWrites]
) -> Iterator[_TimedWrite]:
    for statement in program.statements:
        for k, access in enumerate(statement.accesses):
            if access.is_write and access.array in touched:
                name = str(AccessTuple(statement.name, "writes", k))
                one = joined.get(statement.name)
                if one is not None:
                    length = timed[statement.name].dim(OUT)
                    time = followed(padded(preceded(one.entries, 0), length), 1)
                    cells = one.cells.set_tuple_name(IN, name)
                    yield _TimedWrite(cells, time.set_tuple_name(IN, name), must=True)
                    continue
                domain = statement.domain.intersect_params(program.context)
                write = access.relation.intersect_domain(domain).set_tuple_name(IN, name)
                time = followed(timed[statement.name], 1).set_tuple_name(IN, name)
                yield _TimedWrite(write, time, access.must)


def _lasting(writes: Sequence[_TimedWrite]) -> list[_TimedWrite]:
    """The writes without those that another write to their cell always follows, which are never the last."""
    return [
        one for one in writes if not any(_is_overwritten(one, other) for other in writes if other is not one)
    ]


def _is_overwritten(one: _TimedWrite, other: _TimedWrite) -> bool:
    if not other.must or one.cells.get_tuple_name(OUT) != other.cells.get_tuple_name(OUT):
        return False
    same = one.cells.apply_range(other.cells.reverse())
    if not one.cells.is_single_valued() or not one.cells.domain().is_subset(same.domain()):
        return False
    later = same.intersect(one.time.lex_lt_map(other.time))
    return bool(one.cells.domain().is_subset(later.domain()))


def _flow(
    program: Program, readings: Sequence[_TimedRead], writes: Sequence[_TimedWrite]
) -> dict[str, isl.UnionMap]:
    space = program.context.get_space()

    def union(maps: Iterable[isl.Map]) -> isl.UnionMap:
        return reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, maps), isl.UnionMap.empty(space))

    # Without redundancies: isl fails to factorise some relations that have them.
    reads, must, may = (
        union(maps).intersect_params(program.context).remove_redundancies()
        for maps in (
            [one.cells for one in readings],
            [one.cells for one in writes if one.must],
            [one.cells for one in writes if not one.must],
        )
    )
    times = union([*(one.time for one in readings), *(one.time for one in writes)]).remove_redundancies()
    flow = seen_writes(reads, must, times, may=may)
    found: dict[str, isl.UnionMap] = {}
    parts = [one.reverse() for one in nonempty_maps(flow.dependences)]
    parts += [_before(one) for one in nonempty_maps(flow.without)]
    for part in parts:
        name = str(part.get_tuple_name(IN))
        one = isl.UnionMap.from_map(part)
        found[name] = found[name].union(one) if name in found else one
    return found


def _timed(statement: Statement, length: int) -> isl.Map:
    """{ S[i] -> [0, θ] }."""
    return preceded(padded(statement.schedule, length).intersect_domain(statement.domain), 0)


def _reading_time(access: AccessTuple, relation: isl.Map, timed: isl.Map) -> isl.Map:
    times = followed(timed, 0)
    if relation.domain().get_space().is_wrapping():
        pairs = relation.domain().unwrap()
        times = pairs.domain_map().apply_range(times)
    return times.set_tuple_name(IN, str(access))


def _before(untouched: isl.Map) -> isl.Map:
    """A cell with its value before the region."""
    return untouched.set_tuple_name(OUT, f"{_BEFORE} {untouched.get_tuple_name(OUT)}")


def joined_writes(
    program: Program, copy: Statement, held: HeldCell, entries: dict[str, tuple[TimeEntry, ...]]
) -> tuple[JoinedWrites, HeldCell] | None:
    """The writes of a copy as pairs, and the value of these; None if the conditions are not shown."""
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
    if simple.n_basic_set() > 1 or not simple.is_equal(pairs):
        return None
    count = simple.dim(DIM)
    cells = selection(simple.get_space(), range(length, count)).set_tuple_name(OUT, write.array)
    times = selection(simple.get_space(), range(length)).intersect_domain(simple)
    return JoinedWrites(cells.intersect_domain(simple), times), value


def _touches(statement: Statement, array: str) -> bool:
    return any(access.array == array for access in statement.accesses)


def _lengths(mine: Sequence[TimeEntry], others: Sequence[Sequence[TimeEntry]]) -> Iterator[int]:
    """Yields how many entries distinguish the instances from all others, the fewest first."""
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
