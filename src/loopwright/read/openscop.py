"""Reads OpenScop (`.scop`), the exchange format of Clan, Candl, Pluto and CLooG.

A statement has a domain, a scattering that orders its instances (without one, the iterators do), its
accesses, and its source.  `parse` returns only the order, for the code generator; `read_openscop`
the whole program.  A domain may have more dimensions than the statement has iterators: Pluto puts the
tile numbers first.

The format of a file:

    File       ::= "<OpenScop>" Language "CONTEXT" Union Names Count Statement* Extension* "</OpenScop>"
    Names      ::= "0" | "1" ("<strings>" names... "</strings>" | names...)
    Statement  ::= Count Relation* Count Extension*
    Relation   ::= ("DOMAIN" | "SCATTERING" | "READ" | "WRITE" | "MAY_WRITE") Union
    Extension  ::= "<" tag ">" lines... "</" tag ">"

A Union is a count of matrices, and the matrices.  Of the extensions, `<body>` has a statement's
source and `<arrays>` the names of the numbered arrays; the others are ignored.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.parameters import Parameter
from loopwright.model.program import Access, Array, Assumption, AssumptionKind, Body, Hole, Program, Statement
from loopwright.model.schedule import LEAF, Band, Member, Schedule
from loopwright.presburger.dimensions import beyond, padded, with_names
from loopwright.presburger.sets import IN, OUT, union_map
from loopwright.read.constraint_text import (
    Lines,
    Parameters,
    Union,
    Word,
    as_map,
    as_set,
    dimensions,
    parameters_of,
    take_union,
)
from loopwright.read.text import checked, load, mistake
from loopwright.source import Source, Span

ACCESSES = ("READ", "WRITE", "MAY_WRITE")
KINDS = ("DOMAIN", "SCATTERING", *ACCESSES)
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class ScopBody:
    """The source of a statement, in the language of the file, and the names of its iterators there."""

    iterators: tuple[str, ...]
    place: Span


@dataclass(frozen=True)
class ScopRelation:
    kind: str
    at: Word
    union: Union


@dataclass(frozen=True)
class StatementText:
    at: Word
    domain: ScopRelation
    scattering: ScopRelation | None
    accesses: tuple[ScopRelation, ...]
    body: ScopBody | None


@dataclass(frozen=True)
class ScopText:
    context: Union
    parameters: tuple[str, ...]
    statements: tuple[StatementText, ...]
    arrays: dict[int, str]


def take_scop(lines: Lines) -> ScopText:
    """Read the single scop of a file."""
    _take_word(lines, "<OpenScop>", "an OpenScop file begins with <OpenScop>")
    language = lines.take("the language")[0]
    if not NAME.match(language.text):
        raise lines.at(language, f"'{language.text[:40]}' is not a language", hint="C, for example")
    _take_word(lines, "CONTEXT", "the context comes first, headed by CONTEXT")
    context = take_union(lines, "the context", isl.Set.read_from_str)
    parameters = _take_parameters(lines, len(parameters_of(context)))
    count = lines.take_count("the number of statements")
    statements = tuple(_take_statement(lines, k + 1) for k in range(count))
    arrays: dict[int, str] = {}
    while lines.peek("</OpenScop>")[0].text != "</OpenScop>":
        tag = _tag(lines)
        inside = _take_extension(lines, tag)
        if tag.text == "<arrays>":
            arrays = _array_names(lines, inside)
    lines.take("</OpenScop>")
    if not lines.done():
        raise lines.at(lines.peek("")[0], "a second scop in one file", hint="put each into a file of its own")
    return ScopText(context, parameters, statements, arrays)


def _take_word(lines: Lines, wanted: str, hint: str) -> Word:
    word = lines.take(wanted)[0]
    if word.text != wanted:
        raise lines.at(word, f"'{word.text[:40]}' where {wanted} should be", hint=hint)
    return word


def _take_parameters(lines: Lines, count: int) -> tuple[str, ...]:
    """The given names; without any, P1, P2, ..."""
    if lines.take_count("0 or 1, whether parameters are named,") == 0:
        return tuple(f"P{k + 1}" for k in range(count))
    words: list[Word] = []
    tagged = lines.peek("the names of the parameters")[0].text == "<strings>"
    if tagged:
        for line in _take_extension(lines, _tag(lines)):
            words += line
    elif count:
        words += lines.take("the names of the parameters")
    names = tuple(_name(lines, word) for word in words)
    if len(names) != count or len(set(names)) != count:
        at = words[0] if words else lines.peek("the names of the parameters")[0]
        raise lines.at(at, f"{len(set(names))} different names for {count} parameters")
    return names


def _name(lines: Lines, word: Word) -> str:
    if not NAME.fullmatch(word.text):
        raise lines.at(word, f"'{word.text[:40]}' is not a name", hint="names are written as in C")
    return word.text


def _take_statement(lines: Lines, number: int) -> StatementText:
    at = lines.peek(f"statement {number}")[0]
    count = lines.take_count(f"the number of relations of statement {number}")
    relations = [_take_relation(lines, number) for _ in range(count)]
    bodies: list[ScopBody] = []
    for _ in range(lines.take_count(f"the number of extensions of statement {number}")):
        found = _body(lines, _take_extension(lines, _tag(lines)))
        bodies += [found] if found else []
    domains = [one for one in relations if one.kind == "DOMAIN"]
    scatterings = [one for one in relations if one.kind == "SCATTERING"]
    if len(domains) != 1 or len(scatterings) > 1:
        raise lines.at(
            at,
            f"statement {number} has {len(domains)} domains and {len(scatterings)} scatterings",
            hint="it has one DOMAIN, and one SCATTERING at most; a union is one relation of several parts",
        )
    accesses = tuple(one for one in relations if one.kind in ACCESSES)
    return StatementText(
        at, domains[0], scatterings[0] if scatterings else None, accesses, bodies[0] if bodies else None
    )


def _take_relation(lines: Lines, number: int) -> ScopRelation:
    word = lines.take(f"a relation of statement {number}")[0]
    if word.text not in KINDS:
        raise lines.at(
            word, f"'{word.text[:40]}' is not a kind of relation", hint=f"known: {', '.join(KINDS)}"
        )
    wanted = f"the {word.text} relation of statement {number}"
    reader = isl.Set.read_from_str if word.text == "DOMAIN" else isl.Map.read_from_str
    return ScopRelation(word.text, word, take_union(lines, wanted, reader))


def _tag(lines: Lines) -> Word:
    word = lines.take("an extension such as <body>")[0]
    if not re.fullmatch(r"<\w[\w-]*>", word.text):
        raise lines.at(word, f"'{word.text[:40]}' where an extension such as <body> should begin")
    return word


def _take_extension(lines: Lines, tag: Word) -> list[tuple[Word, ...]]:
    """The lines between the tag and its closing tag."""
    closing = tag.text.replace("<", "</")
    inside: list[tuple[Word, ...]] = []
    while lines.peek(closing)[0].text != closing:
        inside.append(lines.take(closing))
    lines.take(closing)
    return inside


def _body(lines: Lines, inside: list[tuple[Word, ...]]) -> ScopBody | None:
    """A count of iterators, their names if there are any, and the source; inside `<extbody>` too."""
    first = next((k for k, line in enumerate(inside) if line[0].text == "<body>"), -1)
    last = next((k for k, line in enumerate(inside) if line[0].text == "</body>"), len(inside))
    rest = inside[first + 1 : last]
    if not rest or not rest[0][0].text.isdigit():
        return None
    count = lines.count(rest[0][0], "the number of iterators")
    names = tuple(_name(lines, word) for word in rest[1]) if count and len(rest) > 1 else ()
    if len(names) != count:
        raise lines.at(rest[0][0], f"{len(names)} names for {count} iterators")
    text = rest[2:] if count else rest[1:]
    if not text:
        return None
    end = text[-1][-1]
    return ScopBody(names, Span(lines.source, text[0][0].offset, end.offset + len(end.text)))


def _array_names(lines: Lines, inside: list[tuple[Word, ...]]) -> dict[int, str]:
    """The names of arrays: a count, then a number and a name for each."""
    names: dict[int, str] = {}
    for line in inside[1:]:
        if len(line) != 2:
            raise lines.at(line[0], "an array is a number and a name")
        names[lines.count(line[0], "the number of an array")] = _name(lines, line[1])
    return names


ITERATORS = "ijklmnopq"

_TRUSTED = "the statements access the cells that the description names, and no others"


@dataclass(frozen=True)
class Scop:
    """`program` has its schedules in the form of the model, `times` as they were written."""

    program: Program
    times: tuple[isl.Map, ...]


def parse(text: str, filename: str) -> Schedule:
    """The schedule that an OpenScop file describes: one band over all statements S1, S2, ..."""
    scop = _scop(Source(filename, text))
    domain, context = scop.program.domain(), scop.program.context
    pairs = zip(scop.program.statements, scop.times, strict=True)
    placed = (times.intersect_domain(statement.domain) for statement, times in pairs)
    schedule = union_map(placed, context.get_space())
    size = max((times.dim(OUT) for times in scop.times), default=0)
    return Schedule(domain, context, Band(schedule, (Member(),) * size, LEAF) if size else LEAF)


def read_openscop(path: str | Path) -> Program:
    """The program that an OpenScop file describes."""
    return _scop(load(path)).program


def _scop(source: Source) -> Scop:
    lines = Lines.of(checked(source))
    return _Reading(lines, take_scop(lines), source).scop()


class _Reading:
    """The conversion of one file from matrices to sets."""

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
            raise mistake(self.lines.source, 0, "the context constrains more than parameters")
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
        """The iterators in the source name the last dimensions; those before are tile numbers."""
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
        """An access: the first output is the number of the array, the others are the subscripts."""
        found = self._map(relation, domain, domain.dim(isl.dim_type.set))
        number = _fixed(found) if found.dim(OUT) else None
        if number is None:
            raise self.lines.at(relation.at, "an access without the number of its array")
        name = self.text.arrays.get(number, f"A{number}")
        cells = beyond(found, OUT, 1).set_tuple_name(OUT, name).intersect_domain(domain)
        must = relation.kind != "MAY_WRITE" and bool(cells.is_single_valued())
        return Access(name, cells, relation.kind != "READ", must, place)

    def _refuse_other_ranks(self, text: StatementText, accesses: tuple[Access, ...]) -> None:
        """Raise if accesses to one array have different numbers of subscripts, and cannot be compared."""
        for relation, access in zip(text.accesses, accesses, strict=True):
            rank = access.relation.dim(OUT)
            if self.ranks.setdefault(access.array, rank) != rank:
                message = (
                    f"{rank} subscripts of {access.array}, which has {self.ranks[access.array]} elsewhere"
                )
                raise self.lines.at(relation.at, message)

    def _body(self, text: StatementText, iterators: tuple[str, ...]) -> Body:
        """The source with its iterators as holes; empty at the place of the statement if there is none."""
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
    """The common value of all points in the first output."""
    value = relation.range().coalesce().plain_get_val_if_fixed(isl.dim_type.set, 0)
    return int(value.to_python()) if value.is_int() else None


def _same_length(times: list[isl.Map]) -> list[isl.Map]:
    """Pad shorter vectors with zeros, as CLooG does."""
    size = max((one.dim(OUT) for one in times), default=0)
    return [padded(one, size) for one in times]


def _with_zeros(times: isl.Map, places: range) -> isl.Map:
    """The vectors with zeros inserted at `places`."""
    for place in places:
        times = times.insert_dims(OUT, place, 1).fix_val(OUT, place, isl.Val(0))
    return times


def _alternating(statements: list[Statement], times: list[isl.Map]) -> list[isl.Map]:
    """Positions and iteration numbers alternating, the form of the model; zeros are inserted if needed."""
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
