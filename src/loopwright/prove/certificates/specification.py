"""Writes a timetable as the specification that the checker reads: `proofs/Specification.v`.

`AllowedDifferences` lists how new loops may differ from the original; the checker is told.
"""

from __future__ import annotations

from collections.abc import Collection

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Select, Var
from loopwright.prove.coq.words import Words, listed, name, names, test, vector
from loopwright.prove.obligations.cells import Cell, StatementCells
from loopwright.prove.obligations.decisions import Cases, Decided, Decision
from loopwright.prove.obligations.timetable import Shape, Timetable, Vector


@dataclass(frozen=True)
class Owned:
    """`array` is private to each iteration of a loop around some of these statements and no others."""

    array: str
    statements: Collection[str]
    last: bool = False
    """Whether the copy of the last iteration is kept."""


@dataclass(frozen=True)
class AllowedDifferences:
    """How new loops may differ from the original."""

    combining: tuple[str, ...] = ()
    """Statements that are steps of reductions, which the user allows in any order."""
    private: tuple[Owned, ...] = ()
    """Arrays that are private to each iteration of a parallel loop, whose values are not compared; the copy
    of the iteration that writes last holds the original's value, and legality proves which one that is."""
    temporaries: tuple[str, ...] = ()
    """Variables that may hold other values in between: loops are then checked in sequence, without copies."""


NO_DIFFERENCES = AllowedDifferences()



def shapes_of(table: Timetable) -> list[tuple[str, Shape]]:
    return [(statement.name, shape) for statement in table.statements for shape in statement.shapes]


def refuse_other_arguments(old: Timetable, later: Timetable) -> None:
    own = {name: shape.arguments for name, shape in shapes_of(later)}
    if any(shape.arguments != own.get(name) for name, shape in shapes_of(old)):
        raise GaveUp(Code.NO_PROOF, "a statement has other arguments before than after")


def time_of(shape: Shape) -> Vector:
    """The time as expressions; if it is piecewise, with conditionals."""
    if shape.times:
        return tuple(Var(place) for place in shape.times)
    assert shape.time is not None
    return chosen(shape.time)


def chosen(tree: Decision[Vector]) -> Vector:
    match tree:
        case Decided(vector):
            return vector
        case Cases(condition, yes, no):
            pairs = zip(chosen(yes), chosen(no), strict=True)
            return tuple(a if a == b else Select(condition, a, b) for a, b in pairs)


def specification(table: Timetable) -> Words:
    yield from names(table.parameters)
    yield from test(table.known)
    yield from listed(shapes_of(table), shape_words)


def shape_words(item: tuple[str, Shape]) -> Words:
    statement, shape = item
    yield name(statement)
    yield from names(shape.arguments)
    yield from names(shape.times)
    yield from test(shape.domain)
    yield from vector(time_of(shape))


def touches(use: StatementCells) -> Words:
    """Yields the reads and writes of a statement."""
    yield from listed(use.reads, cell_words)
    yield from listed(use.writes, cell_words)
    yield from ("plain",) if use.operator is None else ("combined", name(use.operator))


def cell_words(cell: Cell) -> Words:
    yield name(cell.array)
    yield from vector(cell.subscripts)
