"""The cost model: estimates the cycles of a generated program without running it.

    cycles of a statement = max(a, m) + 0.3 min(a, m),  a: arithmetic and loops,  m: lines moved

It ranks programs; docs/optimise.md has its formulas and its measured error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from loopwright.c.types import CHAR, LONG_DOUBLE_BYTES, Integer, named_type
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Node
from loopwright.model.program import Program
from loopwright.optimise.model.arithmetic import body_cycles, operations_of
from loopwright.optimise.model.balance import largest_part
from loopwright.optimise.model.machine import Machine
from loopwright.optimise.model.touches import LoopCost, costed_loops
from loopwright.optimise.model.traffic import traffic
from loopwright.prove.legality.reductions import Reduction, reductions

ELEMENTS = {"double": 8, "float": 4, "int": 4, "long": 8, "char": 1, "short": 2}
"""Bytes of an element by its type; 8 of any other."""

ENTERED = 3.0
"""Cycles of an iteration of a loop around others."""

NOT_HIDDEN = 0.3
"""The part of the shorter one of computing and moving lines that does not pass during the longer one."""

BARRIER = 5000.0
"""Cycles until all threads have reached the end of a parallel loop."""


@dataclass(frozen=True)
class Estimate:
    """Cycles by statement, those of loops around several of them by the first one."""

    cycles: Mapping[str, float]
    arithmetic: float
    moved: float
    lines: tuple[float, ...]
    runs: Mapping[str, float]
    """The estimated execution count of each statement, from the middles of the loops."""

    @property
    def total(self) -> float:
        return sum(self.cycles.values())


def estimate(
    node: Node, program: Program, sizes: Mapping[str, int], machine: Machine, threads: int = 1
) -> Estimate:
    """Estimate the cost of the program at these sizes."""
    elements = {one.name: element_bytes(one.element_type) for one in program.arrays}
    root = costed_loops(node, program, sizes, _lanes(program, elements, machine))
    integers = {one.name for one in program.arrays if _is_integer(one.element_type or "double")}
    steps = reductions(program) if integers else {}
    operations = {
        one.name: operations_of(
            one,
            is_integer=(is_integer := {item.array for item in one.accesses} <= integers),
            sizes=frozenset(elements[item.array] for item in one.accesses),
            combines=one.name in steps and _combines(steps[one.name], is_integer=is_integer),
        )
        for one in program.statements
    }
    counted = (one for one in program.arrays if one.extents and one.extents[0].isdigit())
    rows = {one.name: int(one.extents[0]) for one in counted}
    known = ((one, [_number(text, sizes) for text in one.extents]) for one in program.arrays)
    cells = {one.name: prod(lengths) for one, lengths in known if all(lengths) and one.rank == len(lengths)}
    moved = traffic(root, elements, machine, rows, cells)
    cycles: dict[str, float] = {one.name: 0.0 for one in program.statements}
    arithmetic = 0.0
    for loop in root.inside():
        owner = _first(loop)
        if owner is None:
            continue
        spent = ENTERED * loop.executions * loop.trip
        if loop.calls:
            spent = loop.executions * body_cycles(loop, operations, elements, machine)
        arithmetic += spent
        cycles[owner] += spent
    for name, spent in moved.cycles.items():
        cycles[name] = max(cycles[name], spent) + NOT_HIDDEN * min(cycles[name], spent)
    if threads > 1:
        cycles = _shared(root, cycles, threads)
    runs = dict.fromkeys(cycles, 0.0)
    for loop in root.inside():
        for call in loop.calls:
            runs[call.statement] += loop.executions * loop.trip * call.lanes
    return Estimate(cycles, arithmetic, sum(moved.cycles.values()), moved.lines, runs)


def _combines(step: Reduction, *, is_integer: bool) -> bool:
    """Whether lanes combine what a step of integers does, or one of bits, such as the results of tests."""
    return not step.carried and (is_integer or bool(step.exact))


def _number(text: str, sizes: Mapping[str, int]) -> int:
    """A length that is a number or a size by its name; 0 where it is not known."""
    return int(text) if text.isdigit() else sizes.get(text, 0)


def _is_integer(element: str) -> bool:
    kind = named_type(element)
    return isinstance(kind, Integer) or kind == CHAR


def element_bytes(element: str | None) -> int:
    words = (element or "double").split()
    if {"long", "double"} <= {*words}:
        return LONG_DOUBLE_BYTES
    return next((ELEMENTS[word] for word in words if word in ELEMENTS), 8)


def _lanes(program: Program, elements: Mapping[str, int], machine: Machine) -> dict[str, int]:
    """How many elements a vector holds of the largest that a statement touches."""
    return {
        one.name: machine.vector // max((elements[access.array] for access in one.accesses), default=8)
        for one in program.statements
    }


def _first(loop: LoopCost) -> str | None:
    """The first statement called in a loop."""
    return next((call.statement for one in loop.inside() for call in one.calls), None)


def _shared(root: LoopCost, cycles: Mapping[str, float], threads: int) -> dict[str, float]:
    """Divide the cost inside a parallel loop among all threads, and add their synchronisation.

    A statement that has been split may run inside of such loops and outside: so many of its runs count as
    each thread has.
    """
    runs, own, found = dict.fromkeys(cycles, 0.0), dict.fromkeys(cycles, 0.0), dict(cycles)
    for loop, part in _parts(root, threads, 1.0):
        for call in loop.calls:
            count = loop.executions * loop.trip * call.lanes
            runs[call.statement] += count
            own[call.statement] += part * count
    for name, count in runs.items():
        found[name] *= own[name] / count if count else 1.0
    for loop in root.inside():
        first = _first(loop) if loop.is_parallel else None
        if first is not None:
            found[first] += BARRIER * loop.executions
    return found


def _parts(loop: LoopCost, threads: int, part: float) -> Iterator[tuple[LoopCost, float]]:
    """The loops, with the part of their iterations that the thread with most of them has."""
    if loop.is_parallel and part == 1.0:
        part = largest_part(loop.work, threads, is_dealt=loop.is_dealt)
    yield loop, part
    for one in loop.loops:
        yield from _parts(one, threads, part)
