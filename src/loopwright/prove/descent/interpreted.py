"""Two programs of LOOP as functions of Python, run side by side: values are hashes of what makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeAlias

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Node
from loopwright.prove.descent.running import CompiledLoops, LoopCode, Visit, compiled
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.running import Pair, compared, differing
from loopwright.prove.equivalence.terms import CellTerm, Term, shape_of
from loopwright.prove.equivalence.traces import CellKey, Sizes, StatementRun, Writers, leading_to, writers_in
from loopwright.prove.verdict import Refuted

FEW_CELLS, WHOLE_RUN, LONGEST = 3, 100, 200_000
"""Cells that are looked at by themselves before all are, in runs of more executions than the second;
iterations of one run at most."""
Memory: TypeAlias = dict[tuple[Any, ...], Any]
"""What cells hold: numbers of values; a cell that is not in it holds what it did before."""


@dataclass(frozen=True)
class _Side:
    """A program with what its statements do; `write` runs it with values as numbers."""

    code: LoopCode
    computations: Mapping[str, Computation]
    write: CompiledLoops
    memory: Memory


@dataclass(frozen=True)
class InterpretedPair:
    """Both programs as functions of Python."""

    pair: Pair
    before: _Side
    after: _Side

    def run(self, sizes: Sizes, most: int) -> int:
        """Run both, with so many iterations at most for each; how many it took."""
        self.before.memory.clear()
        self.after.memory.clear()
        return self.before.write(sizes, most) + self.after.write(sizes, most)

    @property
    def differs(self) -> bool:
        """Whether the last run left other values."""
        return bool(self._places())

    def _places(self) -> list[CellKey]:
        return _different(self.before.memory, self.after.memory, self.pair.arrays)

    def confirmed(self, sizes: Sizes) -> Refuted | None:
        """The difference in values, if there is one, and the original stays inside its arrays.

        What leads to those of the cells that seem to differ which are done first is a small part of long
        runs.
        """
        pair, places = self.pair, self._places()
        steps = _steps(self.before, sizes), _steps(self.after, sizes)
        if not pair.runs[0].is_defined(steps[0], sizes):
            return None
        if max(map(len, steps)) <= WHOLE_RUN:
            return if_refuted(compared(pair, steps, sizes))
        writers = writers_in(steps[0]), writers_in(steps[1])
        for place in _first_done(writers, places)[:FEW_CELLS]:
            parts = leading_to(steps[0], place, writers[0]), leading_to(steps[1], place, writers[1])
            found = compared(pair, parts, sizes, only=place)
            if isinstance(found, Refuted):
                return found
        wrong = differing(pair, steps, places)
        if wrong is None:
            return None
        parts = leading_to(steps[0], wrong, writers[0]), leading_to(steps[1], wrong, writers[1])
        return if_refuted(compared(pair, parts, sizes, only=wrong))


def interpreted_pair(pair: Pair) -> InterpretedPair:
    shapes: dict[Term, int] = {}
    before, after = (_side(one.loops, one.computations, shapes) for one in pair.runs)
    return InterpretedPair(pair, before, after)


def if_refuted(found: Refuted | str | None) -> Refuted | None:
    """What two runs tell, if it is a difference in values."""
    return found if isinstance(found, Refuted) else None


def _side(
    loops: Node,
    computations: Mapping[str, Computation],
    shapes: dict[Term, int],
) -> _Side:
    """The copies of a statement in an unrolled or tiled text are the same function."""
    memory: Memory = {}
    same: dict[tuple[int, int], Visit] = {}
    visitors: dict[str, Visit] = {}
    for name, one in computations.items():
        key = id(one.assignments), id(one.columns)
        if key not in same:
            same[key] = _writer(one, memory, shapes)
        visitors[name] = same[key]
    code = compiled(loops)
    return _Side(code, computations, code.visiting(visitors), memory)


def _writer(one: Computation, memory: Memory, shapes: dict[Term, int]) -> Visit:
    """A function of the values of the columns that does what the statement does to the memory.

    A value is the hash of what it is made of: two that are equal by accident hide a difference, no more.
    """
    names = [f"c{k}" for k in range(len(one.columns))]
    lines = [f"def visit({', '.join(names)}):"]

    def cell(place: CellTerm) -> str:
        return f"({', '.join([repr(place.array), *(names[one.columns[s]] for s in place.subscripts), ''])})"

    def read(place: CellTerm) -> str:
        return f"get(at := {cell(place)}, at)"

    for assignment in one.assignments:
        parts: list[str] = []
        shape = shape_of(assignment.value, parts, lambda index: names[one.columns[index.value]], read)
        number = shapes.setdefault(shape, len(shapes))
        key = f"({', '.join([str(number), *_read_once(parts), ''])})"
        lines.append(f"    memory{_item(cell(assignment.target))} = hash({key})")
    space: dict[str, Any] = {"memory": memory, "get": memory.get, "hash": hash}
    exec(compile("\n".join(lines), "<statement>", "exec"), space)
    visit: Visit = space["visit"]
    return visit


def _read_once(parts: list[str]) -> list[str]:
    """Expressions of Python, evaluated in their order, with names for those that come again."""
    counts = Counter(parts)
    again = {one: f"r{k}" for k, one in enumerate(counts) if counts[one] > 1 and "(" in one}
    first = {one: k for k, one in reversed([*enumerate(parts)])}
    return [
        one if one not in again else f"({again[one]} := {one})" if first[one] == k else again[one]
        for k, one in enumerate(parts)
    ]


def _item(place: str) -> str:
    return f"[{place}]"


def _different(one: Memory, other: Memory, arrays: tuple[str, ...]) -> list[CellKey]:
    """The cells with other values at the end."""
    return [
        (place[0], place[1:])
        for place in {**one, **other}
        if place[0] in arrays and one.get(place, place) != other.get(place, place)
    ]


def _first_done(writers: tuple[Writers, Writers], places: list[CellKey]) -> list[CellKey]:
    """The cells in the order in which both runs are done with them."""
    return sorted(places, key=lambda place: (max(own.get(place, (0,))[-1] for own in writers), place))


def _steps(side: _Side, sizes: Sizes) -> tuple[StatementRun, ...]:
    found: list[StatementRun] = []

    def visitor(one: Computation) -> Visit:
        return lambda *values: found.append(StatementRun(one, values))

    visitors = {name: visitor(one) for name, one in side.computations.items()}
    side.code.visiting(visitors)(sizes, LONGEST)
    return tuple(found)
