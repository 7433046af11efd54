"""Compares the values that reads see in two programs, and describes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import islpy as isl

from loopwright.c.declarations import unqualified
from loopwright.c.tokens import bracketed, packed
from loopwright.display import Displayed
from loopwright.errors import Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import at
from loopwright.presburger.functions import identity
from loopwright.presburger.named import at_parameters
from loopwright.presburger.points import Point, smallest_point, values_text
from loopwright.presburger.sets import IN, OUT, constraint_count, nonempty_maps, sets_of
from loopwright.prove.legality.sources import AccessTuple, cell_before
from loopwright.prove.reading.loops import leaf_nodes
from loopwright.source import Span, plain_data


@dataclass(frozen=True)
class WrongValue(Displayed):
    """A read that sees another value after a change of storage, for some sizes."""

    reader: str
    """`S2(i = 0, j = 1) reads acc`, or a cell that is observable after the region."""
    wanted: str
    found: str
    parameters: dict[str, int]
    span: Span | None
    operation: Span | None = None
    """The operation that changed the storage."""
    text: str = ""
    """The operation as written in the script."""
    certain: bool = True
    rounding: bool = False
    """Whether the value differs only because numbers are added in another order."""

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = plain_data(self)
        return found


@dataclass(frozen=True)
class StorageVerdict:
    """The number of obligations, and the first failure for each read."""

    obligations: int
    wrong: tuple[WrongValue, ...] = ()


@dataclass(frozen=True, eq=False)
class ComparedRead:
    """A read in both programs; `name` is that of its instances in relations."""

    name: str
    old: isl.Map
    new: isl.Map
    statement: Statement | None
    shown: str
    span: Span | None
    time: isl.Map | None = None
    """{ read -> θ } in the first program, if the reader is not one of its statements."""


def refuse_no_copy(copy: Statement, program: Program) -> None:
    _refuse(no_copy(copy, program))


def _refuse(wrong: str | None) -> None:
    """Raises an internal error: the source was generated here."""
    if wrong is not None:
        raise InternalError(Code.INTERNAL, wrong)


def no_copy(copy: Statement, program: Program) -> str | None:
    """Returns why a statement is not a copy, `b = a;`, with one must-read and one write."""
    kinds = [access.is_write for access in copy.accesses]
    exact = all(a.must and a.relation.is_single_valued() for a in copy.accesses)
    left, right = (packed(a.place.text) for a in reversed(copy.accesses)) if len(kinds) == 2 else ("", "")
    if kinds != [False, True] or not exact or packed(copy.body.place.text) != f"{left}={right};":
        return f"{copy.name} is not a copy of a cell"
    types = {element_type(program, access) for access in copy.accesses}
    if len(types) != 1 or None in types:
        return f"{copy.name} converts what it copies"
    return None


def element_type(program: Program, access: Access) -> str | None:
    """The element type of the accessed array, if the source declares it."""
    array = program.array(access.array)
    if array.element_type is None:
        return None
    return unqualified(program.file.declarations.resolved(array.element_type))


def refuse_other_text(
    old: Statement, new: Statement, before: Program, after: Program, instance: isl.Map | None = None
) -> None:
    _refuse(other_text(old, new, before, after, instance))


def _depends_on_data(access: Access) -> GaveUp:
    message = f"could not decide: which cell '{access_text(access)}' is depends on data"
    return GaveUp(Code.UNDECIDED, message)


def other_text(
    old: Statement, new: Statement, before: Program, after: Program, instance: isl.Map | None = None
) -> str | None:
    """Returns why the texts differ outside of moved accesses, which must have the same kinds and types.

    `instance` says which instance of `old` one of `new` is, if their names differ.
    """
    if len(old.accesses) != len(new.accesses):
        return f"{old.name} is another statement where its storage changed"
    pairs = list(zip(old.accesses, new.accesses, strict=True))
    moved = [pair for pair in pairs if moves(*pair, instance)]
    for mine, theirs in pairs:
        kinds = mine.is_write == theirs.is_write
        if kinds and mine.must and not theirs.must:  # a known number is in new storage, and is data there
            raise _depends_on_data(theirs)
        kinds = kinds and mine.must == theirs.must
        types = {element_type(before, mine), element_type(after, theirs)}
        if not kinds or ((mine, theirs) in moved and (len(types) != 1 or None in types)):
            return f"an access of {old.name} is of another kind or type"
    for statement, access in [(old, mine) for mine, _ in moved] + [(new, theirs) for _, theirs in moved]:
        if not access.relation.intersect_domain(statement.domain).is_single_valued():
            raise _depends_on_data(access)
    one = _around(old, [mine.place for mine, _ in moved])
    other = _around(new, [theirs.place for _, theirs in moved])
    if one != other:
        return f"{old.name} is another operation where its storage changed"
    return None


def moves(old: Access, new: Access, instance: isl.Map | None = None) -> bool:
    if old.array != new.array:
        return True
    mine = old.relation if instance is None else instance.apply_range(old.relation)
    theirs = new.relation if instance is None else new.relation.intersect_domain(instance.domain())
    return not mine.is_equal(theirs)


def _around(statement: Statement, places: list[Span]) -> tuple[str, ...]:
    """The text of a statement between these places, stripped of surrounding spaces."""
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


def is_assignment(program: Program, statement: Statement) -> bool:
    node = leaf_nodes(program, program.syntax)[statement.name]
    return (node.only_expression or node).type in ("assignment_expression", "init_declarator")


def out_of_bounds(statement: Statement, access: Access, point: Point) -> WrongValue:
    instance, cell = point.coordinates[: statement.depth], point.coordinates[statement.depth :]
    shown = access.array + bracketed(cell)
    reader = f"{instance_text(statement, instance)} touches {shown}"
    return WrongValue(reader, "a cell of the array", "none", point.parameters, access.place)


def left_in_memory(before: Program, after: Program, disturbed: frozenset[str]) -> Iterator[ComparedRead]:
    """Yields every written cell of arrays that are observable after the region."""
    for array in before.arrays:
        if array.name not in disturbed or before.is_dead_after(array):
            continue
        written = _written_cells(array.name, (*before.statements, *after.statements))
        if written is None:
            continue
        name = f"end of {array.name}"
        everything = identity(written)
        read = everything.set_tuple_name(IN, name)
        yield ComparedRead(name, read, read, None, array.name, None)


def _written_cells(array: str, statements: Sequence[Statement]) -> isl.Set | None:
    """The cells that are written; simple sets come first, and their subsets are not added."""
    found = [
        access.relation.intersect_domain(statement.domain).range().coalesce()
        for statement in statements
        for access in statement.writes
        if access.array == array
    ]
    written: isl.Set | None = None
    for cells in sorted(found, key=constraint_count):
        if written is None:
            written = cells
        elif not cells.is_subset(written):
            written = written.union(cells).coalesce()
    return written


def written_by(part: isl.Map) -> str | None:
    """The statement of `{ read -> S writes k }`; None for a cell from before the region."""
    access = AccessTuple.of(str(part.get_tuple_name(OUT)))
    return access.statement if access is not None and access.verb == "writes" else None


def difference(
    reader: ComparedRead, expected: isl.UnionMap | None, found: isl.UnionMap | None, program: Program
) -> list[WrongValue]:
    """The smallest read that sees another value."""
    nothing = isl.UnionMap.empty(program.context.get_space())
    old, new = expected or nothing, found or nothing
    if old.is_equal(new):
        return []
    differing = old.subtract(new).union(new.subtract(old)).domain()
    read = sets_of(differing)[0]
    point = smallest_point(read)
    assert point is not None
    where = at_parameters(_at_all(read, point.coordinates), point.parameters)
    here = isl.UnionSet.from_set(where)
    wanted, instead = (_shown(one.intersect_domain(here), point.parameters) for one in (old, new))
    instance = point.coordinates[: reader.statement.depth] if reader.statement is not None else ()
    shown = (
        f"{reader.shown}{bracketed(point.coordinates)} after the region"
        if reader.statement is None
        else f"{instance_text(reader.statement, instance)} reads {reader.shown}"
    )
    return [WrongValue(shown, wanted, instead, point.parameters, reader.span)]


def _at_all(points: isl.Set, coordinates: tuple[int, ...]) -> isl.Set:
    """The point of a set with these coordinates; the set may be of pairs."""
    if not points.get_space().is_wrapping():
        return at(points, isl.dim_type.set, coordinates)
    pairs = points.unwrap()
    count = pairs.dim(IN)
    name = points.get_tuple_name()
    chosen = at(at(pairs, IN, coordinates[:count]), OUT, coordinates[count:]).wrap()
    return chosen if name is None else chosen.set_tuple_name(name)


def _shown(seen: isl.UnionMap, parameters: dict[str, int]) -> str:
    """Describes what a read sees."""
    texts: list[str] = []
    for part in nonempty_maps(seen):
        point = smallest_point(at_parameters(part, parameters).range())
        if point is None:
            continue
        values = ", ".join(map(str, point.coordinates))
        name = str(part.get_tuple_name(OUT))
        array = cell_before(name)
        if array is not None:
            cell = array + bracketed(point.coordinates)
            texts.append(f"what {cell} held before the region")
        else:
            texts.append(f"what {written_by(part) or name}({values}) writes")
    return " or ".join(sorted(texts)) or "nothing"


def instance_text(statement: Statement, instance: tuple[int, ...]) -> str:
    pairs = zip(statement.iterators, instance, strict=False)
    return f"{statement.name}({values_text(dict(pairs))})"


def access_text(access: Access) -> str:
    return " ".join(access.place.text.split())
