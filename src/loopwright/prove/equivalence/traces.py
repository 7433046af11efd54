"""Small runs: the statement executions in order, with the values of their integer expressions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field as field_of
from itertools import chain, islice, product
from typing import NamedTuple

import islpy as isl

from loopwright.c.casts import Ambiguous, Kinds, expression_of
from loopwright.c.expression_types import integer_value
from loopwright.c.syntax import Node as Syntax
from loopwright.errors import GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr
from loopwright.loops.interpreter import evaluate, execute
from loopwright.loops.nodes import Node
from loopwright.model.program import Program, Statement
from loopwright.presburger.named import at_parameters, fixed_parameters, parameter_names
from loopwright.prove.equivalence.assignments import Computation, computations
from loopwright.prove.equivalence.beginning import EnclosingFunction, function_of
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
"""Some just exceed the usual sizes of tiles and of unrolled loops."""
_FIRST = 4
"""How many sizes are tried before one is 0."""


class StatementRun(NamedTuple):
    """One execution; `values` are those of the columns.  There are many, and tuples are fast to create."""

    computation: Computation
    values: tuple[int, ...]

    def at(self, value: Expr) -> int:
        return self.values[self.computation.columns[value]]

    def place(self, cell: CellTerm) -> CellKey:
        known = self.computation.subscripts.get(id(cell))
        if known is None:
            return cell.array, tuple(self.at(subscript) for subscript in cell.subscripts)
        return cell.array, tuple([self.values[k] for k in known])


def leading_to(steps: tuple[StatementRun, ...], place: CellKey) -> tuple[StatementRun, ...]:
    """The executions that the last value of a cell depends on."""
    writers: dict[CellKey, list[int]] = {}
    for k, (computation, values) in enumerate(steps):
        for array, columns in computation.targets:
            writers.setdefault((array, tuple([values[column] for column in columns])), []).append(k)
    pending, found = [*writers.get(place, ())[-1:]], set[int]()
    while pending:
        at = pending.pop()
        if at in found:
            continue
        found.add(at)
        for cell in steps[at].computation.read:
            earlier = writers.get(steps[at].place(cell), ())
            count = bisect_left(earlier, at)
            pending += [earlier[count - 1]] if count else []
    return tuple([steps[at] for at in sorted(found)])


@dataclass(frozen=True)
class Runnable:
    """A program that can be run: its loops, statements and array extents."""

    loops: Node
    computations: Mapping[str, Computation]
    extents: Mapping[str, tuple[Expr | None, ...]]
    fresh: frozenset[str] = frozenset()
    """Storage that is uninitialised before the program runs."""

    def run(self, sizes: Sizes) -> tuple[StatementRun, ...] | None:
        """All executions in order; None if there are too many, or if one is out of bounds."""
        try:
            executions = list(islice(execute(self.loops, sizes, 4 * LARGEST_RUN), LARGEST_RUN + 1))
        except GaveUp:
            return None
        if len(executions) > LARGEST_RUN:
            return None
        return tuple(StatementRun(self.computations[name], values) for name, values in executions)

    def is_defined(self, steps: tuple[StatementRun, ...], sizes: Sizes) -> bool:
        """Whether a run stays in bounds and reads nothing of `fresh` arrays that it did not write."""
        written: set[CellKey] = set()
        for step in steps if self.fresh else ():
            for assignment in step.computation.assignments:
                reads = {step.place(cell) for cell in assignment.cells if cell.array in self.fresh}
                if not reads <= written:
                    return False
                written.add(step.place(assignment.target))
        return self.stays_inside(steps, sizes)

    def stays_inside(self, steps: tuple[StatementRun, ...], sizes: Sizes) -> bool:
        """Whether all subscripts are within the known extents."""
        executions: dict[int, list[StatementRun]] = {}
        for step in steps:
            executions.setdefault(id(step.computation), []).append(step)
        columns = (
            (runs[0].computation, zip(*(step.values for step in runs), strict=True))
            for runs in executions.values()
        )
        return self.contains(
            ((one, [(min(values), max(values)) for values in own]) for one, own in columns), sizes
        )

    def contains(self, spans: Iterable[tuple[Computation, Sequence[tuple[int, int]]]], sizes: Sizes) -> bool:
        """Whether statements stay within the known extents, given the ranges of their columns."""
        limits = {
            name: tuple(None if one is None else evaluate(one, sizes) for one in extents)
            for name, extents in self.extents.items()
        }
        return not any(
            own[place][0] < 0 or own[place][1] >= limit
            for computation, own in spans
            for place, limit in _limited(computation, limits)
        )


def _limited(computation: Computation, limits: Mapping[str, tuple[int | None, ...]]) -> set[tuple[int, int]]:
    """The columns of a statement that are subscripts, with their upper limits."""
    return {
        (computation.columns[subscript], limit)
        for cell in (*computation.written, *computation.read)
        for subscript, limit in zip(cell.subscripts, limits.get(cell.array, ()), strict=False)
        if limit is not None
    }


def runnable(program: Program) -> Runnable:
    """`program` as something to run; raises `Unreadable` if it cannot be run."""
    found = computations(program)

    def call(statement: Statement, words: Words) -> Node:
        return found[statement.name].call()

    return Runnable(text_loops(program, call), found, extents(program))


def extents(program: Program) -> dict[str, tuple[Expr | None, ...]]:
    words = words_of(program)
    found: dict[str, tuple[Expr | None, ...]] = {}
    for array in program.arrays:
        name = local_name(array.name) if array.local else array.name
        if array.rows:
            found[name] = (None, *(_extent(text, words) for text in array.rows))
        elif len(array.extents) == array.rank:
            found[name] = tuple(_extent(text, words) for text in array.extents)
    return found


def _extent(text: str, words: Words) -> Expr | None:
    """The value of an extent, if it is an expression of the parameters."""
    try:
        node = expression_of(text, words.kinds)
        return None if node is None else expression(node, words)
    except (Ambiguous, Unreadable):
        return None


@dataclass(frozen=True)
class ComputedSizes:
    """Parameters that are expressions of others: `h * w`, `(int)n`."""

    nodes: Mapping[str, Syntax] = field_of(default_factory=dict)
    kinds: Kinds | None = None
    function: EnclosingFunction | None = None
    """The function around the region, which may compute some of them before the region."""

    def settled(self, sizes: Sizes) -> Sizes | None:
        """The sizes with those parameters as C computes them, if their parts are among the sizes.

        Returns None if the region is not reached with them.
        """
        found = dict(sizes)
        if self.function is not None:
            beginning = self.function.beginning(sizes)
            if beginning is None:
                return None
            for name in sizes:
                value = beginning.values.get(name)
                found[name] = value if isinstance(value, int) else found[name]
            sizes = dict(found)
        for name, node in self.nodes.items():
            assert self.kinds is not None  # a function implies a file
            value = integer_value(node, sizes.get, self.kinds) if name in sizes else None
            found[name] = found.get(name, 0) if value is None else value
        return {name: found[name] for name in sizes}


def computed_sizes(program: Program) -> ComputedSizes:
    kinds = program.file.kinds(program.region)
    written = [one for one in program.parameters if not one.text.isidentifier()]
    nodes = {one.name: expression_of(one.text, kinds) for one in written}
    known = {name: node for name, node in nodes.items() if node is not None}
    return ComputedSizes(known, kinds, function_of(program))


def small_sizes(context: isl.Set, hints: tuple[Sizes, ...], computed: ComputedSizes) -> Iterator[Sizes]:
    """Yields sizes in the context: first the hints, then in increasing order."""
    names, fixed = parameter_names(context), fixed_parameters(context)
    free = [name for name in names if name not in fixed]
    seen: list[Sizes] = []
    tried = _combinations(free)
    for sizes in chain(hints, islice(tried, _FIRST), _below_one(free), tried):
        values = computed.settled({name: fixed.get(name, sizes.get(name, 1)) for name in names})
        if values is not None and values not in seen and is_possible(context, values):
            seen.append(values)
            yield values


def _below_one(names: list[str]) -> Iterator[Sizes]:
    """One size that is 0, or below: such a parameter may be a flag."""
    for name, least in product(names, (0, -1)):
        yield {other: least if other == name else 2 for other in names}


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
