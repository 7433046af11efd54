"""Value numbering of runs: operations are uninterpreted, and equal numbers imply equal values.

A value is numbered by its operator and the numbers of its operands.  Both runs share one table. With
reassociation, a sum is the bag of its terms and a product that of its factors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import field
from typing import TypeAlias

from loopwright.c.tokens import bracketed
from loopwright.c.types import CType
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.terms import (
    COMMUTATIVE,
    Apply,
    CellTerm,
    Constant,
    Index,
    InputTerm,
    Term,
    shape_of,
)
from loopwright.prove.equivalence.traces import CellKey, StatementRun

Key = tuple[object, ...]
Steps: TypeAlias = tuple[StatementRun, ...]
LONG_RUNS = 2_000
"""Statement executions of two runs together."""
MOST_SHOWN = 12
"""Maximum number of operands that are printed."""
MOST_TOGETHER = 4096
"""Maximum number of terms of a sum in one bag: `t += t` doubles them.  Larger ones are sums of sums, and
concrete values show whether those differ."""


@dataclass(frozen=True)
class Table:
    """The numbers of values, and the key of each."""

    reassociate: bool
    numbers: dict[Key, int] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)

    def number(self, key: Key) -> int:
        found = self.numbers.setdefault(key, len(self.keys))
        if found == len(self.keys):
            self.keys.append(key)
        return found

    def apply(self, operator: str, kind: CType, operands: tuple[int, ...]) -> int:
        if operator in COMMUTATIVE:
            if self.reassociate:
                parts = [self._parts(operator, kind, one) for one in operands]
                if sum(map(len, parts)) <= MOST_TOGETHER:
                    operands = tuple(part for one in parts for part in one)
            operands = tuple(sorted(operands))
        return self.number(("apply", operator, kind, *operands))

    def _parts(self, operator: str, kind: CType, number: int) -> tuple[int, ...]:
        match self.keys[number]:
            case ("apply", name, same, *operands) if name == operator and same == kind:
                return tuple(operands)  # type: ignore[arg-type]
            case _:
                return (number,)


@dataclass(frozen=True)
class Final:
    """The final value of a cell, and the line that wrote it."""

    number: int
    line: int


@dataclass(frozen=True)
class Numbered:
    """The final values of a run; `lines` maps a value to the line that first computed it."""

    cells: dict[CellKey, Final]
    lines: dict[int, int]


def numbered(runs: tuple[Steps, Steps], table: Table) -> tuple[Numbered, Numbered]:
    """Numbers the values that two runs leave.

    In long runs, a value that both compute by the same statement from the same values is treated as a unit.
    """
    if table.reassociate or sum(map(len, runs)) < LONG_RUNS:
        return _numbered(runs[0], table), _numbered(runs[1], table)
    known: dict[Key, int] = {}
    shapes: dict[Term, int] = {}
    one, other = (_whole_values(steps, known, shapes) for steps in runs)
    common = {number for own in one for number in own}.intersection(number for own in other for number in own)
    return _numbered(runs[0], table, one, common), _numbered(runs[1], table, other, common)


def _numbered(
    steps: Steps, table: Table, whole: Sequence[Sequence[int]] = (), common: Set[int] = frozenset()
) -> Numbered:
    memory: dict[CellKey, Final] = {}
    lines: dict[int, int] = {}
    for k, step in enumerate(steps):
        line = step.computation.line
        for m, assignment in enumerate(step.computation.assignments):
            if whole and whole[k][m] in common:
                number = table.number(("value", whole[k][m]))
                lines.setdefault(number, line)
            else:
                number = _number(assignment.value, step, memory, table, lines)
            memory[step.place(assignment.target)] = Final(number, line)
    return Numbered(memory, lines)


def _whole_values(steps: Steps, known: dict[Key, int], shapes: dict[Term, int]) -> list[list[int]]:
    """Numbers the value of each assignment by its form and the contents of the cells it reads."""
    outlines: dict[int, list[tuple[int, list[_Place], _Place]]] = {}
    memory: dict[CellKey, int] = {}
    found: list[list[int]] = []
    for computation, values in steps:
        copied = id(computation.copied or computation)
        if copied not in outlines:
            outlines[copied] = _outline(computation, shapes)
        own: list[int] = []
        for shape, parts, (target, at) in outlines[copied]:
            read = [(array, tuple([values[k] for k in columns])) for array, columns in parts]
            number = known.setdefault((shape, *[memory.get(place, place) for place in read]), len(known))
            memory[target, tuple([values[k] for k in at])] = number
            own.append(number)
        found.append(own)
    return found


_Place: TypeAlias = tuple[str, tuple[int, ...]]
"""An array and the columns of its subscripts; with an empty name, the column of an integer."""


def _outline(computation: Computation, shapes: dict[Term, int]) -> list[tuple[int, list[_Place], _Place]]:
    """For each assignment the number of its form, its reads, and its target."""
    found: list[tuple[int, list[_Place], _Place]] = []

    def cell(place: CellTerm) -> _Place:
        return place.array, computation.subscripts[id(place)]

    for assignment in computation.assignments:
        parts: list[_Place] = []
        shape = shape_of(
            assignment.value, parts, lambda index: ("", (computation.columns[index.value],)), cell
        )
        found.append((shapes.setdefault(shape, len(shapes)), parts, cell(assignment.target)))
    return found


def before(place: CellKey, table: Table) -> int:
    """The number of a cell's value before the region."""
    return table.number(("input", *place))


def _number(
    term: Term, step: StatementRun, memory: dict[CellKey, Final], table: Table, lines: dict[int, int]
) -> int:
    match term:
        case Constant(text, kind):
            found = table.number(("constant", text, kind))
        case Index(value, kind):
            found = table.number(("integer", step.at(value), kind))
        case CellTerm():
            place = step.place(term)
            return memory[place].number if place in memory else before(place, table)
        case Apply(operator="?:", arguments=(Index(value), then, orelse)):
            return _number(then if step.at(value) else orelse, step, memory, table, lines)
        case Apply(operator, arguments, kind):
            operands = tuple(_number(one, step, memory, table, lines) for one in arguments)
            found = table.apply(operator, kind, operands)
        case InputTerm():
            raise AssertionError("a statement reads cells")
    lines.setdefault(found, step.computation.line)
    return found


def first_difference(table: Table, one: int, other: int) -> tuple[int, int]:
    """The innermost operations that differ, following the first operand that does."""
    while True:
        match table.keys[one], table.keys[other]:
            case ("apply", operator, *mine), ("apply", same, *theirs) if operator == same:
                left, right = _remaining(str(operator), mine[1:], theirs[1:])
                if len(left) != len(right) or not left or not _are_operations(table, left[0], right[0]):
                    return one, other
                one, other = left[0], right[0]
            case _:
                return one, other


def _are_operations(table: Table, one: int, other: int) -> bool:
    return all(table.keys[number][0] == "apply" for number in (one, other))


def _remaining(operator: str, mine: list[object], theirs: list[object]) -> tuple[list[int], list[int]]:
    """The operands that differ; for + and *, those that the other does not have."""
    left, right = [int(str(one)) for one in mine], [int(str(one)) for one in theirs]
    if operator in COMMUTATIVE:
        common = set(left) & set(right)
        return [one for one in left if one not in common], [one for one in right if one not in common]
    pairs = [(a, b) for a, b in zip(left, right, strict=False) if a != b]
    return [a for a, _ in pairs], [b for _, b in pairs]


def bag_difference(table: Table, one: int, other: int) -> str | None:
    """Returns a term more frequent in one of two sums than in the other, or a factor of two products."""
    match table.keys[one], table.keys[other]:
        case ("apply", "+" | "*" as operator, kind, *mine), ("apply", same, other_kind, *theirs):
            if not table.reassociate or (operator, kind) != (same, other_kind):
                return None
            counts = Counter(map(str, mine)), Counter(map(str, theirs))
            for part in sorted({*counts[0], *counts[1]}, key=int):
                times = counts[0][part], counts[1][part]
                if times[0] != times[1] and table.keys[int(part)][0] != "integer":
                    what = "sum" if operator == "+" else "product"
                    often = [{0: "not", 1: "once", 2: "twice"}.get(each, f"{each} times") for each in times]
                    text = described(table, int(part))
                    return f"{text} is {often[0]} in the {what} of OLD, {often[1]} in that of NEW"
    return None


def described(table: Table, number: int, depth: int = 3) -> str:
    """A value as a readable expression of input values."""
    match table.keys[number]:
        case ("input", array, tuple() as subscripts):
            return str(array) + bracketed(subscripts)
        case ("integer", value, *_):
            return str(value)
        case ("constant", text, *_):
            return str(text)
        case ("apply", operator, _, *operands):
            if depth == 0:
                return "..."
            shown = operands if len(operands) <= MOST_SHOWN else [*operands[:3], *operands[-2:]]
            parts = [described(table, int(str(one)), depth - 1) for one in shown]
            parts = parts if len(operands) <= MOST_SHOWN else [*parts[:3], "...", *parts[3:]]
            return _written(str(operator), parts)
        case ("value", *_):
            return "..."
        case _:
            return "?"


def _written(operator: str, parts: list[str]) -> str:
    if operator == "?:":
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if operator.startswith("("):
        return operator + parts[0]
    if operator.endswith("()"):
        return f"{operator[:-2]}({', '.join(parts)})"
    if len(parts) == 1:
        return operator.removesuffix("x") + parts[0]
    return "(" + f" {operator} ".join(parts) + ")"
