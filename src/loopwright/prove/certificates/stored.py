"""States a change of storage as a problem for the checker: `proofs/Stored.v`.

The middle is the last program whose storage changed, in the order of the plan.  For each read b there and its
two cells, c before and c' after, an origin is an instance that wrote both, if every write since then that
accesses one of them accesses both:

    origin(b) ∈ { a : a writes c and c' together, a before b,
                      no o with a ≤ o < b writes c' and not c, or, unless it is a copy, c and not c' }

isl finds one, as a function of b, with as few cases as possible; the checker checks it.  If no o < b does
that, c' = c holds its initial value.  Replaced arrays that are observable after the region are read at the
end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from enum import Enum
from functools import partial

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import And, Test, Var
from loopwright.loops.nodes import Node
from loopwright.model.program import Array, Program
from loopwright.prove.certificates.buffers import buffer_layers, product_words
from loopwright.prove.certificates.middle import (
    MiddleStatement,
    PairedCell,
    divided,
    function_of,
    middle,
    replaced_arrays,
    with_products_of,
)
from loopwright.prove.certificates.problems import proposal
from loopwright.prove.certificates.specification import (
    cell_words,
    refuse_other_arguments,
    shape_words,
    shapes_of,
    specification,
    time_of,
    touches,
)
from loopwright.prove.certificates.temporaries import Origin, origin_words
from loopwright.prove.coq.words import Words, listed, name, names, program, region, test, vector
from loopwright.prove.coq.words import loops as counted
from loopwright.prove.obligations.cells import Cell
from loopwright.prove.obligations.decisions import Decided
from loopwright.prove.obligations.formulas import formula_of
from loopwright.prove.obligations.legality import both_sides
from loopwright.prove.obligations.timetable import Vector
from loopwright.transform.storage import StorageChange


@dataclass(frozen=True, eq=False)
class StoredProblem:
    words: str
    text: str
    """The same, with the source of the original, in which the checker sees the accesses of statements."""
    unlike: tuple[str, ...]
    """The arrays whose values are not compared."""


def stored_problem(changes: Sequence[StorageChange], new: Program, loops: Node) -> StoredProblem:
    """The problem that the program before all changes and `loops`, for `new`, leave the same memory."""
    _refuse_other_values(changes)
    division = divided(changes)
    found = with_products_of(division, changes[-1].after)
    written = division.program
    (old, text), (later, _) = both_sides(written, new, loops, division.choosing)
    first, last = dict(shapes_of(old)), dict(shapes_of(later))
    refuse_other_arguments(old, later)
    between = {one.statement.name: one for one in middle(found)}
    stayed, copies = [between[one] for one in first], [between[one] for one in last if one not in first]
    replaced = replaced_arrays([*stayed, *copies])
    left = [one for one in written.arrays if one.name in replaced and not written.is_dead_after(one)]
    finder = _SourceFinder([*stayed, *copies], replaced, frozenset(one.name for one in left))
    shapes = ((one, last[one.statement.name]) for one in copies)
    copying = [(one.statement.name, replace(shape, time=Decided(_time(one)))) for one, shape in shapes]
    layers = buffer_layers(loops, found.after, last, [one.touched(1) for one in (*stayed, *copies)])
    kind = "buffered" if layers or found.products else "divided" if division.wholes else "stored"
    before = listed(list(division.wholes.items()), partial(map, name)) if kind != "stored" else ()
    choosing = counted(text, old.hint) if kind != "stored" else ()
    buffers = (*listed(layers, iter), *listed(found.products, product_words)) if kind == "buffered" else ()
    head = (
        kind,
        *specification(old),
        *listed([_time(one) for one in stayed], vector),
        *listed([one.touched(0) for one in stayed], touches),
        *listed([one.touched(1) for one in stayed], touches),
        *listed(copying, shape_words),
        *listed(copies, _copy),
        *listed([time_of(last[one.statement.name]) for one in (*stayed, *copies)], vector),
        *names(replaced),
        *listed([finder.seen(one) for one in (*stayed, *copies)], lambda several: listed(several, _cases)),
        *listed([finder.left_in(one, written) for one in left], _left),
        *buffers,
        *before,
    )
    rest = (
        *choosing,
        *program(loops, later.hint),
        *proposal(old, text),
        *proposal(later, loops, order=[one.statement.name for one in (*stayed, *copies)]),
    )
    whole = division.text if kind != "stored" else text
    originals = (program(whole, old.hint), region(changes[0].original.region.text, whole, old.hint))
    words, read = (" ".join((*head, *one, *rest)) for one in originals)
    return StoredProblem(words, read, tuple(one for one in replaced if one not in finder.left))


def _refuse_other_values(changes: Sequence[StorageChange]) -> None:
    """Raises GaveUp for programs that compute a value several times, or in another way."""
    if any(one.redundancy is not None for one in changes):
        raise GaveUp(Code.NO_PROOF, "storage has changed, and values are computed several times")
    if any(one.summands for one in changes):
        raise GaveUp(Code.NO_PROOF, "a sum is split, and its parts are added one after the other")
    if any(one.tests for one in changes):
        raise GaveUp(Code.NO_PROOF, "conditions are tested before the statements that they are of")


def _copy(copy: MiddleStatement) -> Words:
    """The copied cell, its source, and its destination."""
    (read,), (write,) = copy.reads, copy.writes
    return (word for cell in (*read.cells, write.cells[1]) for word in cell_words(cell))


def _cases(several: Sequence[_Case]) -> Words:
    return listed(several, lambda case: (*test(case.test), *_seeing(case.seeing)))


def _seeing(seeing: Origin | Same) -> Words:
    match seeing:
        case Origin():
            return iter(("from", *origin_words(seeing)))
        case _:
            return iter((seeing.value,))


def _left(one: _Left) -> Words:
    """An array, names for its subscripts, and the reasons."""
    return iter((name(one.array), *names(one.subscripts), *_cases(one.cases)))


def _time(one: MiddleStatement) -> Vector:
    """The time in the middle, as expressions of the arguments."""
    return function_of(one.time, one.statement.iterators)


def _where(domain: isl.Set, reader: _ReadingPlace) -> Test:
    """The condition that a reading instance is in this part of the domain."""
    return formula_of(domain.coalesce().gist(reader.domain), reader.names)


# -- origins ------------------------------------------------------------------------------------------


class Same(Enum):
    """The same cell: of an array that is kept, or with its initial value."""

    KEPT = "kept"
    BEGUN = "begun"


@dataclass(frozen=True)
class _Case:
    test: Test
    seeing: Origin | Same


@dataclass(frozen=True)
class _Left:
    array: str
    subscripts: tuple[str, ...]
    cases: tuple[_Case, ...]


@dataclass(frozen=True, eq=False)
class _ReadingPlace:
    """The readers: instances at their times, or cells at the end."""

    domain: isl.Set
    names: tuple[str, ...]
    time: isl.Map | None
    before: dict[MiddleStatement, isl.Map] = field(default_factory=dict)
    """A cache: the same for all reads."""

    def after(self, writer: MiddleStatement) -> isl.Map:
        """{ b -> a }: a is before b."""
        if self.time is None:
            return isl.Map.from_domain_and_range(self.domain, writer.time.domain())
        if writer not in self.before:
            self.before[writer] = self.time.lex_gt_map(writer.time)
        return self.before[writer]


@dataclass(frozen=True, eq=False)
class _OriginCandidate:
    """A write of a statement, and { b -> a } for its instances a that may be the origin of b."""

    statement: str
    number: int
    found: isl.Map


@dataclass(frozen=True, eq=False)
class _SourceFinder:
    middle: Sequence[MiddleStatement]
    replaced: tuple[str, ...]
    left: frozenset[str]
    orders: dict[tuple[MiddleStatement, MiddleStatement], isl.Map] = field(default_factory=dict)

    def seen(self, one: MiddleStatement) -> list[tuple[_Case, ...]]:
        reader = _ReadingPlace(one.time.domain(), one.statement.iterators, one.time)
        return [tuple(self.cases(reader, read)) for read in one.reads]

    def left_in(self, array: Array, written: Program) -> _Left:
        """The values of an array's cells at the end."""
        taken = {one.name for one in written.parameters}
        subscripts = tuple(f"{'_' if f'z{k}' in taken else ''}z{k}" for k in range(array.rank))
        space = written.context.get_space().add_dims(isl.dim_type.set, array.rank)
        cells = isl.Set.universe(space.set_tuple_name(isl.dim_type.set, array.name))
        itself = isl.Map.identity(cells.get_space().map_from_set())
        cell = Cell(array.name, tuple(map(Var, subscripts)))
        read = PairedCell((cell, cell), (itself, itself), is_moved=False)
        cases = self.cases(_ReadingPlace(cells.intersect_params(written.context), subscripts, None), read)
        return _Left(array.name, subscripts, tuple(cases))

    def cases(self, reader: _ReadingPlace, read: PairedCell) -> Iterator[_Case]:
        """Yields why a value that is read is the same."""
        if not read.is_moved and read.cells[0].array not in self.replaced:
            yield _Case(And(()), Same.KEPT)
            return
        spoilt = self._spoilt(reader, read)
        remaining = reader.domain
        for one in self._writers(reader, read, spoilt):
            found = one.found.intersect_domain(remaining)
            if not found.is_empty():
                here = found.domain()
                arguments = function_of(found.lexmax(), reader.names)
                yield _Case(_where(here, reader), Origin(one.statement, arguments, one.number))
                remaining = remaining.subtract(here)
        if remaining.is_empty():
            return
        untouched = all(remaining.is_disjoint(bad.domain()) for _, bad in spoilt)
        if read.is_moved or read.cells[0].array not in self.left or not untouched:
            shown = " or ".join(dict.fromkeys(cell.array for cell in read.cells))
            raise GaveUp(Code.NO_PROOF, f"where a value of {shown} comes from is not found")
        yield _Case(_where(remaining, reader), Same.BEGUN)

    def _writers(
        self, reader: _ReadingPlace, read: PairedCell, spoilt: Sequence[tuple[MiddleStatement, isl.Map]]
    ) -> list[_OriginCandidate]:
        """The possible origins, copies last; one alone if it is the origin of all reads."""
        several: list[_OriginCandidate] = []
        later_first = list(reversed(self.middle))
        for writer in sorted(later_first, key=lambda one: one.is_copy):
            for number, write in enumerate(writer.writes):
                found = _both(read, write).intersect_domain(reader.domain)
                if found.is_empty():
                    continue
                found = found.intersect(reader.after(writer))
                for other, bad in spoilt:
                    found = found.subtract(bad.apply_range(self._not_before(other, writer)))
                one = _OriginCandidate(writer.statement.name, number, found)
                if reader.domain.is_subset(found.domain()):
                    return [one]
                several.append(one)
        return several

    def _not_before(self, other: MiddleStatement, writer: MiddleStatement) -> isl.Map:
        """{ o -> a }: o is not before a."""
        if (other, writer) not in self.orders:
            self.orders[other, writer] = other.time.lex_ge_map(writer.time)
        return self.orders[other, writer]

    def _spoilt(self, reader: _ReadingPlace, read: PairedCell) -> list[tuple[MiddleStatement, isl.Map]]:
        """{ b -> o }: o, before b, writes one of the cells that b reads without the other."""
        found: list[tuple[MiddleStatement, isl.Map]] = []
        for other in self.middle:
            for write in other.writes:
                both = _both(read, write)
                alone = _meeting(read, write, 1).subtract(both)
                if not other.is_copy:
                    alone = alone.union(_meeting(read, write, 0).subtract(both))
                if not alone.is_empty():
                    alone = alone.intersect(reader.after(other))
                if not alone.is_empty():
                    found.append((other, alone))
        return found


def _meeting(read: PairedCell, write: PairedCell, side: int) -> isl.Map:
    """{ b -> o }: they access the same cell, before (0) or after (1)."""
    mine, theirs = read.relations[side], write.relations[side]
    if read.cells[side].array != write.cells[side].array:
        return isl.Map.empty(
            isl.Space.map_from_domain_and_range(mine.domain().get_space(), theirs.domain().get_space())
        )
    return mine.apply_range(theirs.reverse())


def _both(read: PairedCell, write: PairedCell) -> isl.Map:
    return _meeting(read, write, 0).intersect(_meeting(read, write, 1))
