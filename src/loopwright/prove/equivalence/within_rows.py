"""Cells beyond the rows of an array: the matrix `A[n][3]` is one memory, and its A[0][5] is A[1][2].

C does not define such an access, but compilers leave it as it is, and programs that walk over all rows by
one pointer, `p = &A[0][0]; p[k]`, rely on that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Var
from loopwright.loops.interpreter import evaluate
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.terms import Apply, CellTerm, Term, TermAssignment
from loopwright.prove.equivalence.traces import Runnable, Sizes, StatementRun

Runs: TypeAlias = tuple[tuple[StatementRun, ...], tuple[StatementRun, ...]]
Lengths: TypeAlias = Mapping[str, tuple[int | None, ...]]


def in_rows(runs: tuple[Runnable, Runnable]) -> Runnable:
    """The second program, with the lengths of rows alone as limits of its subscripts."""
    known = {**runs[1].extents, **runs[0].extents}
    lengths = {name: (None, *extents[1:]) for name, extents in known.items() if len(extents) > 1}
    return replace(runs[1], extents=lengths)


def lengths_of(limited: Runnable, sizes: Sizes) -> Lengths:
    """The numbers that a program of `in_rows` has as limits."""
    return {
        name: tuple(None if one is None else evaluate(one, sizes) for one in extents)
        for name, extents in limited.extents.items()
    }


def within_rows(steps: Runs, runs: tuple[Runnable, Runnable], sizes: Sizes) -> Runs:
    """The same executions, with the cells in the rows where they are."""
    known = in_rows(runs)
    if not known.extents or all(known.stays_inside(side, sizes) for side in steps):
        return steps
    lengths = lengths_of(known, sizes)
    made: dict[int, _Spread] = {}
    one, other = (tuple(_moved(step, lengths, made) for step in side) for side in steps)
    return one, other


@dataclass(frozen=True)
class _Spread:
    """A statement whose cells have subscripts of their own, and the cells that it had."""

    computation: Computation
    cells: tuple[CellTerm, ...]


def _moved(step: StatementRun, lengths: Lengths, made: dict[int, _Spread]) -> StatementRun:
    own = step.computation.copied or step.computation
    if id(own) not in made:
        made[id(own)] = _spread(own)
    spread = made[id(own)]
    places = (step.place(cell) for cell in spread.cells)
    more = [value for name, at in places for value in _carried(at, lengths.get(name, ()))]
    named = spread.computation.copy(step.computation.name, step.computation.line)
    return StatementRun(named, (*step.values, *more))


def _carried(at: tuple[int, ...], lengths: tuple[int | None, ...]) -> tuple[int, ...]:
    """The subscripts with what exceeds the length of a row carried to the previous one, as in a number."""
    found = list(at)
    for k in range(len(lengths) - 1, 0, -1):
        length = lengths[k]
        if length is None or length <= 0:
            break
        carry, found[k] = divmod(found[k], length)
        found[k - 1] += carry
    return tuple(found)


def _spread(computation: Computation) -> _Spread:
    cells: list[CellTerm] = []
    columns: dict[Expr, int] = dict(computation.columns)

    def own(cell: CellTerm) -> CellTerm:
        cells.append(cell)
        names = [Var(f"{k} of cell {len(cells)}") for k in range(len(cell.subscripts))]
        columns.update({name: len(columns) + k for k, name in enumerate(names)})
        return CellTerm(cell.array, tuple(names), cell.type)

    def inside(term: Term) -> Term:
        match term:
            case CellTerm():
                return own(term)
            case Apply(operator, arguments, kind):
                return Apply(operator, tuple(map(inside, arguments)), kind)
            case _:
                return term

    assignments = tuple(
        TermAssignment(own(one.target), inside(one.value), one.is_conditional)
        for one in computation.assignments
    )
    return _Spread(Computation(computation.name, computation.line, assignments, columns), tuple(cells))
