"""Proves that other storage holds the same values.

Two programs P and P' execute the same statement instances in the same order θ; P' may execute copies besides,
and its statements access other cells.  For a read r of an instance, let

    F(r)   the write whose value r sees in P, or the cell whose value from before the region it sees;
    F'(r)  the same in P', where a value that a copy wrote is the one that the copy read.

P' leaves in memory what P does, if

    operations   every statement has its original text, except for the cells it names;
    inside       two accesses of one instance, one of them a write, coincide in P' exactly if they do in P,
                 unless the statement is one assignment: then all its reads precede its write;
    values       F'(r) = F(r) for every read r;
    left         the same for a read after the region of every observable cell;
    room         every cell of P' is inside its array, and a copy accesses no cell of an array of P that P
                 does not access.

By induction over the order every instance then reads the values it read and computes the same.  May-writes do
not end the search for a write: F(r) has all that r may see, and since the order is the same, equal sets mean
equal values.  Reads whose value cannot have changed are omitted: those that did not move, of arrays of which
no write moved, and which no copy writes.

The module also proves that a program with divided statements executes the original instances.

A statement S of P has the parts S1, S2, ... in P', each with a text of its own.  P' is P with other names if

    operations   every part has the text of S, and instance i of the part accesses what instance i of S does;
    instances    the domains of the parts are disjoint, and together the domain of S;
    order        instance i of a part has the time of instance i of S.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from loopwright.errors import Code, GaveUp, InternalError
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import padded
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import IN, OUT, isl_failures, nonempty_maps
from loopwright.prove.legality.bounds import outside
from loopwright.prove.legality.redundant import prove_redundant
from loopwright.prove.legality.scaled import Product, product_of, with_products
from loopwright.prove.legality.sources import AccessTuple, sources
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
    moves,
    out_of_bounds,
    refuse_no_copy,
    refuse_other_text,
    written_by,
)
from loopwright.transform.storage import StorageChange

MOST_COPIES = 8
"""Maximum length of chains of copies."""


@isl_failures("isl could not compare two uses of storage")
def prove_storage(change: StorageChange, *, host: bool = True) -> StorageVerdict:
    """Proves that `change.after` computes what `change.before` does; the `host` tests sizes first."""
    if change.redundancy is not None:
        return prove_redundant(change, change.redundancy)
    _refuse_other_statements(change)
    if change.division:
        return StorageVerdict(len(change.before.statements) + 2 * len(change.after.statements))
    return _prove(change.before, change.after, host=host)


def _refuse_other_statements(change: StorageChange) -> None:
    """Raises an internal error if `change` does not describe the change that was made."""
    before, after = change.before, change.after
    parts: dict[str, list[Statement]] = {one.name: [] for one in before.statements}
    others: list[Statement] = []
    for one in after.statements:
        parts.get(change.division.get(one.name, one.name), others).append(one)
    declared, known = ({one.name for one in program.arrays} for program in (after, before))
    if change.division and (others or declared != known):
        raise InternalError(Code.INTERNAL, "a division declares storage, or runs something else")
    for old in before.statements:
        _refuse_other_instances(old, parts[old.name], before)
        for part in parts[old.name]:
            _refuse_other_statement(old, part, is_part=bool(change.division))
            if change.division:
                refuse_other_text(old, part, before, after, _instance(old, part))


def _prove(before: Program, after: Program, *, host: bool) -> StorageVerdict:
    copies = _copies(before, after)
    products = {copy.name: product_of(copy, after) for copy in copies}
    written, before = before, with_products(before, after, products)
    for old in before.statements:
        refuse_other_text(old, after.statement(old.name), before, after)
    wrong = [one for old in before.statements for one in _meetings(old, after.statement(old.name), before)]
    wrong += [out_of_bounds(*one) for one in outside(written, after, copies, tested=host)]
    asked = 2 * len(before.statements) + len(copies)
    if not any(products.values()) and is_staged(before, after, _same_instances(before)):
        return StorageVerdict(asked + len(copies), tuple(wrong))
    disturbed = _disturbed(before, after, copies)
    readers = [*_readers(before, after, disturbed), *left_in_memory(before, after, disturbed)]
    copying = {copy.name: _copy_reader(copy, products[copy.name]) for copy in copies}
    old_flow = sources(before, [(one.name, one.old) for one in readers])
    new_flow = sources(after, [(one.name, one.new) for one in (*readers, *copying.values())])
    for reader in readers:
        expected = old_flow.get(reader.name)
        found = through_copies(new_flow.get(reader.name), copying, new_flow)
        wrong += difference(reader, expected, found, before)
    return StorageVerdict(len(readers) + asked, tuple(wrong))


def _same_instances(before: Program) -> dict[str, tuple[Statement, isl.Map]]:
    """The statements of both programs; an instance of one is the instance of the other."""
    return {
        one.name: (one, isl.Map.identity(one.domain.get_space().map_from_set()).intersect_domain(one.domain))
        for one in before.statements
    }


def _copies(before: Program, after: Program) -> tuple[Statement, ...]:
    """The new statements: each must be `b = a;`, one must-read, or `b = f * a;`."""
    known = {statement.name for statement in before.statements}
    found = tuple(statement for statement in after.statements if statement.name not in known)
    for copy in found:
        if product_of(copy, after) is None:
            refuse_no_copy(copy, after)
    return found


def _meetings(old: Statement, new: Statement, program: Program) -> Iterator[WrongValue]:
    """Yields pairs of accesses of one instance that coincide in one program but not in the other."""
    if len({access.place for access in old.writes}) == 1 and is_assignment(program, old):
        return
    pairs = list(zip(old.accesses, new.accesses, strict=True))
    for k, (one, moved) in enumerate(pairs):
        for other, other_moved in pairs[:k]:
            both = moves(one, moved) or moves(other, other_moved)
            if not both or not (one.is_write or other.is_write):
                continue
            mine = _meet(one, other, old)
            theirs = _meet(moved, other_moved, old)
            differ = mine.subtract(theirs).union(theirs.subtract(mine)).intersect_params(program.context)
            if not differ.is_empty():
                point = smallest_point(differ)
                assert point is not None
                read = access_text(one if other.is_write else other)
                yield WrongValue(
                    f"{instance_text(old, point.coordinates)} reads {read}",
                    "what the statement itself writes" if not mine.is_empty() else "another cell",
                    "another cell" if not mine.is_empty() else "what the statement itself writes",
                    point.parameters,
                    one.place,
                )


def _meet(one: Access, other: Access, statement: Statement) -> isl.Set:
    """The instances in which two accesses are to the same cell."""
    if one.array != other.array:
        return isl.Set.empty(statement.domain.get_space())
    return one.relation.intersect(other.relation).domain().intersect(statement.domain)


def _disturbed(before: Program, after: Program, copies: tuple[Statement, ...]) -> frozenset[str]:
    """The arrays from or to which a write moved, and those that copies write."""
    found = {access.array for copy in copies for access in copy.writes}
    for old in before.statements:
        for mine, theirs in zip(old.accesses, after.statement(old.name).accesses, strict=True):
            if mine.is_write and moves(mine, theirs):
                found |= {mine.array, theirs.array}
    return frozenset(found)


def _readers(before: Program, after: Program, disturbed: frozenset[str]) -> Iterator[ComparedRead]:
    for old in before.statements:
        pairs = zip(old.accesses, after.statement(old.name).accesses, strict=True)
        for k, (mine, theirs) in enumerate(pairs):
            moved = moves(mine, theirs)
            if mine.is_write or not (moved or mine.array in disturbed):
                continue
            name = str(AccessTuple(old.name, "reads", k))
            relations = [one.relation.intersect_domain(old.domain) for one in (mine, theirs)]
            if moved:
                one, other = (relation.set_tuple_name(IN, name) for relation in relations)
            else:  # each cell that may be read is a separate read
                one, other = (relation.range_map().set_tuple_name(IN, name) for relation in relations)
            yield ComparedRead(name, one, other, old, access_text(mine), mine.place)


def _copy_reader(copy: Statement, product: Product | None) -> ComparedRead:
    name = str(AccessTuple(copy.name, "reads"))
    (read,) = copy.reads if product is None else (product.cell,)
    relation = read.relation.intersect_domain(copy.domain).set_tuple_name(IN, name)
    return ComparedRead(name, relation, relation, copy, access_text(read), read.place)


def through_copies(
    seen: isl.UnionMap | None, copying: dict[str, ComparedRead], flow: dict[str, isl.UnionMap]
) -> isl.UnionMap | None:
    """The sources, with each value that a copy wrote replaced by the value that it read."""
    for _ in range(MOST_COPIES):
        if seen is None:
            return None
        parts = nonempty_maps(seen)
        copied = [one for one in parts if _copy_of(one, copying) is not None]
        if not copied:
            return seen
        kept = isl.UnionMap.empty(seen.get_space())
        for part in parts:
            copy = _copy_of(part, copying)
            if copy is None:
                kept = kept.union(isl.UnionMap.from_map(part))
            elif copying[copy].name in flow:
                same = part.set_tuple_name(OUT, copying[copy].name)
                kept = kept.union(isl.UnionMap.from_map(same).apply_range(flow[copying[copy].name]))
        seen = kept
    message = "could not decide: values are passed from copy to copy in each iteration of a loop"
    raise GaveUp(Code.UNDECIDED, message)


def _copy_of(part: isl.Map, copying: dict[str, ComparedRead]) -> str | None:
    name = written_by(part)
    return name if name in copying else None


def _instance(old: Statement, part: Statement) -> isl.Map:
    """{ part[i] -> S[i] } where the part has an instance."""
    same = isl.Map.identity(part.domain.get_space().map_from_set())
    return same.set_tuple_id(OUT, old.domain.get_tuple_id()).intersect_domain(part.domain)


def _refuse_other_instances(old: Statement, parts: list[Statement], before: Program) -> None:
    found = isl.Set.empty(old.domain.get_space())
    for part in parts:
        mine = part.domain.set_tuple_id(old.domain.get_tuple_id()).intersect_params(before.context)
        if not mine.is_disjoint(found):
            raise InternalError(Code.INTERNAL, f"two parts of {old.name} have an instance in common")
        found = found.union(mine)
    if not found.is_equal(old.domain.intersect_params(before.context)):
        raise InternalError(Code.INTERNAL, f"the parts of {old.name} are not all of it")


def _refuse_other_statement(old: Statement, new: Statement, *, is_part: bool) -> None:
    """Checks for the same instances at the same time; a part must also have the same accesses."""
    instance, length = _instance(old, new), max(old.schedule.dim(OUT), new.schedule.dim(OUT))
    times = padded(new.schedule, length).intersect_domain(new.domain)
    same = (
        old.iterators == new.iterators
        and old.iterator_types == new.iterator_types
        and times.is_equal(instance.apply_range(padded(old.schedule, length)))
    )
    pairs = zip(old.accesses, new.accesses, strict=False) if is_part else ()
    if not same or any(moves(*pair, instance) for pair in pairs):
        raise InternalError(Code.INTERNAL, f"{old.name} is another statement where its storage changed")
