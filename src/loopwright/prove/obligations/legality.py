"""Legality in the obligation language: two instances that touch a cell keep their order.

x in D_S, y in D_T, an access of S(x) and one of T(y) to the same cell, one of them a write:
θ(x) ≺ θ(y)  implies  θ'(x) ≺ θ'(y)         and   θ(x) = θ(y)  implies  S = T, x = y.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from loopwright.loops.expressions import FALSE
from loopwright.loops.nodes import Node
from loopwright.model.program import Program
from loopwright.prove.obligations.cells import Cell, Instance, StatementCells, instance_of, times_of, touched
from loopwright.prove.obligations.formulas import (
    Obligation,
    before,
    conjunction,
    disjunction,
    equal,
)
from loopwright.prove.obligations.scanning import table_obligations
from loopwright.prove.obligations.temporaries import temporary_obligations
from loopwright.prove.obligations.timetable import Timetable
from loopwright.source import Span


def transformation_obligations(
    program: Program,
    old: tuple[Timetable, Node],
    new: tuple[Timetable, Node],
    temporaries: Sequence[str] = (),
) -> Iterator[Obligation]:
    """All that a transformation needs: both programs run their schedules, and the step is legal.

    `temporaries` are not read after the region: what counts is which write each read sees.
    """
    spans = spans_of(program)
    yield from table_obligations(*old, spans)
    yield from table_obligations(*new, spans)
    yield from legality_obligations(old[0], new[0], touched(program), spans, temporaries)
    for array in temporaries:
        yield from temporary_obligations(program, array, old[0], new[0], spans)


def spans_of(program: Program) -> dict[str, Span]:
    """Where the statements stand in the text."""
    return {statement.name: statement.body.place for statement in program.statements}


def legality_obligations(
    old: Timetable,
    new: Timetable,
    uses: Sequence[StatementCells],
    spans: Mapping[str, Span],
    temporaries: Sequence[str] = (),
) -> Iterator[Obligation]:
    """One obligation for each two accesses to the same array, and each case of the times."""
    instances = [(instance_of(old, use, "1"), instance_of(old, use, "2")) for use in uses]
    for first, second in product(instances, repeat=2):
        for one in _pair(first[0], second[1], old, new, temporaries):
            yield replace(one, span=spans.get(second[1].name))


def _pair(
    a: Instance, b: Instance, old: Timetable, new: Timetable, temporaries: Sequence[str]
) -> Iterator[Obligation]:
    for one, other in meetings(a.use, b.use):
        met = conjunction([old.known, a.domain, b.domain, equal(a.at(one), b.at(other))])
        what = f"{a.name} and {b.name} touch the same cell of {one.array}"
        for (here, first), (there, second) in product(times_of(old, a), times_of(old, b)):
            same = equal(a.arguments(), b.arguments()) if a.name == b.name else FALSE
            yield Obligation(
                f"apart_{a.name}_{b.name}_{one.array}",
                f"{what} at different times",
                conjunction([met, *here, *there, equal(first, second)]),
                same,
            )
            if one.array in temporaries:
                continue
            for (later, third), (after, fourth) in product(times_of(new, a), times_of(new, b)):
                yield Obligation(
                    f"kept_{a.name}_{b.name}_{one.array}",
                    f"{what} in the same order as before",
                    conjunction([met, *here, *there, *later, *after, before(first, second)]),
                    disjunction([before(third, fourth)]),
                )


def meetings(a: StatementCells, b: StatementCells) -> Iterator[tuple[Cell, Cell]]:
    """Accesses to the same array, one of them a write."""
    pairs = [*product(a.writes, b.writes), *product(a.writes, b.reads), *product(a.reads, b.writes)]
    seen = dict.fromkeys(pair for pair in pairs if pair[0].array == pair[1].array)
    yield from seen
