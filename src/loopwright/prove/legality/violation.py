"""What is wrong with a schedule, as an example: values of the parameters, two instances, one cell.

Everything here is plain data, for people and for `plain_data`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

import islpy as isl

from loopwright.c.tokens import bracketed
from loopwright.display import Displayed
from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import at
from loopwright.presburger.named import at_parameters
from loopwright.presburger.points import Point, smallest_point
from loopwright.presburger.sets import IN
from loopwright.prove.legality.times import time_of
from loopwright.source import Span, plain_data


class Breach(StrEnum):
    """How the new order is wrong for two dependent instances."""

    REVERSED = "reversed"
    SAME_TIME = "same time"
    UNORDERED = "unordered"
    """They are in different iterations of a loop that is marked parallel."""


class DefectKind(StrEnum):
    """How a schedule fails to be one-to-one."""

    COLLISION = "collision"
    UNSCHEDULED = "unscheduled"
    SCHEDULED_TWICE = "scheduled twice"


@dataclass(frozen=True)
class Occurrence:
    """One instance of a statement: its place in the source, and its times."""

    statement: str
    iterators: tuple[str, ...]
    instance: tuple[int, ...]
    text: str
    span: Span
    before: tuple[int, ...]
    """Its time in the program as written."""
    after: tuple[int, ...]
    """Its time in the new schedule."""
    label: str | None = None
    """The statement's label in the source."""
    loops: tuple[str, ...] = ()
    """The names of the loops around it in the new program, if known."""

    @property
    def name(self) -> str:
        return self.label or self.statement


@dataclass(frozen=True)
class ConflictingAccess:
    """The access of an occurrence to the cell that both access."""

    text: str
    span: Span
    is_write: bool
    must: bool


@dataclass(frozen=True)
class Violation(Displayed):
    """`first` executed before `second`, both access `array[cell]`, and the new schedule reverses that.

    It is `certain` unless one of them is a may-access.
    """

    kind: str
    """"flow", "anti" or "output"."""
    array: str
    cell: tuple[int, ...]
    parameters: dict[str, int]
    first: Occurrence
    second: Occurrence
    first_access: ConflictingAccess
    second_access: ConflictingAccess
    breach: Breach
    loop: str | None = None
    """The parallel loop that carries the dependence, if that is the failure."""
    loop_span: Span | None = None
    """The place where the script marks it."""
    reduction: str | None = None
    """The operator, if both are steps of a reduction: only its associativity is missing."""

    def __repr__(self) -> str:
        values = "".join(f", {name} = {value}" for name, value in self.parameters.items())
        cell = self.array + bracketed(self.cell)
        ends = " -> ".join(f"{one.name}{list(one.instance)}" for one in (self.first, self.second))
        return f"<Violation {self.breach}: {self.kind} dependence {ends} on {cell}{values}>"

    @property
    def certain(self) -> bool:
        return self.first_access.must and self.second_access.must

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = plain_data(self)
        return found | {"certain": self.certain}


@dataclass(frozen=True)
class Defect:
    """The schedule is not one-to-one: `instances` share a time, or one has none or several."""

    kind: DefectKind
    parameters: dict[str, int]
    instances: tuple[Occurrence, ...]
    times: tuple[tuple[int, ...], ...]
    """The time of a collision, none, or two times of one instance."""

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = plain_data(self)
        return found


@dataclass(frozen=True, eq=False)
class WitnessContext:
    """The program and its new schedule, for making witnesses."""

    program: Program
    schedules: Mapping[str, isl.Map]

    def rescheduled(self) -> Program:
        """The program with its new schedule."""
        statements = (replace(one, schedule=self.schedules[one.name]) for one in self.program.statements)
        return replace(self.program, statements=tuple(statements))


def violation(
    context: WitnessContext,
    dependence: Dependence,
    example: Point,
    *,
    loop: tuple[str, Span | None] | None = None,
    reduction: str | None = None,
) -> Violation:
    """A broken dependence, shown by the `example`, a point of [source -> sink].

    `loop` is the name of the parallel loop that carries it, and the place where it is marked.
    """
    one, other = _instances(example, context.program, dependence.source)
    first = occurrence(context, dependence.source, one, example.parameters)
    second = occurrence(context, dependence.sink, other, example.parameters)
    return Violation(
        kind=dependence.kind.value,
        array=dependence.array,
        cell=_cell(dependence, one, other, example.parameters),
        parameters=example.parameters,
        first=first,
        second=second,
        first_access=_touched(dependence.source_access),
        second_access=_touched(dependence.sink_access),
        breach=Breach.UNORDERED if loop is not None else _breach(first, second),
        loop=None if loop is None else loop[0],
        loop_span=None if loop is None else loop[1],
        reduction=reduction,
    )


def collision(context: WitnessContext, pairs: isl.Set, names: tuple[str, str]) -> Defect:
    """The smallest of the `pairs` of instances that have the same time."""
    point = smallest(pairs)
    found = _instances(point, context.program, names[0])
    one = occurrence(context, names[0], found[0], point.parameters)
    other = occurrence(context, names[1], found[1], point.parameters)
    if one.after != other.after:
        raise InternalError(
            Code.INTERNAL, f"two instances at different times were mistaken for a collision: {one}, {other}"
        )
    return Defect(DefectKind.COLLISION, point.parameters, (one, other), (one.after,))


def smallest(points: isl.Set) -> Point:
    """The smallest point of a nonempty set."""
    point = smallest_point(points)
    if point is None:
        raise InternalError(Code.INTERNAL, "an obligation fails, but there is no counterexample")
    return point


def _instances(pair: Point, program: Program, source: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    depth = program.statement(source).depth
    return pair.coordinates[:depth], pair.coordinates[depth:]


def occurrence(
    context: WitnessContext,
    name: str,
    instance: tuple[int, ...],
    parameters: dict[str, int],
    after: tuple[int, ...] | None = None,
) -> Occurrence:
    """One instance with both its times; the new one is computed unless it is given."""
    statement = context.program.statement(name)
    if after is None:
        after = time_of(context.schedules[name], instance, parameters)
    return Occurrence(
        statement=name,
        iterators=statement.iterators,
        instance=instance,
        text=_text(statement),
        span=statement.body.place,
        before=time_of(statement.schedule, instance, parameters),
        after=after,
        label=next(iter(context.program.labels_on(statement)), None),
    )


def _text(statement: Statement) -> str:
    """The statement on one line."""
    text = statement.body.place.text + statement.body.terminator
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def _touched(access: Access) -> ConflictingAccess:
    text = " ".join(access.place.text.split())
    return ConflictingAccess(text, access.place, access.is_write, access.must)


def _breach(first: Occurrence, second: Occurrence) -> Breach:
    if first.before >= second.before or first.after < second.after:
        raise InternalError(
            Code.INTERNAL, f"a pair that is in order was mistaken for a violation: {first}, {second}"
        )
    return Breach.SAME_TIME if first.after == second.after else Breach.REVERSED


def _cell(
    dependence: Dependence, one: tuple[int, ...], other: tuple[int, ...], parameters: dict[str, int]
) -> tuple[int, ...]:
    """A cell that both instances access; for unknown subscripts, the smallest."""
    mine = _cells(dependence.source_access, one, parameters)
    point = smallest_point(mine.intersect(_cells(dependence.sink_access, other, parameters)))
    if point is None:
        raise InternalError(Code.INTERNAL, "two instances depend on each other, but touch no common cell")
    return point.coordinates


def _cells(access: Access, instance: tuple[int, ...], parameters: dict[str, int]) -> isl.Set:
    return at_parameters(at(access.relation, IN, instance), parameters).range()


def simplest_first(found: list[Violation]) -> tuple[Violation, ...]:
    """Sorts certain before possible violations, then small numbers before large ones, then source order."""

    def key(item: Violation) -> tuple[object, ...]:
        numbers = (*item.first.instance, *item.second.instance)
        return (
            not item.certain,
            item.reduction is not None,
            sum(map(abs, item.parameters.values())),
            sum(map(abs, numbers)),
            ("flow", "anti", "output").index(item.kind),
            item.first_access.span.line,
            item.first_access.span.column,
            item.second_access.span.line,
            item.second_access.span.column,
            numbers,
        )

    return tuple(sorted(found, key=key))
