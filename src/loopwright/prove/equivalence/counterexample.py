"""Inputs that distinguish two programs, as few and as simple as possible.

A difference is found on generated inputs, which differ in all cells.  Cells that do not affect it are set to
0, by halves at first, and the others to 1 if that still shows the difference.  If many cells matter, one
number in all of them, one on the diagonals, or 0 and 1 in turn may suffice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from loopwright.c.expression_types import COMPARISONS
from loopwright.c.reworded.jumps import RETURNED
from loopwright.c.types import DOUBLE, Floating, Integer
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.equivalence.arithmetic import (
    TypedNumber,
    Unvalued,
    World,
    computed,
    differ,
    value_of,
)
from loopwright.prove.equivalence.inputs import FACTORED
from loopwright.prove.equivalence.numbers import Undefined
from loopwright.prove.equivalence.terms import CHOICE, Apply, CellTerm, Term
from loopwright.prove.equivalence.traces import CellKey, StatementRun

MOST_STEPS = 6_000
"""Maximum number of statement executions over all inputs tried."""
LONG_RUNS = 30_000
"""Statement executions from which one kind of simple inputs is tried."""
MOST_LISTED = 6
IN_TURN = "1 in cells with an odd sum of subscripts, 0 in all other"
UNIFORM = ((1, 1), (4, 1), (64, 1))
"""Numbers on diagonals and elsewhere; the last pair is for matrices that are factored."""

Values = tuple[TypedNumber, TypedNumber]
"""The values of one cell after OLD and after NEW."""
Runs = tuple[tuple[StatementRun, ...], tuple[StatementRun, ...]]


@dataclass(frozen=True)
class Telling:
    """Two different values of a cell, and the inputs that lead to them."""

    old: TypedNumber
    new: TypedNumber
    inputs: str
    given: Mapping[CellKey, TypedNumber]
    """The text of the inputs, cell by cell."""


def cell_text(place: CellKey) -> str:
    return variable_text(place[0]) + "".join(f"[{k}]" for k in place[1])


def variable_text(name: str) -> str:
    """The name of a variable for messages; a returned value has no name in the source."""
    return "the returned value" if name == RETURNED else name


def is_zero(value: TypedNumber) -> bool:
    """Whether a number is 0, and not -0."""
    return number_text(value) == "0"


def number_text(value: TypedNumber) -> str:
    if isinstance(value.number, int):
        return str(value.number)
    number = float(value.number)
    if math.isnan(number):
        return "NaN"
    if number == 0 and math.copysign(1, number) < 0:
        return "-0"
    return str(int(number)) if number.is_integer() and abs(number) < 1e6 else repr(number)


def telling(runs: Runs, place: CellKey, values: Values, world: World) -> Telling:
    """Minimises the inputs in `world` that make a cell differ, by setting irrelevant ones to 0.

    `runs` end with the cell's last value; `values` are those found in `world`.
    """
    inputs = _inputs(runs, place, values, world)
    steps = sum(map(len, runs))
    patterns = _patterns(steps, is_factored=world.seed % 3 == FACTORED)
    attempts = max(len(patterns), MOST_STEPS // max(1, steps))
    search = _Search(runs, place, world, values, dict(inputs), attempts)
    cells = [cell for cell in inputs if cell[0] not in world.known]
    if attempts < 2 * len(cells).bit_length():
        for text, number in patterns:
            if search.set({cell: number(cell) for cell in cells}):
                return Telling(*search.values, f"with {text} cells that are read", search.given)
    size = len(cells)
    while size and search.attempts:
        nonzero = [cell for cell in cells if not is_zero(search.given[cell])]
        for at in range(0, len(nonzero), size):
            search.set(dict.fromkeys(nonzero[at : at + size], 0))
        size //= 2
    for cell in cells if search.attempts else ():
        if not is_zero(search.given[cell]) and search.given[cell].number not in (0, 1):
            search.set({cell: 1})
    return Telling(*search.values, _listed({cell: search.given[cell] for cell in cells}), search.given)


def _patterns(steps: int, *, is_factored: bool) -> list[tuple[str, Callable[[CellKey], int]]]:
    """Numbers for all cells, and what they are called; few for long runs, as each is tried by running.

    Where neighbours are averaged, equal ones change nothing, and far ones are lost by rounding.
    """
    if steps > LONG_RUNS:
        return [(IN_TURN, _parity)]
    found: list[tuple[str, Callable[[CellKey], int]]] = []
    for diagonal, other in reversed(UNIFORM) if is_factored else UNIFORM:
        text = f"{diagonal} on diagonals, {other} in all other" if diagonal != other else f"{other} in all"
        found.append((text, partial(_on_diagonals, diagonal, other)))
    return [*found, (IN_TURN, _parity)]


def telling_in_turn(values: tuple[float, float], inputs: Sequence[CellKey]) -> Telling:
    """Two different doubles, which runs on these inputs end with."""
    given = {cell: TypedNumber(DOUBLE, _parity(cell)) for cell in sorted(inputs)}
    old, new = (TypedNumber(DOUBLE, one) for one in values)
    return Telling(old, new, f"with {IN_TURN} cells that are read", given)


def _on_diagonals(diagonal: int, other: int, cell: CellKey) -> int:
    return diagonal if len(cell[1]) > 1 and len(set(cell[1])) == 1 else other


def _parity(cell: CellKey) -> int:
    return sum(cell[1]) % 2


def _listed(given: Mapping[CellKey, TypedNumber]) -> str:
    kept = [(cell, value) for cell, value in given.items() if not is_zero(value)]
    shown = [f"{cell_text(cell)} = {number_text(value)}" for cell, value in kept]
    has_zeros = len(kept) < len(given)
    more = len(shown) - MOST_LISTED
    if more > 1:
        shown = [*shown[:MOST_LISTED], f"numbers in {more} other cells"]
    if has_zeros:
        shown.append("0 in what else is read" if shown else "0 in all cells that are read")
    return f"with {', '.join(shown)}" if shown else ""


@dataclass
class _Search:
    """The simplest inputs found so far at which the values differ."""

    runs: Runs
    place: CellKey
    world: World
    values: Values
    given: dict[CellKey, TypedNumber]
    attempts: int

    def set(self, numbers: Mapping[CellKey, int]) -> bool:
        """Sets cells to these numbers, if attempts are left and the two values still differ."""
        if self.attempts == 0:
            return False
        self.attempts -= 1
        given = dict(self.given)
        for cell, number in numbers.items():
            kind = given[cell].type
            given[cell] = self.world.converted(TypedNumber(kind, number), kind)
        world = replace(self.world, given=given)
        try:
            left = (computed(run, world).get(self.place) for run in self.runs)
            old, new = (
                world.input(self.place, value.type) if one is None else one
                for one, value in zip(left, self.values, strict=True)
            )
        except (Undefined, Unvalued):  # simpler inputs may lead to a function whose values are not known
            return False
        only_in_sign = old.number == new.number and self.values[0].number != self.values[1].number
        if rests_on_unset(self.runs[0], self.place, world):
            return False
        pairs = zip((old, new), self.values, strict=True)
        is_finite = all(math.isfinite(one.number) or not math.isfinite(found.number) for one, found in pairs)
        if only_in_sign or not is_finite or not differ(old, new):
            return False
        self.values, self.given = (old, new), given
        return True


def _inputs(runs: Runs, place: CellKey, values: Values, world: World) -> dict[CellKey, TypedNumber]:
    """The initial values of the cells that a run reads before it writes them, or leaves unchanged."""
    found: dict[CellKey, TypedNumber] = {}
    for run, value in zip(runs, values, strict=True):
        written: set[CellKey] = set()
        for computation, numbers in run:
            for reads, (target, at) in zip(computation.reads, computation.targets, strict=True):
                for array, columns, kind in reads:
                    read = array, tuple([numbers[k] for k in columns])
                    if read not in written:
                        found.setdefault(world.loaded.get(array, read), world.input(read, kind))
                written.add((target, tuple([numbers[k] for k in at])))
        if place not in written:
            found.setdefault(world.loaded.get(place[0], place), value)
    return dict(sorted(found.items()))


def rests_on_unset(steps: Sequence[StatementRun], place: CellKey, world: World) -> bool:
    """Whether the value that OLD leaves in a cell depends on an uninitialised variable.

    `if (c) d = 3;` leaves d unchanged where c is 0, which is not a use of it.  A value computed from an
    uninitialised one is marked, and so is a value that a test of a marked one selects.
    """
    if not any(cell.array in world.unset for step in steps for cell in step.computation.read):
        return False
    run = _MarkedRun(world, {}, set())
    try:
        for step in steps:
            for assignment in step.computation.assignments:
                is_marked = run.is_marked(assignment.value, step)
                target = step.place(assignment.target)
                run.memory[target] = value_of(assignment.value, step, run.memory, world)
                (run.marks.add if is_marked else run.marks.discard)(target)
    except Undefined:
        return True
    return place in run.marks


@dataclass
class _MarkedRun:
    """A run on numbers, with marks on the cells whose values depend on uninitialised ones."""

    world: World
    memory: dict[CellKey, TypedNumber]
    marks: set[CellKey]

    def is_marked(self, term: Term, step: StatementRun) -> bool:
        """Whether the value of a term is marked; raises `Undefined` if it may be undefined."""
        match term:
            case CellTerm():
                place = step.place(term)
                return place in self.marks if place in self.memory else term.array in self.world.unset
            case Apply(operator, (test, one, other)) if operator == CHOICE:
                return self.is_marked(test, step) or self.is_marked(
                    one if self._holds(test, step) else other, step
                )
            case Apply("&&" | "||" as operator, (one, other)):
                goes_on = self._holds(one, step) == (operator == "&&")
                return self.is_marked(one, step) or (goes_on and self.is_marked(other, step))
            case Apply(operator, arguments):
                has_mark = any(self.is_marked(one, step) for one in arguments)
                if has_mark and operator not in _ALWAYS_DEFINED and not _is_floating(term):
                    raise Undefined("an operation on a number that may be any")
                return has_mark
        return False

    def _holds(self, test: Term, step: StatementRun) -> bool:
        return value_of(test, step, self.memory, self.world).number != 0


_ALWAYS_DEFINED = (*COMPARISONS, "!", "~x", "&", "|", "^")


def _is_floating(term: Apply) -> bool:
    """Whether a term is floating-point arithmetic, or a conversion to a floating type or from an integer."""
    if term.operator.startswith("(") and isinstance(term.arguments[0].type, Integer):
        return True
    return isinstance(term.type, Floating)
