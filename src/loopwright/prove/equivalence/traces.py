"""Small runs: which statement runs when, with which values of its integer expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

import islpy as isl

from loopwright.c.casts import Ambiguous, expression_of
from loopwright.errors import GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr
from loopwright.loops.interpreter import evaluate, execute
from loopwright.loops.nodes import Node
from loopwright.model.program import Program, Statement
from loopwright.presburger.named import at_parameters, fixed_parameters, parameter_names
from loopwright.prove.equivalence.assignments import Computation, computations
from loopwright.prove.equivalence.reading import local_name
from loopwright.prove.equivalence.terms import CellTerm
from loopwright.prove.reading.c_expressions import Unreadable, Words, expression, words_of
from loopwright.prove.reading.loops import text_loops

Sizes = dict[str, int]
CellKey = tuple[str, tuple[int, ...]]
"""A cell of memory."""

LARGEST_RUN = 4000
SMALL = (1, 2, 3, 4, 5)
LARGE = (6, 7, 8, 9, 17, 33, 34, 65, 66)
"""Some are just beyond the usual sizes of tiles and of unrolled loops."""


@dataclass(frozen=True)
class StatementRun:
    """One execution; `values` are those of the computation's columns."""

    computation: Computation
    values: tuple[int, ...]

    def at(self, value: Expr) -> int:
        return self.values[self.computation.columns[value]]

    def place(self, cell: CellTerm) -> CellKey:
        return cell.array, tuple(self.at(subscript) for subscript in cell.subscripts)


@dataclass(frozen=True)
class Runnable:
    """A program that can be run: its loops, its statements, the extents of its arrays."""

    loops: Node
    computations: Mapping[str, Computation]
    extents: Mapping[str, tuple[Expr | None, ...]]
    fresh: frozenset[str] = frozenset()
    """Storage that holds nothing before the program runs."""

    def run(self, sizes: Sizes) -> tuple[StatementRun, ...] | None:
        """All executions in order; None if there are too many, or if one is outside an array."""
        try:
            executions = list(islice(execute(self.loops, sizes, 4 * LARGEST_RUN), LARGEST_RUN + 1))
        except GaveUp:
            return None
        if len(executions) > LARGEST_RUN:
            return None
        return tuple(StatementRun(self.computations[name], values) for name, values in executions)

    def is_defined(self, steps: tuple[StatementRun, ...], sizes: Sizes) -> bool:
        """Whether a run stays inside its arrays and reads nothing of `fresh` ones that it did not write."""
        written: set[CellKey] = set()
        for step in steps if self.fresh else ():
            for assignment in step.computation.assignments:
                reads = {step.place(cell) for cell in assignment.cells if cell.array in self.fresh}
                if not reads <= written:
                    return False
                written.add(step.place(assignment.target))
        return self.stays_inside(steps, sizes)

    def stays_inside(self, steps: tuple[StatementRun, ...], sizes: Sizes) -> bool:
        """Whether all subscripts are within the extents that are known."""
        limits = {
            name: tuple(None if one is None else evaluate(one, sizes) for one in extents)
            for name, extents in self.extents.items()
        }
        return all(
            limit is None or 0 <= subscript < limit
            for step in steps
            for array, subscripts in _touched(step)
            for subscript, limit in zip(subscripts, limits.get(array, ()), strict=False)
        )


def _touched(step: StatementRun) -> Iterator[CellKey]:
    for assignment in step.computation.assignments:
        yield step.place(assignment.target)
        for cell in assignment.cells:
            yield step.place(cell)


def runnable(program: Program) -> Runnable:
    """`program` as something to run; `Unreadable` where it cannot be."""
    found = computations(program)

    def call(statement: Statement, words: Words) -> Node:
        return found[statement.name].call()

    return Runnable(text_loops(program, call), found, extents(program))


def extents(program: Program) -> dict[str, tuple[Expr | None, ...]]:
    words = words_of(program)
    found: dict[str, tuple[Expr | None, ...]] = {}
    for array in program.arrays:
        if len(array.extents) == array.rank:
            name = local_name(array.name) if array.local else array.name
            found[name] = tuple(_extent(text, words) for text in array.extents)
    return found


def _extent(text: str, words: Words) -> Expr | None:
    """The value of an extent, where it is an expression of the parameters."""
    try:
        node = expression_of(text, words.kinds)
        return None if node is None else expression(node, words)
    except (Ambiguous, Unreadable):
        return None


def small_sizes(context: isl.Set, hints: tuple[Sizes, ...]) -> Iterator[Sizes]:
    """Sizes in the context: those hinted at, then from small to larger."""
    names, fixed = parameter_names(context), fixed_parameters(context)
    seen: list[Sizes] = []
    for sizes in (*hints, *_combinations([name for name in names if name not in fixed])):
        values = {name: fixed.get(name, sizes.get(name, 1)) for name in names}
        if values not in seen and is_possible(context, values):
            seen.append(values)
            yield values


def _combinations(names: list[str]) -> Iterator[Sizes]:
    if len(names) <= 2:
        for values in sorted(product(SMALL, repeat=len(names)), key=lambda one: (max(one, default=0), one)):
            yield dict(zip(names, values, strict=True))
    for size in (*SMALL, *LARGE):
        for shift in range(max(1, len(names))):
            yield {name: size + (place + shift) % len(names) for place, name in enumerate(names)}
        yield dict.fromkeys(names, size)
    for name in names:
        for size in LARGE:
            yield {other: size if other == name else 2 for other in names}


def is_possible(context: isl.Set, values: Sizes) -> bool:
    return not at_parameters(context, values).is_empty()
