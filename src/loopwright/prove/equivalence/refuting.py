"""A difference between two runs as a refutation: which cell, its values, for which sizes and inputs."""

from __future__ import annotations

from typing import TypeAlias

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.points import values_text
from loopwright.prove.equivalence.counterexample import Telling, cell_text, is_zero, number_text
from loopwright.prove.equivalence.numbering import (
    Numbered,
    Table,
    bag_difference,
    before,
    described,
    first_difference,
)
from loopwright.prove.equivalence.pairs import Pair
from loopwright.prove.equivalence.terms import Apply, subterms
from loopwright.prove.equivalence.traces import CellKey, Sizes, StatementRun
from loopwright.prove.verdict import Refuted
from loopwright.read.c.purity import LIBRARY

Steps: TypeAlias = tuple[tuple[StatementRun, ...], tuple[StatementRun, ...]]
"""A run of OLD and one of NEW."""


@dataclass(frozen=True)
class ShownDifference:
    """A cell with two values, the executions that lead to it, and inputs that show them."""

    place: CellKey
    parts: Steps
    telling: Telling


def final_number(run: Numbered, place: CellKey, table: Table) -> int:
    return run.cells[place].number if place in run.cells else before(place, table)


def refuted(
    pair: Pair, sizes: Sizes, wrong: ShownDifference, runs: tuple[Numbered, Numbered] | None, table: Table
) -> Refuted:
    place, found = wrong.place, wrong.telling
    name = cell_text(place)
    shown = [
        f"{number_text(value)} {_writer(run, place, path)}"
        for value, run, path in zip((found.old, found.new), wrong.parts, pair.paths, strict=True)
    ]
    text = f"{name} is {shown[0]}, but {shown[1]}"
    text += f", {found.inputs}" if found.inputs else ""
    text += "" if runs is None else f"; {_begins_in(runs, place, table)}"
    unknown = sorted(functions_in(pair) - LIBRARY)
    if unknown:
        text += f"; taking {', '.join(unknown)} for any function"
    listed = values_text(sizes)
    message = f"{name} does not end up with the same value"
    witness = f"{listed}: {text}" if listed else text
    inputs = tuple((*cell, float(value.number)) for cell, value in found.given.items() if not is_zero(value))
    return Refuted("equivalence", message, witness, sizes, cell=place, inputs=inputs)


def _begins_in(runs: tuple[Numbered, Numbered], place: CellKey, table: Table) -> str:
    """Where the values of a cell differ first."""
    inner = first_difference(table, *(final_number(run, place, table) for run in runs))
    where = [
        described(table, number) + (f" in line {run.lines[number]}" if number in run.lines else "")
        for number, run in zip(inner, runs, strict=True)
    ]
    return bag_difference(table, *inner) or f"the first difference: {where[0]}, but {where[1]}"


def _writer(run: tuple[StatementRun, ...], place: CellKey, path: str) -> str:
    for step in reversed(run):
        if place in {step.place(one.target) for one in step.computation.assignments}:
            return f"after {path} (line {step.computation.line})"
    return f"after {path}, which does not write it"


def functions_in(pair: Pair) -> set[str]:
    return {
        part.operator[:-2]
        for assignment in pair.assignments
        for part in subterms(assignment.value)
        if isinstance(part, Apply) and part.operator.endswith("()")
    }
