"""Proves claims about which write each read sees, instead of computing them.

A read r of an array is claimed to see the write σ(r).  It does, if

    written    σ(r) is an instance of its statement, and writes the cell that r reads;
    before     σ(r) executes before r;
    last       no write w of the array accesses that cell with σ(r) < w < r.

Each of these states that a set is empty, and no last write must be computed.  The claims are only a guide: a
wrong one is refuted with the instances that show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import islpy as isl

from loopwright.errors import Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Relation
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import IN
from loopwright.prove.legality.times import TimeEntry, comparable, pieces_of
from loopwright.prove.legality.values import WrongValue, access_text, instance_text
from loopwright.transform.storage import SeenWrite


@dataclass(frozen=True)
class _Claim:
    """The claim that `reader` sees at `read` what `writer` wrote: { read -> write }."""

    reader: Statement
    read: Access
    writer: Statement
    source: isl.Map
    parting: int
    """The first entry of their times that differs."""


@dataclass(frozen=True)
class _Writes:
    """The cells of an array that a statement writes, { w -> cell }, and one basic map that contains them."""

    writer: Statement
    array: str
    cells: isl.Map
    hull: isl.Map


@dataclass(frozen=True)
class ClaimedFlow:
    """The order of a program, entry by entry."""

    program: Program

    @cached_property
    def _writes(self) -> tuple[_Writes, ...]:
        pairs = [(one, access) for one in self.program.statements for access in one.writes]
        cells = [access.relation.intersect_domain(one.domain) for one, access in pairs]
        return tuple(
            _Writes(one, access.array, found, _hull(found))
            for (one, access), found in zip(pairs, cells, strict=True)
        )

    @cached_property
    def entries(self) -> dict[str, tuple[TimeEntry, ...]]:
        found: dict[str, tuple[TimeEntry, ...]] = {}
        for name, schedule in comparable(self.program, self.program).items():
            parts = pieces_of(name, schedule)
            if len(parts) > 1:
                raise GaveUp(
                    Code.UNDECIDED, f"could not decide what reads see: {name} runs in several places"
                )
            found[name] = parts[0].entries if parts else ()
        return found

    @cached_property
    def _values(self) -> dict[tuple[str, int], isl.Map]:
        """{ S[i] -> [entry k of its time] }."""
        found: dict[tuple[str, int], isl.Map] = {}
        for statement in self.program.statements:
            domain = statement.domain
            space = isl.LocalSpace.from_space(domain.get_space())
            for k, entry in enumerate(self.entries[statement.name]):
                if isinstance(entry, int):
                    value = isl.Aff.val_on_domain(space, isl.Val(entry))
                else:
                    value = entry.align_params(domain.get_space().params()).set_tuple_id(
                        IN, domain.get_tuple_id()
                    )
                found[statement.name, k] = isl.Map.from_aff(value)
        return found

    def wrong(
        self,
        reader: Statement,
        read: Access,
        needed: isl.Set,
        claimed: Sequence[SeenWrite],
        asked: isl.Set | None = None,
    ) -> Iterator[WrongValue]:
        """Yields errors in what is claimed of the reads of the instances `needed`.

        More of them may be `asked` about first, in a simpler set: if the claim holds there, it holds for all.
        """
        needed = needed.intersect_params(self.program.context)
        asked = needed if asked is None else asked.intersect_params(self.program.context)
        left = asked = asked if needed.is_subset(asked) else needed
        for one in claimed:
            left = left.subtract(one.source.domain())
        left = left.intersect(needed)
        yield from self._shown(reader, read, left, "a write that it is claimed to see", "none")
        for one in claimed:
            source = one.source.intersect_domain(needed)
            writer = self.program.statement(one.writer)
            simple = one.source.intersect_domain(asked).intersect_range(writer.domain)
            # A subset of a right claim is right.  The hull has one piece; many pieces are compared in pairs.
            wide = _hull(simple)
            if not (wide.is_single_valued() or source.is_single_valued()):
                message = f"could not decide what {reader.name} sees: two writes are claimed"
                raise GaveUp(Code.UNDECIDED, message)
            strange = one.source.subtract_range(writer.domain).domain().intersect(needed)
            yield from self._shown(reader, read, strange, f"a write of {writer.name}", "no such instance")
            tried = (wide, simple, source)
            for each in tried:
                other = self._other_cells(read, each, writer)
                if other.is_empty():
                    break
            yield from self._shown(reader, read, other, f"the cell that {writer.name} writes", "another one")
            if not source.is_empty():
                yield from self._later_writes(reader, read, writer, tried)

    def _later_writes(
        self, reader: Statement, read: Access, writer: Statement, tried: tuple[isl.Map, isl.Map, isl.Map]
    ) -> Iterator[WrongValue]:
        """Yields writes between the claimed one and the read; `tried` are the claims, the simplest first."""
        partings = (self._parting(reader, writer, each) for each in tried)
        parting = next((each for each in partings if each is not None), None)
        if parting is None:
            order = f"{writer.name} may run after {reader.name}, or when it does"
            raise GaveUp(Code.UNDECIDED, f"could not decide what reads see: {order}")
        wide, _, source = tried
        claim = _Claim(reader, read, writer, source, parting)
        for writes in self._writes:
            if writes.array == read.array:
                yield from self._between(claim, replace(claim, source=wide), writes)

    def _shown(
        self, reader: Statement, read: Access, wrong: isl.Set, wanted: str, found: str
    ) -> Iterator[WrongValue]:
        point = smallest_point(wrong.intersect_params(self.program.context))
        if point is not None:
            shown = f"{instance_text(reader, point.coordinates)} reads {access_text(read)}"
            yield WrongValue(shown, wanted, found, point.parameters, read.place)

    def _other_cells(self, read: Access, source: isl.Map, writer: Statement) -> isl.Set:
        """The reads for which the claimed write writes another cell."""
        (write,) = writer.writes
        if write.array != read.array:
            return source.domain()
        mine = read.relation.intersect_domain(source.domain())
        return mine.subtract(source.apply_range(write.relation)).domain()

    def _parting(self, reader: Statement, writer: Statement, source: isl.Map) -> int | None:
        """The first entry where σ(r) and r differ in time, if σ(r) is before r there for all of them."""
        for k in range(len(self.entries[reader.name])):
            origin, mine = source.apply_range(self._values[writer.name, k]), self._values[reader.name, k]
            if origin.is_subset(mine):
                continue
            if origin.subtract(_below(mine)).is_empty():
                return k
            return None
        return None

    def _between(self, claim: _Claim, wide: _Claim, other: _Writes) -> Iterator[WrongValue]:
        """Yields other writes to the cell after the claimed one and before the read.

        A superset of the instances has more pairs: if a hull of them has none, there are none.
        """
        if any(self._pairs(wide, other.writer, each) is None for each in (other.hull, other.cells)):
            return
        pairs = self._pairs(claim, other.writer, other.cells)
        if pairs is not None:
            wanted, found = f"what {claim.writer.name} wrote", f"what {other.writer.name} wrote after that"
            yield from self._shown(claim.reader, claim.read, pairs.domain(), wanted, found)

    def _pairs(self, claim: _Claim, later: Statement, touched: isl.Map) -> isl.Map | None:
        """Pairs (r, w) of a cell that both touch with σ(r) < w < r, if there are any."""
        cells = claim.read.relation.intersect_domain(claim.source.domain()).apply_range(touched.reverse())
        if cells.is_empty():
            return None
        return next(self._after(claim, later, cells), None)

    def _after(self, claim: _Claim, later: Statement, cells: isl.Map) -> Iterator[isl.Map]:
        """Yields the pairs (r, w) of `cells` with σ(r) < w < r, in nonempty parts.

        Entry by entry w is first equal to both, then to one of them.
        """
        reader, writer, same = claim.reader, claim.writer, cells
        for k in range(claim.parting):
            same = self._compared(same, reader, self._values[reader.name, k], Relation.EQ, later, k)
            if same.is_empty():
                return
        mine, theirs = (self._values[one.name, claim.parting] for one in (reader, later))
        origin = claim.source.apply_range(self._values[writer.name, claim.parting])
        above = _related(same, origin, Relation.LT, theirs)
        yield from _some(_related(above, mine, Relation.GT, theirs))
        at_read, at_write = (_related(same, one, Relation.EQ, theirs) for one in (mine, origin))
        for further in range(claim.parting + 1, len(self.entries[reader.name])):
            mine = self._values[reader.name, further]
            yield from _some(self._compared(at_read, reader, mine, Relation.GT, later, further))
            at_read = self._compared(at_read, reader, mine, Relation.EQ, later, further)
            origin = claim.source.apply_range(self._values[writer.name, further])
            yield from _some(self._compared(at_write, writer, origin, Relation.LT, later, further))
            at_write = self._compared(at_write, writer, origin, Relation.EQ, later, further)

    def _compared(
        self, pairs: isl.Map, one: Statement, value: isl.Map, relation: Relation, later: Statement, k: int
    ) -> isl.Map:
        """The pairs (r, w) where entry k of the times has this relation: all or none for constants."""
        first, second = (self.entries[each.name][k] for each in (one, later))
        if pairs.plain_is_empty():
            return pairs
        if not isinstance(first, int) or not isinstance(second, int):
            return _related(pairs, value, relation, self._values[later.name, k])
        sign = (first > second) - (first < second)
        wanted = {Relation.LT: -1, Relation.EQ: 0, Relation.GT: 1}
        return pairs if sign == wanted[relation] else isl.Map.empty(pairs.get_space())


def _hull(pairs: isl.Map) -> isl.Map:
    """A superset of the pairs that is one basic map."""
    return pairs if pairs.n_basic_map() <= 1 else isl.Map.from_basic_map(pairs.unshifted_simple_hull())


def _some(pairs: isl.Map) -> Iterator[isl.Map]:
    if not pairs.is_empty():
        yield pairs


def _below(value: isl.Map) -> isl.Map:
    """{ r -> [t] : t < value(r) }."""
    return value.apply_range(_order(value, Relation.GT))


def _order(value: isl.Map, relation: Relation) -> isl.Map:
    """{ [s] -> [t] : s < t }, or with another relation."""
    times = value.get_space().range()
    match relation:
        case Relation.EQ:
            return isl.Map.identity(times.map_from_set())
        case Relation.LT:
            return isl.Map.lex_lt(times)
        case Relation.GT:
            return isl.Map.lex_gt(times)
        case _:
            raise InternalError(Code.INTERNAL, f"times are not compared by {relation.value}")


def _related(pairs: isl.Map, one: isl.Map, relation: Relation, other: isl.Map) -> isl.Map:
    """The pairs (r, w) with one(r) < other(w), or with another relation."""
    return pairs.intersect(one.apply_range(_order(one, relation)).apply_range(other.reverse()))
