"""OpenScop (`.scop`): what Clan, Candl, Pluto and CLooG tell each other.

A statement has a domain, a scattering that orders its instances (without one, the iterators do), the
cells it touches, and its text.  `parse` gives the order alone, for the code generator; `read_openscop`
the whole program.  A domain may have more dimensions than the statement has iterators: Pluto puts the
numbers of tiles in front.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import (
    Access,
    Array,
    Assumption,
    AssumptionKind,
    Body,
    Hole,
    Parameter,
    Program,
    Statement,
)
from loopwright.model.schedule import LEAF, Band, Member, Schedule
from loopwright.presburger.dimensions import beyond, padded, with_names
from loopwright.presburger.sets import IN, OUT, union_map
from loopwright.read.constraint_text import Lines, Parameters, as_map, as_set, dimensions
from loopwright.read.openscop_text import NAME, ScopRelation, ScopText, StatementText, take_scop
from loopwright.read.text import checked, load, mistake
from loopwright.source import Source, Span

ITERATORS = "ijklmnopq"

_TRUSTED = "the statements touch the cells that the description says, and no others"


@dataclass(frozen=True)
class Scop:
    """`program` has its schedules in the form of the model, `times` as they were written."""

    program: Program
    times: tuple[isl.Map, ...]


def parse(text: str, filename: str) -> Schedule:
    """The schedule an OpenScop file describes: one band over all statements S1, S2, ..."""
    scop = _scop(Source(filename, text))
    domain, context = scop.program.domain(), scop.program.context
    pairs = zip(scop.program.statements, scop.times, strict=True)
    placed = (times.intersect_domain(statement.domain) for statement, times in pairs)
    schedule = union_map(placed, context.get_space())
    size = max((times.dim(OUT) for times in scop.times), default=0)
    return Schedule(domain, context, Band(schedule, (Member(),) * size, LEAF) if size else LEAF)


def read_openscop(path: str | Path) -> Program:
    """The program an OpenScop file describes."""
    return _scop(load(path)).program


def _scop(source: Source) -> Scop:
    lines = Lines.of(checked(source))
    return _Reading(lines, take_scop(lines), source).scop()


class _Reading:
    """One file on its way from matrices to sets."""

    def __init__(self, lines: Lines, text: ScopText, source: Source) -> None:
        self.lines, self.text = lines, text
        self.source = source
        names = text.parameters
        self.parameters = Parameters(names, names)
        self.ranks: dict[str, int] = {}

    def scop(self) -> Scop:
        text = self.text
        size = dimensions(self.lines, text.context, 0, len(text.parameters))
        if size:
            raise mistake(self.lines.source, 0, "the context is about more than parameters")
        context = as_set(self.lines, text.context, 0, self.parameters).params()
        found = [self._statement(k + 1, statement) for k, statement in enumerate(text.statements)]
        times = _same_length([statement.schedule for statement in found])
        statements = tuple(
            replace(statement, schedule=schedule)
            for statement, schedule in zip(found, _alternating(found, times), strict=True)
        )
        listed = [name for _, name in sorted(text.arrays.items()) if name in self.ranks]
        program = Program(
            region=self.source.whole,
            parameters=tuple(Parameter(name, name) for name in text.parameters),
            context=context,
            assumptions=(Assumption(AssumptionKind.DESCRIPTION, _TRUSTED),),
            arrays=tuple(Array(name, self.ranks[name]) for name in dict.fromkeys([*listed, *self.ranks])),
            statements=statements,
            tags=(),
        )
        return Scop(program, tuple(times))

    def _statement(self, number: int, text: StatementText) -> Statement:
        name = f"S{number}"
        size = dimensions(self.lines, text.domain.union, 0, len(self.parameters.names))
        iterators = self._iterators(text, size)
        domain = as_set(self.lines, text.domain.union, size, self.parameters).set_tuple_name(name)
        domain = with_names(domain, iterators)
        schedule = self._times(text.scattering, domain)
        body = self._body(text, iterators)
        accesses = tuple(self._access(relation, domain, body.place) for relation in text.accesses)
        self._refuse_other_ranks(text, accesses)
        return Statement(name, iterators, domain, schedule, accesses, body, ("int",) * size)

    def _iterators(self, text: StatementText, size: int) -> tuple[str, ...]:
        """The names of the text for the last dimensions; those in front are numbers of tiles."""
        own = text.body.iterators if text.body else ()
        if len(own) > size:
            raise self.lines.at(text.at, f"{len(own)} iterators in a domain of {size} dimensions")
        used = {*own, *self.parameters.names}
        count = size - len(own)
        letters: tuple[str, ...] = tuple(ITERATORS) if not own else ()
        numbered = (f"t{k}" for k in itertools.count(1))
        free = (name for name in itertools.chain(letters, numbered) if name not in used)
        return (*itertools.islice(free, count), *own)

    def _times(self, scattering: ScopRelation | None, domain: isl.Set) -> isl.Map:
        if scattering is None:
            return isl.Map.identity(domain.get_space().map_from_set()).reset_tuple_id(OUT)
        inputs = domain.dim(isl.dim_type.set)
        return self._map(scattering, domain, inputs)

    def _map(self, relation: ScopRelation, domain: isl.Set, inputs: int) -> isl.Map:
        size = dimensions(self.lines, relation.union, inputs, len(self.parameters.names))
        found = as_map(self.lines, relation.union, size, inputs, self.parameters)
        plain = isl.Map.identity(isl.Space.alloc(found.get_ctx(), 0, size, size))
        found = found.apply_range(plain).set_tuple_id(IN, domain.get_tuple_id())
        for k in range(inputs):
            found = found.set_dim_id(IN, k, domain.get_dim_id(isl.dim_type.set, k))
        return found

    def _access(self, relation: ScopRelation, domain: isl.Set, place: Span) -> Access:
        """The first output is the number of the array, the others are the subscripts."""
        found = self._map(relation, domain, domain.dim(isl.dim_type.set))
        number = _fixed(found) if found.dim(OUT) else None
        if number is None:
            raise self.lines.at(relation.at, "an access without the number of its array")
        name = self.text.arrays.get(number, f"A{number}")
        cells = beyond(found, OUT, 1).set_tuple_name(OUT, name).intersect_domain(domain)
        must = relation.kind != "MAY_WRITE" and bool(cells.is_single_valued())
        return Access(name, cells, relation.kind != "READ", must, place)

    def _refuse_other_ranks(self, text: StatementText, accesses: tuple[Access, ...]) -> None:
        """Cells of one array with different numbers of subscripts could not be told to be the same."""
        for relation, access in zip(text.accesses, accesses, strict=True):
            rank = access.relation.dim(OUT)
            if self.ranks.setdefault(access.array, rank) != rank:
                message = (
                    f"{rank} subscripts of {access.array}, which has {self.ranks[access.array]} elsewhere"
                )
                raise self.lines.at(relation.at, message)

    def _body(self, text: StatementText, iterators: tuple[str, ...]) -> Body:
        """The text with its iterators as holes; without a text, nothing at the place of the statement."""
        if text.body is None:
            return Body(self.source.at(text.domain.at.offset, 0))
        place = text.body.place
        named = re.finditer(rf"(?<![\w.>])(?<!->){NAME.pattern}", place.text)
        holes = tuple(
            Hole(self.source.at(place.start + one.start(), len(one.group())), one.group())
            for one in named
            if one.group() in iterators
        )
        return Body(place, holes)


def _fixed(relation: isl.Map) -> int | None:
    """The value all points have in the first output."""
    value = relation.range().coalesce().plain_get_val_if_fixed(isl.dim_type.set, 0)
    return int(value.to_python()) if value.is_int() else None


def _same_length(times: list[isl.Map]) -> list[isl.Map]:
    """Shorter vectors are padded with zeros, as CLooG does."""
    size = max((one.dim(OUT) for one in times), default=0)
    return [padded(one, size) for one in times]


def _with_zeros(times: isl.Map, places: range) -> isl.Map:
    """The vectors with zeros put in, so that they end up at `places`."""
    for place in places:
        times = times.insert_dims(OUT, place, 1).fix_val(OUT, place, isl.Val(0))
    return times


def _alternating(statements: list[Statement], times: list[isl.Map]) -> list[isl.Map]:
    """Positions and iteration numbers in turn, the form of the model; zeros put in where it is another."""
    if all(map(_alternates, statements, times)):
        return times
    size = max((one.dim(OUT) for one in times), default=0)
    return [_with_zeros(one, range(0, 2 * size + 1, 2)) for one in times]


def _alternates(statement: Statement, times: isl.Map) -> bool:
    size = times.dim(OUT)
    if size % 2 == 0:
        return False
    vectors = times.intersect_domain(statement.domain).range().coalesce()
    return all(vectors.plain_get_val_if_fixed(isl.dim_type.set, k).is_int() for k in range(0, size, 2))
