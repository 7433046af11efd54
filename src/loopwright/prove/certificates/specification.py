"""A timetable as the specification that the checker reads: `proofs/Specification.v`."""

from __future__ import annotations

from loopwright.loops.expressions import Select, Var
from loopwright.prove.coq.words import Words, listed, name, names, test, vector
from loopwright.prove.obligations.cells import Cell, StatementCells
from loopwright.prove.obligations.decisions import Cases, Decided, Decision
from loopwright.prove.obligations.timetable import Shape, Timetable, Vector


def shapes_of(table: Timetable) -> list[tuple[str, Shape]]:
    return [(statement.name, shape) for statement in table.statements for shape in statement.shapes]


def time_of(shape: Shape) -> Vector:
    """The time as expressions; where it is given in pieces, each place as a conditional."""
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
    """What a statement reads and writes."""
    yield from listed(use.reads, cell_words)
    yield from listed(use.writes, cell_words)
    yield from ("plain",) if use.operator is None else ("combined", name(use.operator))


def cell_words(cell: Cell) -> Words:
    yield name(cell.array)
    yield from vector(cell.subscripts)
