"""Accesses as lists of cells: for each, the array and its subscripts as expressions of the iterators.

A statement may be listed with more cells than it accesses, never fewer.  If an access has a subscript that is
not a function of the iterators, the whole array is one cell: a write of a part of it reads the rest.  An
`Instance` is an arbitrary instance of a statement, over variables of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Test, Var
from loopwright.loops.traverse import substituted, substituted_expr
from loopwright.model.program import Access, Program, Statement
from loopwright.prove.legality.reductions import Reduction
from loopwright.prove.obligations.formulas import exprs_of
from loopwright.prove.obligations.timetable import Shape, Timetable, Vector, pieces_of, times_at


@dataclass(frozen=True)
class Cell:
    array: str
    subscripts: tuple[Expr, ...]


@dataclass(frozen=True)
class StatementCells:
    """What a statement may read and write, over its iterators `arguments`."""

    statement: str
    arguments: tuple[str, ...]
    reads: tuple[Cell, ...]
    writes: tuple[Cell, ...]
    operator: str | None = None
    """The operator that combines a value into the cells it writes; `reads` are those of the value."""


def touched(program: Program, combining: Mapping[str, Reduction] | None = None) -> tuple[StatementCells, ...]:
    """The cells of every statement of `program`; the statements `combining` are steps of reductions."""
    whole, steps = set(whole_arrays(program)), combining or {}
    return tuple(_touched(one, whole, steps.get(one.name)) for one in program.statements)


def whole_arrays(program: Program) -> tuple[str, ...]:
    """The arrays that are treated as one cell."""
    found = [access.array for one in program.statements for access in one.accesses if not _exact(access, one)]
    return tuple(dict.fromkeys(found))


def _exact(access: Access, statement: Statement) -> bool:
    return bool(access.relation.intersect_domain(statement.domain).is_single_valued())


def _touched(statement: Statement, whole: set[str], step: Reduction | None) -> StatementCells:
    reads: dict[Cell, None] = {}
    writes: dict[Cell, None] = {}
    step = None if step is not None and step.array in whole else step
    for access in statement.accesses:
        if step is not None and not access.is_write and access.place in step.places:
            continue
        for cell in _cells(access, statement, whole):
            (writes if access.is_write else reads).setdefault(cell)
            if access.array in whole:
                reads.setdefault(cell)
    operator = None if step is None else step.operator
    return StatementCells(statement.name, statement.iterators, tuple(reads), tuple(writes), operator)


def relation_of(cell: Cell, statement: Statement) -> isl.Map:
    """{ instance -> cell }, for a cell that `statement` accesses by an access of one piece."""
    for access in statement.accesses:
        if access.array == cell.array and list(_cells(access, statement, set())) == [cell]:
            return access.relation
    raise GaveUp(Code.NO_PROOF, f"what {statement.name} touches of {cell.array} has several pieces")


def _cells(access: Access, statement: Statement, whole: set[str]) -> Iterator[Cell]:
    if access.array in whole:
        yield Cell(access.array, ())
        return
    relation = access.relation.intersect_domain(statement.domain)
    for _, function in pieces_of(relation):
        yield Cell(access.array, exprs_of(function, statement.iterators))


@dataclass(frozen=True, eq=False)
class Instance:
    """An arbitrary instance of a statement."""

    name: str
    domain: Test
    values: dict[str, Expr]
    use: StatementCells

    def arguments(self) -> Vector:
        return tuple(self.values.values())

    def at(self, cell: Cell) -> Vector:
        return tuple(substituted_expr(one, self.values) for one in cell.subscripts)

    def moved(self, values: Vector) -> Instance:
        """The instance with these arguments."""
        pairs = zip(self.arguments(), values, strict=True)
        by_name = {one.name: value for one, value in pairs if isinstance(one, Var)}
        moved = {name: substituted_expr(one, by_name) for name, one in self.values.items()}
        return replace(self, domain=substituted(self.domain, by_name), values=moved)


def instance_of(table: Timetable, use: StatementCells, mark: str) -> Instance:
    """An instance of the statement of `use`, its variables marked to distinguish them from others."""
    shape = _shape(table, use.statement)
    values: dict[str, Expr] = {name: Var(f"{name}#{mark}") for name in shape.arguments}
    domain = substituted(shape.domain, values)
    own = dict(zip(use.arguments, values.values(), strict=True))
    return Instance(use.statement, domain, own, use)


def _shape(table: Timetable, name: str) -> Shape:
    for statement in table.statements:
        if statement.name == name and len(statement.shapes) == 1 and not statement.shapes[0].times:
            return statement.shapes[0]
    raise GaveUp(Code.NO_PROOF, f"{name} has no single time in the schedule")


def times_of(table: Timetable, instance: Instance) -> Iterator[tuple[tuple[Test, ...], Vector]]:
    """Yields the times of an instance, each with the cases in which it applies."""
    shape = _shape(table, instance.name)
    return times_at(shape, instance.arguments())
