"""Arbitrary instances of statements, over variables of their own, and when they run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Test, Var
from loopwright.loops.substitution import substituted, substituted_expr
from loopwright.prove.obligations.cells import Cell, StatementCells
from loopwright.prove.obligations.decisions import Decided, Decision, choices, opposite
from loopwright.prove.obligations.timetable import Shape, Timetable, Vector


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
    """An instance of the statement of `use`, its variables marked to be told from others."""
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
    """The times of an instance, each with the cases in which it is that."""
    shape = _shape(table, instance.name)
    at = dict(zip(shape.arguments, instance.arguments(), strict=True))
    nothing: Decision[Vector] = Decided(())
    for way, time in choices(shape.time or nothing):
        cases = tuple(substituted(test if holds else opposite(test), at) for test, holds in way)
        yield cases, tuple(substituted_expr(one, at) for one in time)
