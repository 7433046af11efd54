"""Whether other storage holds the same values.

Two programs P and P' run the same statement instances in the same order θ; P' may run copies besides, and
its statements touch other cells.  For a read r of an instance, let

    F(r)   the write whose value r sees in P, or the cell whose value from before the region it sees;
    F'(r)  the same in P', where a value that a copy wrote is the one that the copy read.

P' leaves in memory what P does, if

    operations   every statement has the text it had, but for the cells it names;
    inside       two accesses of one instance, one of them a write, meet in P' exactly if they do in P, unless
                 the statement is one assignment: then all it reads is read before it writes;
    values       F'(r) = F(r) for every read r;
    left         so for a read after the region of every cell that may be looked at there;
    room         every cell of P' is inside its array, and a copy touches no cell of an array of P that P
                 does not touch.

By induction over the order every instance then reads the values it read and computes the same.  Writes
that only may happen are no end of the search for a write: F(r) has all that r may see, and since the order
is the same, equal sets mean equal values.  Reads whose value cannot have changed are left out: those of
arrays of which no access moved, and which no copy writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import islpy as isl

from loopwright.c.declarations import unqualified
from loopwright.c.syntax import named_children
from loopwright.display import Displayed
from loopwright.errors import Code, GaveUp, InternalError
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import at, padded
from loopwright.presburger.named import at_parameters
from loopwright.presburger.points import Point, smallest_point
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.legality.bounds import outside
from loopwright.prove.legality.sources import maps_of, sources
from loopwright.prove.text.loops import leaf_nodes
from loopwright.source import Span, plain_data
from loopwright.transform.storage import StorageChange

MOST_COPIES = 8
"""Copies of copies that are followed."""


@dataclass(frozen=True)
class WrongValue(Displayed):
    """A read that sees another value where storage has changed, for some sizes."""

    reader: str
    """`S2(i = 0, j = 1) reads acc`, or what is looked at after the region."""
    wanted: str
    found: str
    parameters: dict[str, int]
    span: Span | None
    operation: Span | None = None
    """The operation that changed the storage."""
    text: str = ""
    """The operation as it is written."""
    certain: bool = True

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = plain_data(self)
        return found


@dataclass(frozen=True)
class StorageVerdict:
    """How many questions were asked, and the first that has the wrong answer for each read."""

    obligations: int
    wrong: tuple[WrongValue, ...] = ()


@dataclass(frozen=True, eq=False)
class _Reader:
    """A read, in both programs; `name` is that of its instances in relations."""

    name: str
    old: isl.Map
    new: isl.Map
    statement: Statement | None
    shown: str
    span: Span | None


def prove_storage(change: StorageChange) -> StorageVerdict:
    """Whether `change.after` computes what `change.before` does."""
    try:
        return _prove(change.before, change.after)
    except isl.Error as failure:
        raise InternalError(Code.ISL, f"isl could not compare two uses of storage: {failure}") from failure


def _prove(before: Program, after: Program) -> StorageVerdict:
    copies = _copies(before, after)
    for old in before.statements:
        _refuse_other_operations(old, after.statement(old.name), before, after)
    wrong = [one for old in before.statements for one in _meetings(old, after.statement(old.name), before)]
    wrong += [_out_of_bounds(*one) for one in outside(before, after, copies)]
    disturbed = _disturbed(before, after, copies)
    readers = [*_readers(before, after, disturbed), *_left(before, after, disturbed)]
    copying = {copy.name: _copy_reader(copy) for copy in copies}
    old_flow = sources(before, [(one.name, one.old) for one in readers])
    new_flow = sources(after, [(one.name, one.new) for one in (*readers, *copying.values())])
    for reader in readers:
        expected = old_flow.get(reader.name)
        found = _through_copies(new_flow.get(reader.name), copying, new_flow)
        wrong += _difference(reader, expected, found, before)
    return StorageVerdict(len(readers) + 2 * len(before.statements) + len(copies), tuple(wrong))


def _copies(before: Program, after: Program) -> tuple[Statement, ...]:
    """The statements that are new: each must be `b = a;`, one read that surely happens and one write."""
    known = {statement.name for statement in before.statements}
    found = tuple(statement for statement in after.statements if statement.name not in known)
    for copy in found:
        kinds = [access.is_write for access in copy.accesses]
        exact = all(a.must and a.relation.is_single_valued() for a in copy.accesses)
        left, right = (_plain(a.place.text) for a in reversed(copy.accesses)) if len(kinds) == 2 else ("", "")
        if kinds != [False, True] or not exact or _plain(copy.body.place.text) != f"{left}={right};":
            raise InternalError(Code.INTERNAL, f"{copy.name} is not a copy of a cell")
        types = {_type(after, access) for access in copy.accesses}
        if len(types) != 1 or None in types:
            raise InternalError(Code.INTERNAL, f"{copy.name} converts what it copies")
    return found


def _plain(text: str) -> str:
    return "".join(text.split())


def _type(program: Program, access: Access) -> str | None:
    array = next(one for one in program.arrays if one.name == access.array)
    return None if array.element_type is None else unqualified(array.element_type)


def _refuse_other_operations(old: Statement, new: Statement, before: Program, after: Program) -> None:
    """The same instances at the same time, and the same text but for the accesses that moved."""
    length = max(old.schedule.dim(OUT), new.schedule.dim(OUT))
    same = (
        old.iterators == new.iterators
        and old.iterator_types == new.iterator_types
        and old.domain.is_equal(new.domain)
        and padded(old.schedule, length).is_equal(padded(new.schedule, length))
        and len(old.accesses) == len(new.accesses)
    )
    if not same:
        raise InternalError(Code.INTERNAL, f"{old.name} is another statement where its storage changed")
    for mine, theirs in zip(old.accesses, new.accesses, strict=True):
        kinds = (mine.is_write, mine.must) == (theirs.is_write, theirs.must)
        types = {_type(before, mine), _type(after, theirs)}
        if not kinds or (_moves(mine, theirs) and (len(types) != 1 or None in types)):
            raise InternalError(Code.INTERNAL, f"an access of {old.name} is of another kind or type")
    moved = [pair for pair in zip(old.accesses, new.accesses, strict=True) if _moves(*pair)]
    for access in (one for pair in moved for one in pair):
        if not access.relation.intersect_domain(old.domain).is_single_valued():
            raise GaveUp(Code.UNDECIDED, f"could not decide: which cell '{_text(access)}' is depends on data")
    one = _around(old, [mine.place for mine, _ in moved])
    other = _around(new, [theirs.place for _, theirs in moved])
    if one != other:
        raise InternalError(Code.INTERNAL, f"{old.name} is another operation where its storage changed")


def _moves(old: Access, new: Access) -> bool:
    return old.array != new.array or not old.relation.is_equal(new.relation)


def _around(statement: Statement, places: list[Span]) -> tuple[str, ...]:
    """The text of a statement between these places, without spaces at its ends."""
    body = statement.body.place
    pieces: list[str] = []
    position = body.start
    for place in sorted(set(places)):
        if place.start < position or not body.contains(place):
            raise InternalError(Code.INTERNAL, f"accesses of {statement.name} overlap")
        pieces.append(body.source.text[position : place.start])
        position = place.end
    pieces.append(body.source.text[position : body.end] + statement.body.terminator)
    return tuple(piece.strip() for piece in pieces)


def _meetings(old: Statement, new: Statement, program: Program) -> Iterator[WrongValue]:
    """Pairs of accesses of one instance that meet in one program and not in the other."""
    if len({access.place for access in old.writes}) == 1 and _is_assignment(program, old):
        return
    pairs = list(zip(old.accesses, new.accesses, strict=True))
    for k, (one, moved) in enumerate(pairs):
        for other, other_moved in pairs[:k]:
            moves = _moves(one, moved) or _moves(other, other_moved)
            if not moves or not (one.is_write or other.is_write):
                continue
            mine = _meet(one, other, old)
            theirs = _meet(moved, other_moved, old)
            differ = mine.subtract(theirs).union(theirs.subtract(mine)).intersect_params(program.context)
            if not differ.is_empty():
                point = smallest_point(differ)
                assert point is not None
                yield WrongValue(
                    f"{_instance(old, point.coordinates)} reads {_text(one if other.is_write else other)}",
                    "what the statement itself writes" if not mine.is_empty() else "another cell",
                    "another cell" if not mine.is_empty() else "what the statement itself writes",
                    point.parameters,
                    one.place,
                )


def _is_assignment(program: Program, statement: Statement) -> bool:
    node = leaf_nodes(program, program.syntax)[statement.name]
    inner = named_children(node)
    if node.type == "expression_statement" and len(inner) == 1:
        node = inner[0]
    return node.type in ("assignment_expression", "init_declarator")


def _meet(one: Access, other: Access, statement: Statement) -> isl.Set:
    """The instances in which two accesses touch the same cell."""
    if one.array != other.array:
        return isl.Set.empty(statement.domain.get_space())
    return one.relation.intersect(other.relation).domain().intersect(statement.domain)


def _out_of_bounds(statement: Statement, access: Access, point: Point) -> WrongValue:
    instance, cell = point.coordinates[: statement.depth], point.coordinates[statement.depth :]
    shown = access.array + "".join(f"[{value}]" for value in cell)
    reader = f"{_instance(statement, instance)} touches {shown}"
    return WrongValue(reader, "a cell of the array", "none", point.parameters, access.place)


def _disturbed(before: Program, after: Program, copies: tuple[Statement, ...]) -> frozenset[str]:
    """The arrays of which an access moved, from or to, and those that copies write."""
    found = {access.array for copy in copies for access in copy.writes}
    for old in before.statements:
        for mine, theirs in zip(old.accesses, after.statement(old.name).accesses, strict=True):
            if _moves(mine, theirs):
                found |= {mine.array, theirs.array}
    return frozenset(found)


def _readers(before: Program, after: Program, disturbed: frozenset[str]) -> Iterator[_Reader]:
    for old in before.statements:
        pairs = zip(old.accesses, after.statement(old.name).accesses, strict=True)
        for k, (mine, theirs) in enumerate(pairs):
            if mine.is_write or not {mine.array, theirs.array} & disturbed:
                continue
            name = f"{old.name} reads {k}"
            relations = [one.relation.intersect_domain(old.domain) for one in (mine, theirs)]
            if _moves(mine, theirs):
                one, other = (relation.set_tuple_name(IN, name) for relation in relations)
            else:  # each cell that may be read is a read of its own
                one, other = (relation.range_map().set_tuple_name(IN, name) for relation in relations)
            yield _Reader(name, one, other, old, _text(mine), mine.place)


def _left(before: Program, after: Program, disturbed: frozenset[str]) -> Iterator[_Reader]:
    """Every cell that is written, of arrays that may be looked at after the region."""
    for array in before.arrays:
        if array.name not in disturbed or before.is_dead_after(array):
            continue
        written: isl.Set | None = None
        for program in (before, after):
            for statement in program.statements:
                for access in statement.writes:
                    if access.array == array.name:
                        cells = access.relation.intersect_domain(statement.domain).range()
                        written = cells if written is None else written.union(cells)
        if written is None:
            continue
        name = f"end of {array.name}"
        everything = isl.Map.identity(written.get_space().map_from_set()).intersect_domain(written)
        read = everything.set_tuple_name(IN, name)
        yield _Reader(name, read, read, None, array.name, None)


def _copy_reader(copy: Statement) -> _Reader:
    name = f"{copy.name} reads"
    (read,) = copy.reads
    relation = read.relation.intersect_domain(copy.domain).set_tuple_name(IN, name)
    return _Reader(name, relation, relation, copy, _text(read), read.place)


def _through_copies(
    seen: isl.UnionMap | None, copying: dict[str, _Reader], flow: dict[str, isl.UnionMap]
) -> isl.UnionMap | None:
    """The sources, what a copy wrote replaced by what the copy read."""
    for _ in range(MOST_COPIES):
        if seen is None:
            return None
        parts = maps_of(seen)
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
    raise InternalError(Code.INTERNAL, "copies of copies have no end")


def _copy_of(part: isl.Map, copying: dict[str, _Reader]) -> str | None:
    statement, writes, _ = str(part.get_tuple_name(OUT)).partition(" writes ")
    return statement if writes and statement in copying else None


def _difference(
    reader: _Reader, expected: isl.UnionMap | None, found: isl.UnionMap | None, program: Program
) -> list[WrongValue]:
    """The smallest read that sees something else."""
    nothing = isl.UnionMap.empty(program.context.get_space())
    old, new = expected or nothing, found or nothing
    if old.is_equal(new):
        return []
    differing = old.subtract(new).union(new.subtract(old)).domain()
    reads: list[isl.Set] = []
    differing.foreach_set(reads.append)
    point = smallest_point(reads[0])
    assert point is not None
    where = at_parameters(_at_all(reads[0], point.coordinates), point.parameters)
    here = isl.UnionSet.from_set(where)
    wanted, instead = (_shown(one.intersect_domain(here), point.parameters) for one in (old, new))
    instance = point.coordinates[: reader.statement.depth] if reader.statement is not None else ()
    shown = (
        f"{reader.shown}{''.join(f'[{c}]' for c in point.coordinates)} after the region"
        if reader.statement is None
        else f"{_instance(reader.statement, instance)} reads {reader.shown}"
    )
    return [WrongValue(shown, wanted, instead, point.parameters, reader.span)]


def _at_all(points: isl.Set, coordinates: tuple[int, ...]) -> isl.Set:
    """The one point of a set, which may be of pairs."""
    if not points.get_space().is_wrapping():
        return at(points, isl.dim_type.set, coordinates)
    pairs = points.unwrap()
    count = pairs.dim(IN)
    name = points.get_tuple_name()
    chosen = at(at(pairs, IN, coordinates[:count]), OUT, coordinates[count:]).wrap()
    return chosen if name is None else chosen.set_tuple_name(name)


def _shown(seen: isl.UnionMap, parameters: dict[str, int]) -> str:
    """What a read sees, in words."""
    texts: list[str] = []
    for part in maps_of(seen):
        point = smallest_point(at_parameters(part, parameters).range())
        if point is None:
            continue
        values = ", ".join(map(str, point.coordinates))
        name = str(part.get_tuple_name(OUT))
        before, _, array = name.partition("before ")
        if not before and array:
            cell = array + "".join(f"[{value}]" for value in point.coordinates)
            texts.append(f"what {cell} held before the region")
        else:
            texts.append(f"what {name.partition(' writes ')[0]}({values}) writes")
    return " or ".join(sorted(texts)) or "nothing"


def _instance(statement: Statement, instance: tuple[int, ...]) -> str:
    pairs = zip(statement.iterators, instance, strict=False)
    return f"{statement.name}({', '.join(f'{name} = {value}' for name, value in pairs)})"


def _text(access: Access) -> str:
    return " ".join(access.place.text.split())
