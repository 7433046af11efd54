"""A program and its schedule, or a whole transformation, as a problem for the checker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopwright.c.types import INT
from loopwright.errors import Code, GaveUp
from loopwright.loops.nodes import Node
from loopwright.model.program import Program
from loopwright.prove.certificates.covers import covers
from loopwright.prove.certificates.guides import guide
from loopwright.prove.certificates.specification import shapes_of, specification, time_of
from loopwright.prove.certificates.storage import storage
from loopwright.prove.certificates.ties import ties, with_positions
from loopwright.prove.certificates.words import Words, listed, name, program, vector
from loopwright.prove.legality.reductions import Reduction
from loopwright.prove.obligations.cells import Cell, Touched, touched
from loopwright.prove.obligations.sides import both_sides, original_side
from loopwright.prove.obligations.timetable import Timetable


def scan_problem(table: Timetable, node: Node, *, tied: bool = False) -> str:
    """That `node` runs what `table` says; GaveUp where it cannot be put so.

    `tied`: instances may have equal times, and are told apart by their places in the program.
    """
    parts = (*specification(table), *program(node, table.hint), *proposal(table, node, tied=tied))
    return " ".join(("scan", *parts))


def change_problem(
    original: Program,
    new: Program,
    loops: Node,
    combining: Mapping[str, Reduction] | None = None,
    private: Sequence[str] = (),
) -> str:
    """That the loops of the text and `loops`, which run the schedule of `new`, leave the same memory.

    Loops that are said to be independent may take their iterations in any order.  The statements
    `combining` are steps of reductions, which may be taken in any order.  Iterations of outermost
    parallel loops have their own of what is `private`, whose values are not compared.
    """
    (old, text), (later, _) = both_sides(original, new, loops)
    uses = {use.statement: use for use in touched(original, combining)}
    times = {name: time_of(shape) for name, shape in shapes_of(later)}
    own = {name: shape.arguments for name, shape in shapes_of(later)}
    names = [name for name, _ in shapes_of(old)]
    if any(shape.arguments != own.get(name) for name, shape in shapes_of(old)):
        raise GaveUp(Code.NO_PROOF, "a statement has other arguments before than after")
    parts = (
        *specification(old),
        *listed([times[name] for name in names], vector),
        *listed([uses[name] for name in names], _use),
        *(storage(original, later, loops, uses, private) if private else ()),
        *program(text, old.hint),
        *program(loops, later.hint),
        *proposal(old, text),
        *proposal(later, loops),
    )
    return " ".join(("private" if private else "change", *parts))


def range_problem(original: Program, loops: Node) -> str:
    """That `loops` compute no value that an int does not hold, for the parameters of `original`."""
    table, _ = original_side(original)
    low, high = str(INT.least), str(INT.greatest)
    return " ".join(("range", *specification(table), low, high, *program(loops, lambda _: ())))


def _use(use: Touched) -> Words:
    yield from listed(use.reads, _cell)
    yield from listed(use.writes, _cell)
    yield from ("plain",) if use.operator is None else ("combined", name(use.operator))


def _cell(cell: Cell) -> Words:
    yield name(cell.array)
    yield from vector(cell.subscripts)


def proposal(table: Timetable, node: Node, *, tied: bool = False) -> Words:
    yield from guide(with_positions(table, node) if tied else table, node)
    yield from covers(table, node)
    yield from listed(ties(table, node) if tied else [], vector)
