"""Changes of storage: the same statements on other cells, recorded in the plan.

An operation on storage rewrites accesses in the source of a region, `acc` to `acc_i[i]`, and declares new
variables there.  The result is read like any other source, so the new accesses are those of its text; the
schedules of the plan stay. `prove.legality.storage` proves from the two programs alone that every read still
sees the same value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache

import islpy as isl

from loopwright.c.allocation import redefined
from loopwright.c.file import c_file
from loopwright.c.tokens import names_in
from loopwright.errors import BadInput, Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import ELSEWHERE, Array, AssumptionKind, MemorySpace, Program, Statement
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.region import read_region
from loopwright.source import Source, Span


@dataclass(frozen=True, eq=False)
class HeldCell:
    """The value of a copy: in the old program, the cell { copy -> A[c] } before the time { copy -> θ }."""

    cell: isl.Map
    time: isl.Map


@dataclass(frozen=True, eq=False)
class SeenWrite:
    """Where a read sees a write of the statement `writer`: { read's instance -> write's instance }."""

    writer: str
    source: isl.Map


@dataclass(frozen=True)
class Redundancy:
    """A program that computes values of another, some of them several times, and copies cells.

    A statement named in `computes` has the iterators of the statement that it computes, and additional ones.
    """

    computes: dict[str, str]
    held: dict[str, HeldCell] = field(default_factory=dict)
    """The values of copies, unless they stage arrays tile by tile."""
    instances: dict[str, isl.Set] = field(default_factory=dict)
    """The instances of these statements that compute or hold a value; the rest are unknown."""
    named_in: dict[str, isl.Set] = field(default_factory=dict)
    """Simpler supersets of those instances, on which their computed value is defined."""
    named: dict[str, isl.Map] = field(default_factory=dict)
    """{ S'[i'] -> S[i] } of these statements, where their iterators do not determine it."""
    idle: frozenset[str] = frozenset()
    """Statements that clear new storage: the values they write are unknown."""
    seen: dict[tuple[str, int], tuple[SeenWrite, ...]] = field(default_factory=dict)
    """For accesses of statements by number, the writes that they see, if claimed."""


@dataclass(frozen=True)
class StorageChange:
    """`after` is `before` with other storage, in the same order.

    Access number k of a statement of `before` corresponds to number k of the same statement of `after`: this
    defines the map from an instance and a cell to the new cell.  Statements of `after` that `before` does not
    have are copies of cells.  `before` is `original` in the plan's order.
    """

    original: Program
    before: Program
    after: Program
    step: int
    """The number of the operation in the history of the plan."""
    redundancy: Redundancy | None = None
    """If `after` has other statements: the values that these compute and hold."""
    division: dict[str, str] = field(default_factory=dict)
    """Statements of `after` that are parts of a statement of `before`, by its name."""
    summands: dict[str, str] = field(default_factory=dict)
    """A statement of `after` that adds the second part of what a statement of `before` added."""
    tests: dict[str, tuple[str, str]] = field(default_factory=dict)
    """For a statement that is tested before it runs, those of `after` that clear a variable and test."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """`text` in place of what is at `place`."""

    place: Span
    text: str


def with_storage(
    program: Program,
    edits: Sequence[TextEdit],
    new: Sequence[Array],
    copies: Sequence[tuple[str, isl.Map]] = (),
) -> Program:
    """The program with its source edited and the arrays `new` declared in it; its schedules stay.

    `copies` are appended to the source, each with its schedule { [i] -> vector }.
    """
    if any(array.name == ELSEWHERE for array in program.arrays):
        raise BadInput(Code.STORAGE, "the region has calls or pointers that may touch any storage")
    hidden = redefined(program.source) if any(one.space is MemorySpace.HEAP for one in new) else []
    if hidden:
        message = f"storage is to be allocated, and '{hidden[0]}' is not what <stdlib.h> declares"
        raise BadInput(Code.STORAGE, message, hint="give it another name in the file")
    text = _edited(program, edits, new, "".join(copy for copy, _ in copies))
    return _read(program, text, new, [schedule for _, schedule in copies], {})


def divided_program(
    program: Program, edits: Sequence[TextEdit], copies: Sequence[tuple[str, isl.Map]], parts: Sequence[str]
) -> Program:
    """The program with its source edited and `copies` appended, which have these schedules.

    Copy number k takes over instances of the statement parts[k].
    """
    taken = {name: schedule.domain() for name, (_, schedule) in zip(parts, copies, strict=True)}
    text = _edited(program, edits, (), "".join(copy for copy, _ in copies))
    return _read(program, text, (), [schedule for _, schedule in copies], taken)


def _without(statement: Statement, taken: isl.Set | None) -> Statement:
    if taken is None:
        return statement
    domain = statement.domain.subtract(taken).coalesce()
    return replace(statement, domain=domain, schedule=statement.schedule.intersect_domain(domain))


def unused_name(program: Program, wanted: str) -> str:
    """`wanted`, with underscores appended until the file has no such name."""
    taken = set(names_in(program.source.text))
    while wanted in taken or f"{wanted}_memory" in taken:
        wanted += "_"
    return wanted


def replaced_text(
    program: Program, text: str, new: Sequence[Array], statements: int | None = None
) -> Program:
    """The program with new source for its region, which has its own schedules and so many statements."""
    if any(array.name == ELSEWHERE for array in program.arrays):
        raise BadInput(Code.STORAGE, "the region has calls or pointers that may touch any storage")
    declared = "".join(f"{array.declaration} " for array in new)
    region = program.region
    found = _read_again(program, program.source.edited([(region.start, region.end, f"{declared}{text}")]))
    if statements not in (None, len(found.statements)):
        raise InternalError(Code.INTERNAL, "a text that was made was read as other statements")
    scheduled = tuple(_scheduled(program, one, one.schedule) for one in found.statements)
    return _continued(program, found, new, scheduled)


def _edited(program: Program, edits: Sequence[TextEdit], new: Sequence[Array], end: str) -> Source:
    """The edited source; declarations go before the first statement, on its line, to keep line numbers.

    They are part of the replacement of its first character, so they are inside the region.
    """
    start = program.syntax.named_children[0].start
    declared = "".join(f"{array.declaration} " for array in new)
    places = {(one.place.start, one.place.end): one.text for one in edits}
    first = next((place for place in places if place[0] == start), (start, start + 1))
    places[first] = declared + places.get(first, program.source.text[start : start + 1])
    last = [node.end for node in program.syntax.named_children if node.type != "comment"][-1]
    if end:
        places[last - 1, last] = places.get((last - 1, last), program.source.text[last - 1 : last]) + end
    return program.source.edited([(*place, places[place]) for place in sorted(places)])


def _read(
    old: Program, text: Source, new: Sequence[Array], schedules: Sequence[isl.Map], taken: dict[str, isl.Set]
) -> Program:
    """The edited region, its statements with the schedules they have in `old`, copies with the given ones.

    `taken` are the instances that statements no longer have.
    """
    found = _read_again(old, text)
    count = len(old.statements)
    names = [one.name for one in found.statements]
    if names[:count] != [one.name for one in old.statements] or len(names) != count + len(schedules):
        raise _other_statements(old, found, count + len(schedules))
    statements = tuple(
        _rescheduled(old, mine, _without(theirs, taken.get(theirs.name)))
        for mine, theirs in zip(found.statements, old.statements, strict=False)
    )
    copies = zip(found.statements[count:], schedules, strict=True)
    statements += tuple(_scheduled(old, copy, schedule) for copy, schedule in copies)
    return _continued(old, found, new, statements)


def _other_statements(old: Program, found: Program, count: int) -> BadInput | InternalError:
    """Handle a variable no longer assigned after its declaration, which is then not read as a statement.

    One that nothing reads becomes a statement if the other variable of its name gets new storage.
    """
    if len(found.statements) > count:
        message = "the region declares two variables of one name, and one of them would get new storage"
        return BadInput(Code.STORAGE, message, hint="rename one of them")
    left = {one.name for one in found.arrays}
    constants = [one.name for one in old.arrays if one.rank == 0 and one.name not in left]
    if constants:
        message = f"with this storage nothing in the region would assign to '{constants[0]}'"
        return BadInput(Code.STORAGE, f"{message} after its declaration")
    return InternalError(Code.INTERNAL, "the region has other statements after a change of storage")


def _read_again(old: Program, source: Source) -> Program:
    """The region of a source in which the region `old` was replaced."""
    number = [region.place for region in old.file.regions].index(old.region)
    place = c_file(source).regions[number].place
    stated = [one.text for one in old.assumptions if one.kind is AssumptionKind.USER and one.place is None]
    try:
        return _read_once(place, tuple(sorted(names_in(old.region.text))), tuple(stated))
    except BadInput as failure:
        raise BadInput(
            Code.STORAGE, f"the region with its new storage cannot be read: {failure.message}"
        ) from failure


@lru_cache(maxsize=64)
def _read_once(place: Span, pure: tuple[str, ...], stated: tuple[str, ...]) -> Program:
    """The region at a place of a source, cached because a search repeats the same steps."""
    return read_region(place, ReadOptions(pure, stated))


def _continued(
    old: Program, found: Program, new: Sequence[Array], statements: tuple[Statement, ...]
) -> Program:
    """The region as read, with the facts about `old` and its arrays, and the memory spaces of new ones."""
    spaces, known = {array.name: array.space for array in new}, {array.name: array for array in old.arrays}
    for one in found.arrays:
        if one.name in known and one.rows != known[one.name].rows:
            message = f"with this storage the rows of {one.name} cannot be told apart"
            raise BadInput(Code.STORAGE, message, hint="declare it with its dimensions")
    arrays = tuple(_as_known(one, known.get(one.name), spaces) for one in found.arrays)
    return replace(
        found,
        parameters=old.parameters,
        context=old.context,
        assumptions=old.assumptions,
        arrays=arrays,
        statements=statements,
    )


def _as_known(found: Array, old: Array | None, spaces: Mapping[str, MemorySpace | None]) -> Array:
    """An array with its memory space, and whether it is live-out or accessed through pointers."""
    if old is not None:
        found = replace(found, space=old.space, observed=old.observed, addressed=old.addressed)
    if found.name in spaces:
        return replace(found, space=spaces[found.name])
    return found if old is None else replace(found, layout=old.layout)


def _scheduled(program: Program, copy: Statement, schedule: isl.Map) -> Statement:
    """A scheduled copy, which executes only where the context holds."""
    space = program.context.get_space()
    domain = copy.domain.align_params(space)
    timed = schedule.set_tuple_id(isl.dim_type.in_, domain.get_tuple_id()).align_params(space)
    accesses = tuple(
        replace(access, relation=access.relation.align_params(space)) for access in copy.accesses
    )
    return replace(copy, domain=domain, schedule=timed, accesses=accesses)


def _rescheduled(program: Program, new: Statement, old: Statement) -> Statement:
    space = program.context.get_space()
    accesses = tuple(replace(access, relation=access.relation.align_params(space)) for access in new.accesses)
    domain = new.domain.align_params(space)
    if new.iterators != old.iterators or not domain.intersect_params(program.context).is_equal(
        old.domain.intersect_params(program.context)
    ):
        known = {one.name for one in program.parameters}
        fixed = [name for name in new.domain.get_var_names(isl.dim_type.param) if name not in known]
        if fixed:
            message = f"with this storage nothing in the region would change '{fixed[0]}', on which"
            raise BadInput(Code.STORAGE, f"{message} it depends whether {old.name} runs")
        raise InternalError(Code.INTERNAL, f"with other storage {old.name} has other instances")
    return replace(new, domain=old.domain, schedule=old.schedule, accesses=accesses)
