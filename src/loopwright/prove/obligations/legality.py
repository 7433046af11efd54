"""Legality in the obligation language: two instances that touch a cell keep their order.

x in D_S, y in D_T, an access of S(x) and one of T(y) to the same cell, one of them a write:
θ(x) ≺ θ(y)  implies  θ'(x) ≺ θ'(y)         and   θ(x) = θ(y)  implies  S = T, x = y.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from loopwright.errors import Code, GaveUp, Span
from loopwright.loops.expressions import FALSE, Expr, Test, Var
from loopwright.loops.nodes import Node
from loopwright.loops.substitution import substituted, substituted_expr
from loopwright.model.program import Program
from loopwright.prove.obligations.cells import Cell, Touched, touched
from loopwright.prove.obligations.decisions import Choice, Decision, choices, opposite
from loopwright.prove.obligations.formulas import (
    before,
    conjunction,
    disjunction,
    equal,
)
from loopwright.prove.obligations.obligation import Obligation
from loopwright.prove.obligations.scanning import table_obligations
from loopwright.prove.obligations.timetable import Shape, Timetable, Vector


@dataclass(frozen=True, eq=False)
class _Instance:
    """An arbitrary instance of a statement, over variables of its own."""

    name: str
    domain: Test
    values: dict[str, Expr]
    use: Touched

    def arguments(self) -> Vector:
        return tuple(self.values.values())

    def at(self, cell: Cell) -> Vector:
        return tuple(substituted_expr(one, self.values) for one in cell.subscripts)


def transformation_obligations(
    program: Program, old: tuple[Timetable, Node], new: tuple[Timetable, Node]
) -> Iterator[Obligation]:
    """All that a transformation needs: both programs run their schedules, and the step is legal."""
    spans = spans_of(program)
    yield from table_obligations(*old, spans)
    yield from table_obligations(*new, spans)
    yield from legality_obligations(old[0], new[0], touched(program), spans)


def spans_of(program: Program) -> dict[str, Span]:
    """Where the statements stand in the text."""
    return {statement.name: program.source.span(statement.body.place) for statement in program.statements}


def legality_obligations(
    old: Timetable, new: Timetable, uses: Sequence[Touched], spans: Mapping[str, Span]
) -> Iterator[Obligation]:
    """One obligation for each two accesses to the same array, and each case of the times."""
    instances = [(_instance(old, use, "1"), _instance(old, use, "2")) for use in uses]
    for first, second in product(instances, repeat=2):
        for one in _pair(first[0], second[1], old, new):
            yield replace(one, span=spans.get(second[1].name))


def _instance(table: Timetable, use: Touched, mark: str) -> _Instance:
    shape = _shape(table, use.statement)
    values: dict[str, Expr] = {name: Var(f"{name}#{mark}") for name in shape.arguments}
    domain = substituted(shape.domain, values)
    own = dict(zip(use.arguments, values.values(), strict=True))
    return _Instance(use.statement, domain, own, use)


def _shape(table: Timetable, name: str) -> Shape:
    for statement in table.statements:
        if statement.name == name and len(statement.shapes) == 1 and not statement.shapes[0].times:
            return statement.shapes[0]
    raise GaveUp(Code.NO_PROOF, f"{name} has no single time in the schedule")


def _times(table: Timetable, instance: _Instance) -> Iterator[tuple[tuple[Test, ...], Vector]]:
    shape = _shape(table, instance.name)
    at = dict(zip(shape.arguments, instance.arguments(), strict=True))
    nothing: Decision[Vector] = Choice(())
    for way, time in choices(shape.time or nothing):
        cases = tuple(substituted(test if holds else opposite(test), at) for test, holds in way)
        yield cases, tuple(substituted_expr(one, at) for one in time)


def _pair(a: _Instance, b: _Instance, old: Timetable, new: Timetable) -> Iterator[Obligation]:
    for one, other in meetings(a.use, b.use):
        met = conjunction([old.known, a.domain, b.domain, equal(a.at(one), b.at(other))])
        what = f"{a.name} and {b.name} touch the same cell of {one.array}"
        for (here, first), (there, second) in product(_times(old, a), _times(old, b)):
            same = equal(a.arguments(), b.arguments()) if a.name == b.name else FALSE
            yield Obligation(
                f"apart_{a.name}_{b.name}_{one.array}",
                f"{what} at different times",
                conjunction([met, *here, *there, equal(first, second)]),
                same,
            )
            for (later, third), (after, fourth) in product(_times(new, a), _times(new, b)):
                yield Obligation(
                    f"kept_{a.name}_{b.name}_{one.array}",
                    f"{what} in the same order as before",
                    conjunction([met, *here, *there, *later, *after, before(first, second)]),
                    disjunction([before(third, fourth)]),
                )


def meetings(a: Touched, b: Touched) -> Iterator[tuple[Cell, Cell]]:
    """Accesses to the same array, one of them a write."""
    pairs = [*product(a.writes, b.writes), *product(a.writes, b.reads), *product(a.reads, b.writes)]
    seen = dict.fromkeys(pair for pair in pairs if pair[0].array == pair[1].array)
    yield from seen
