"""Proves that a program that computes some values several times leaves what another one does.

P' executes statements of P on other cells, copies cells, and may execute the instances of P any number of
times: its order is a relation.  The claims (`transform.storage.Redundancy`) are μ, the instance of P that one
of P' computes, and for each copy κ of P' a cell c and a time θ of P: κ must hold what c holds in P before θ.
With F(r) the write of P whose value a read r sees, or the cell that no write changed before,

    operations   a statement of P' has the text of its statement of P, except for the cells it names;
    instances    μ maps all instances of P' to instances of P, and to each of them at least one; if some
                 are claimed to compute nothing, one of the others, and those of a statement that accesses
                 new storage alone need not be instances of P;
    values       F'(r) is for a read r of instance x the same as F(μ(r)), where a write of instance y of P' is
                 that of μ(y), and a write of a copy κ is F(c before θ);
    copies       the same for the read of a copy κ itself, and F(c before θ);
    left         the same for a read after the region of every observable cell;
    room         every cell of P' is inside its array.

By induction over the order of P' every instance x then computes what μ(x) computes in P, and every copy holds
the claimed value.  That no two tiles that run at the same time write the same cell is proved of P' with all
other parallel loops.  The claims are only a guide: a wrong claim proves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import islpy as isl

from loopwright.c.declarations import unqualified
from loopwright.c.macros import reached_tokens
from loopwright.c.tokens import is_name, names_in, packed
from loopwright.c.types import Integer, named_type
from loopwright.errors import Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import selection
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import IN, OUT, maps_of, nonempty_maps, union_map
from loopwright.prove.legality.bounds import outside
from loopwright.prove.legality.reductions import text_between_accesses
from loopwright.prove.legality.seen import ClaimedFlow
from loopwright.prove.legality.sources import AccessTuple, JoinedWrites, joined_writes, sources
from loopwright.prove.legality.staged import is_staged
from loopwright.prove.legality.values import (
    ComparedRead,
    StorageVerdict,
    WrongValue,
    access_text,
    difference,
    instance_text,
    is_assignment,
    left_in_memory,
    out_of_bounds,
    refuse_no_copy,
    refuse_other_text,
)
from loopwright.transform.storage import HeldCell, Redundancy, StorageChange

_TRAPS = {"%", "&", "|", "^", "~", "<<", ">>", "%=", "&=", "|=", "^=", "<<=", ">>=", "?", "&&", "||"}
"""Operators on integers, and operators with conditional evaluation."""
_Held = Mapping[str, isl.UnionMap | None]


def prove_redundant(change: StorageChange, redundancy: Redundancy) -> StorageVerdict:
    """Proves that `change.after` computes what `change.before` does."""
    return _Comparison(change.before, change.after, redundancy).verdict()


@dataclass(frozen=True)
class _Comparison:
    before: Program
    after: Program
    claims: Redundancy

    def verdict(self) -> StorageVerdict:
        others = tuple(one for one in self.after.statements if one.name not in self.claims.computes)
        copies = tuple(one for one in others if one.name not in self.claims.idle)
        for one in others:
            if one not in copies:
                self._refuse_no_clearing(one)
        for copy in copies:
            refuse_no_copy(copy, self.after)
        wrong: list[WrongValue] = []
        for one in self.after.statements:
            if one.name in self.claims.computes:
                wrong += self._operation(one)
        wrong += self._missing()
        wrong += [out_of_bounds(*one) for one in outside(self.before, self.after, copies)]
        if not self._is_staged(copies):
            wrong += self._values(copies)
        return StorageVerdict(3 * len(self.after.statements), tuple(wrong))

    def _original(self, statement: Statement) -> Statement:
        return self.before.statement(self.claims.computes[statement.name])

    def _refuse_no_clearing(self, statement: Statement) -> None:
        """Checks for `cell = 0;`, where the cell is in new storage and has no claim."""
        new = {array.name for array in self.after.arrays} - {array.name for array in self.before.arrays}
        accesses = [(access.is_write, access.must, access.array in new) for access in statement.accesses]
        text = packed(statement.body.place.text).rstrip(";")
        cell = packed(statement.accesses[0].place.text)
        if accesses != [(True, True, True)] or text != f"{cell}=0":
            raise InternalError(Code.INTERNAL, f"{statement.name} does not clear a cell of new storage")

    def _instance(self, statement: Statement, *, asked: bool = False) -> isl.Map:
        """μ on the instances of a statement that are claimed to compute one, or on those asked about."""
        computing = self.claims.instances.get(statement.name)
        if asked and computing is not None:
            computing = self.claims.named_in.get(statement.name, computing).union(computing).coalesce()
        named = self._named(statement)
        return named if computing is None else named.intersect_domain(computing)

    def _named(self, statement: Statement) -> isl.Map:
        """μ as claimed, or by the names of the original's iterators."""
        old = self._original(statement)
        if statement.name in self.claims.named:
            claimed = self.claims.named[statement.name].intersect_domain(statement.domain)
            if not claimed.is_single_valued() or not statement.domain.is_subset(claimed.domain()):
                raise InternalError(Code.INTERNAL, f"{statement.name} is not claimed to compute one instance")
            return claimed.intersect_params(self.after.context)
        if any(statement.iterators.count(name) != 1 for name in old.iterators):
            raise InternalError(Code.INTERNAL, f"{statement.name} does not have the loops of {old.name}")
        columns = [statement.iterators.index(name) for name in old.iterators]
        chosen = selection(statement.domain.get_space(), columns).set_tuple_name(OUT, old.name)
        return chosen.intersect_domain(statement.domain.intersect_params(self.after.context))

    def _operation(self, new: Statement) -> Iterator[WrongValue]:
        """Checks for the text of the original, and only its instances."""
        old = self._original(new)
        self._refuse_other_iterators(old, new)
        for access in (*old.accesses, *new.accesses):
            if not access.must or not access.relation.is_single_valued():
                raise GaveUp(Code.UNDECIDED, f"could not decide: '{access_text(access)}' depends on data")
        if not is_assignment(self.before, old) or len(old.writes) != 1:
            raise GaveUp(Code.UNDECIDED, f"could not decide: {old.name} is not one assignment")
        refuse_other_text(old, new, self.before, self.after, self._instance(new))
        if new.name in self.claims.instances:
            self._refuse_traps(new)
        known = {array.name for array in self.before.arrays}
        made = {array.name for array in self.after.arrays if array.space is not None and array.rank} - known
        private = all(access.array in made for access in new.accesses)
        run = self._instance(new) if private else self._named(new)
        strange = run.range().subtract(old.domain)
        point = smallest_point(strange.intersect_params(self.after.context))
        if point is not None:
            shown = instance_text(old, point.coordinates)
            place = new.body.place
            yield WrongValue(f"the tiles run {shown}", "no such instance", "one", point.parameters, place)

    def _refuse_other_iterators(self, old: Statement, new: Statement) -> None:
        """Checks iterators: with a claimed μ, the text may use them only in subscripts of moved cells."""
        if new.name in self.claims.named and new.iterators != old.iterators:
            own = {*old.iterators, *new.iterators}
            kept = {access.array for access in new.accesses} & {array.name for array in self.before.arrays}
            if kept or own & set(names_in(text_between_accesses(new))):
                raise GaveUp(Code.UNDECIDED, f"could not decide: {old.name} computes with its iterators")
            return
        types = dict(zip(new.iterators, new.iterator_types, strict=False))
        own_types = tuple(types.get(name) for name in old.iterators)
        if new.iterator_types and own_types != old.iterator_types:
            raise InternalError(Code.INTERNAL, f"iterators of {new.name} have other types")

    def _refuse_traps(self, statement: Statement) -> None:
        """Checks that operations on unknown values are defined: none is on integers."""
        types = {array.name: array.element_type for array in self.after.arrays}
        resolved = self.after.file.declarations.resolved
        kinds = {unqualified(resolved(types[access.array] or "")) for access in statement.accesses}
        tokens = set(reached_tokens(self.after.file.macros, text_between_accesses(statement)))
        casts = any(isinstance(named_type(resolved(one)), Integer) for one in tokens if is_name(one))
        if not kinds <= {"float", "double"} or casts or tokens & {*types, *_TRAPS}:
            message = f"could not decide: {statement.name} may be undefined for the values of other tiles"
            raise GaveUp(Code.UNDECIDED, message)

    def _missing(self) -> Iterator[WrongValue]:
        """Yields instances of the original that nothing computes."""
        for old in self.before.statements:
            left = old.domain.intersect_params(self.before.context)
            for new in self.after.statements:
                if self.claims.computes.get(new.name) == old.name:
                    left = left.subtract(self._instance(new).range())
            point = smallest_point(left)
            if point is not None:
                shown = instance_text(old, point.coordinates)
                place = old.body.place
                yield WrongValue(f"the tiles leave out {shown}", "a tile", "none", point.parameters, place)

    def _is_staged(self, copies: tuple[Statement, ...]) -> bool:
        """Whether values need no comparison: tiles compute on copies of the cells, and nothing twice."""
        if self.claims.instances or self.claims.idle or self.claims.seen:
            return False
        computing = [one for one in self.after.statements if one not in copies]
        pairs = {one.name: (self._original(one), self._instance(one)) for one in computing}
        return is_staged(self.before, self.after, pairs)

    def _values(self, copies: tuple[Statement, ...]) -> Iterator[WrongValue]:
        for copy in copies:
            if copy.name not in self.claims.held:
                raise InternalError(Code.INTERNAL, f"nothing is claimed of what {copy.name} holds")
        readers = [*self._readers(), *(self._copy_reader(one) for one in copies)]
        arrays = frozenset(array.name for array in self.before.arrays)
        readers += left_in_memory(self.before, self.after, arrays)
        claimed = dict(self._claimed_reads(copies))
        unclaimed = [(one.name, one.new) for one in readers if one.name not in claimed]
        joined = dict(self._joined(copies, {str(cells.get_tuple_name(OUT)) for _, cells in unclaimed}))
        asked = [*readers, *(self._joined_reader(name, held) for name, (_, held) in joined.items())]
        times = {one.name: one.time for one in asked if one.time is not None}
        expected = sources(self.before, [(one.name, one.old) for one in asked], times)
        found = sources(self.after, unclaimed, joined={name: writes for name, (writes, _) in joined.items()})
        for name, (statement, number) in claimed.items():
            yield from self._seen(statement, number)
            found[name] = self._claimed(name, statement, number)
        held = {one.name: expected.get(str(AccessTuple(one.name, "reads"))) for one in copies}
        of_pairs = {name: _as_copy(name, expected.get(_pairs_of(name))) for name in joined}
        for reader in readers:
            wanted, seen = expected.get(reader.name), found.get(reader.name)
            if reader.name in claimed or seen is None or wanted is None:
                yield from self._compared(reader, wanted, seen, held, ())
            else:
                yield from self._compared(reader, wanted, seen, held | of_pairs, joined)

    def _compared(
        self,
        reader: ComparedRead,
        wanted: isl.UnionMap | None,
        seen: isl.UnionMap | None,
        held: _Held,
        joined: Collection[str],
    ) -> Iterator[WrongValue]:
        """Compares what a read sees with what it must see.

        First for all instances asked about: values must be right wherever the writes have a meaning, and the
        writes that needed instances see must have one.  Otherwise for the needed instances alone.
        """
        needed = self._needed(reader)
        if needed is not None and needed.is_empty():
            return
        if wanted is not None and seen is not None:
            meant = self._meant(seen, held)
            if meant.is_subset(wanted) and self._has_meaning(seen, needed, joined):
                return
        if needed is not None:
            wanted, seen = (None if one is None else one.intersect_domain(needed) for one in (wanted, seen))
        found = None if seen is None else self._meant(seen, held, joined)
        yield from difference(reader, wanted, found, self.after)

    def _needed(self, reader: ComparedRead) -> isl.UnionSet | None:
        """The instances that must see the right value, if more are asked about."""
        if reader.statement is None or reader.statement.name not in self.claims.instances:
            return None
        return isl.UnionSet.from_set(self._counting[reader.statement.name].set_tuple_name(reader.name))

    def _known(self, name: str, found: isl.UnionMap) -> isl.UnionMap:
        """The value of a copy, where it is claimed."""
        known = self._counting[name].set_tuple_name(str(AccessTuple(name, "reads")))
        return found.intersect_domain(isl.UnionSet.from_set(known))

    def _has_meaning(self, seen: isl.UnionMap, needed: isl.UnionSet | None, joined: Collection[str]) -> bool:
        """Whether all writes that these instances see have a claimed value, or precede the region."""
        for part in nonempty_maps(seen):  # restricted to these instances last, because they have many pieces
            access = AccessTuple.of(str(part.get_tuple_name(OUT)))
            if access is None or access.verb != "writes" or access.statement in joined:
                continue
            if access.statement not in self.claims.idle:
                part = part.subtract_range(self._counting[access.statement].set_tuple_name(str(access)))
            readers = isl.UnionSet.from_set(part.domain())
            if not (readers if needed is None else readers.intersect(needed)).is_empty():
                return False
        return True

    def _joined(
        self, copies: tuple[Statement, ...], arrays: Collection[str]
    ) -> Iterator[tuple[str, tuple[JoinedWrites, HeldCell]]]:
        """Yields copies to these arrays whose writes need not be distinguished by tile."""
        for copy in copies:
            if copy.writes[0].array in arrays and copy.name not in self.claims.instances:
                found = joined_writes(self.after, copy, self.claims.held[copy.name], self._flow.entries)
                if found is not None:
                    yield copy.name, found

    def _joined_reader(self, name: str, held: HeldCell) -> ComparedRead:
        """A reader for the value of joined writes, which exists in P only."""
        pairs = _pairs_of(name)
        cell, time = held.cell.set_tuple_name(IN, pairs), held.time.set_tuple_name(IN, pairs)
        return ComparedRead(pairs, cell, cell, None, name, None, time)

    def _claimed_reads(self, copies: tuple[Statement, ...]) -> Iterator[tuple[str, tuple[Statement, int]]]:
        """Yields the reads with claimed sources, by the names of readers."""
        for name, number in self.claims.seen:
            statement = self.after.statement(name)
            access = AccessTuple(name, "reads", None if statement in copies else number)
            yield str(access), (statement, number)

    @cached_property
    def _counting(self) -> dict[str, isl.Set]:
        """The instances that compute or hold a value."""
        names = (*self.claims.computes, *self.claims.held)
        return {name: self._claimed_of(name, asked=False) for name in names}

    @cached_property
    def _asked(self) -> dict[str, isl.Set]:
        """The instances asked about."""
        names = (*self.claims.computes, *self.claims.held)
        return {name: self._claimed_of(name, asked=True) for name in names}

    def _claimed_of(self, name: str, *, asked: bool) -> isl.Set:
        statement = self.after.statement(name)
        if name in self.claims.computes:
            return self._instance(statement, asked=asked).domain()
        found = self.claims.held[name].cell.domain().intersect(statement.domain)
        known = self.claims.instances.get(name)
        found = found if asked or known is None else found.intersect(known)
        return found.intersect_params(self.after.context)

    def _seen(self, statement: Statement, number: int) -> Iterator[WrongValue]:
        read, claimed = statement.accesses[number], self.claims.seen[statement.name, number]
        needed, asked = self._counting[statement.name], self._asked[statement.name]
        return self._flow.wrong(statement, read, needed, claimed, asked)

    @cached_property
    def _flow(self) -> ClaimedFlow:
        return ClaimedFlow(self.after)

    def _claimed(self, name: str, statement: Statement, number: int) -> isl.UnionMap:
        """{ read -> write } as it is claimed."""
        found = isl.UnionMap.empty(self.after.context.get_space())
        for one in self.claims.seen[statement.name, number]:
            writer = self.after.statement(one.writer)
            (write,) = (k for k, access in enumerate(writer.accesses) if access.is_write)
            part = one.source.intersect_domain(self._asked[statement.name]).set_tuple_name(IN, name)
            part = part.set_tuple_name(OUT, str(AccessTuple(writer.name, "writes", write)))
            found = found.union(isl.UnionMap.from_map(part))
        return found

    def _readers(self) -> Iterator[ComparedRead]:
        """Yields the reads of P', and in P those of the instances that they compute."""
        for new in self.after.statements:
            if new.name not in self.claims.computes:
                continue
            old, instance = self._original(new), self._instance(new, asked=True)
            for k, (mine, theirs) in enumerate(zip(old.accesses, new.accesses, strict=True)):
                if mine.is_write:
                    continue
                name = str(AccessTuple(new.name, "reads", k))
                before = instance.apply_range(mine.relation).set_tuple_name(IN, name)
                after = theirs.relation.intersect_domain(instance.domain()).set_tuple_name(IN, name)
                yield ComparedRead(
                    name, before, after, new, access_text(mine), theirs.place, self._time(new, name)
                )

    def _time(self, new: Statement, name: str) -> isl.Map:
        """The time at which P executes the instance that one of P' computes."""
        time = self._instance(new, asked=True).apply_range(self._original(new).schedule)
        return time.set_tuple_name(IN, name)

    def _copy_reader(self, copy: Statement) -> ComparedRead:
        name = str(AccessTuple(copy.name, "reads"))
        (read,) = copy.reads
        before = self.claims.held[copy.name].cell.intersect_domain(copy.domain).set_tuple_name(IN, name)
        after = read.relation.intersect_domain(self._asked[copy.name]).set_tuple_name(IN, name)
        time = self.claims.held[copy.name].time.set_tuple_name(IN, name)
        return ComparedRead(name, before, after, copy, access_text(read), read.place, time)

    def _meant(self, seen: isl.UnionMap, held: _Held, joined: Collection[str] | None = None) -> isl.UnionMap:
        """The writes and cells of P that correspond to what P' sees.

        Instances count where they are claimed, `joined` copies everywhere; with None, where asked about.
        """
        meant = isl.UnionMap.empty(seen.get_space())
        for part in nonempty_maps(seen):
            access = AccessTuple.of(str(part.get_tuple_name(OUT)))
            if access is None or access.verb != "writes":
                meant = meant.union(isl.UnionMap.from_map(part))
            elif (computed := self.claims.computes.get(access.statement)) is not None:
                instance = self._instance(self.after.statement(access.statement), asked=joined is None)
                instance = instance.set_tuple_name(IN, str(access))
                instance = instance.set_tuple_name(OUT, str(replace(access, statement=computed)))
                meant = meant.union(isl.UnionMap.from_map(part.apply_range(instance)))
            elif (source := held.get(access.statement)) is not None:
                if joined is not None and access.statement not in joined:
                    source = self._known(access.statement, source)
                same = part.set_tuple_name(OUT, str(AccessTuple(access.statement, "reads")))
                meant = meant.union(isl.UnionMap.from_map(same).apply_range(source))
        return meant


def _pairs_of(copy: str) -> str:
    """The name of a joined copy as a reader."""
    return f"{copy} in pairs"


def _as_copy(name: str, found: isl.UnionMap | None) -> isl.UnionMap | None:
    """The value of joined writes, under the name of the copy's reads."""
    if found is None:
        return None
    reader = str(AccessTuple(name, "reads"))
    return union_map((one.set_tuple_name(IN, reader) for one in maps_of(found)), found.get_space())
