"""The expected verdict on small programs: run the instances in both orders and compare the memory.

A value is a term: what an instance writes is made of its name, its iterators, which write it is and
the terms it read.  So two orders agree on all memory just where they agree for every meaning of the
statements.  The steps of a reduction may be combined into a sum, which has no order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations

import islpy as isl

from loopwright.model.program import Access, Program
from loopwright.prove.legality.violation import Defect, DefectKind, Occurrence, Violation
from tests.c.support import instances

Cell = tuple[str, tuple[int, ...]]
Time = tuple[int, ...]
Times = Callable[[str, tuple[int, ...], dict[str, int]], Time]
"""The time of an instance: statement, iterators, parameters."""


@dataclass(frozen=True)
class Event:
    """An instance and the cells it touches."""

    statement: str
    instance: tuple[int, ...]
    reads: tuple[Cell, ...]
    writes: tuple[Cell, ...]

    def conflicts(self, other: Event) -> bool:
        mine, theirs = set(self.writes), set(other.writes)
        return bool(mine & (theirs | set(other.reads)) or theirs & set(self.reads))


def events(program: Program, values: dict[str, int]) -> list[Event]:
    """The instances in the order of the program."""
    return [_event(program, name, point, values) for name, point in instances(program, values)]


def _event(program: Program, name: str, point: tuple[int, ...], values: dict[str, int]) -> Event:
    statement = program.statement(name)
    reads = tuple(cell for access in statement.reads for cell in cells(access, point, values))
    writes = tuple(cell for access in statement.writes for cell in cells(access, point, values))
    return Event(name, point, reads, writes)


def cells(access: Access, point: tuple[int, ...], values: dict[str, int]) -> list[Cell]:
    relation = access.relation
    for position, value in enumerate(point):
        relation = relation.fix_val(isl.dim_type.in_, position, isl.Val(value))
    for name, value in values.items():
        position = relation.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            relation = relation.fix_val(isl.dim_type.param, position, isl.Val(value))
    found: list[Cell] = []

    def visit(cell: isl.Point) -> None:
        rank = relation.dim(isl.dim_type.out)
        subscripts = (cell.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(rank))
        found.append((access.array, tuple(map(int, subscripts))))

    relation.range().foreach_point(visit)
    return found


Sums = Mapping[str, str]
"""Statements whose steps commute, with their operators."""


def memory(order: list[Event], terms: dict[Hashable, int], sums: Sums) -> dict[Cell, int]:
    """What every cell holds at the end: the number of its term in `terms`, which grows."""
    held: dict[Cell, int] = {}
    parts: dict[int, tuple[Hashable, ...]] = {}

    def numbered(term: tuple[Hashable, ...]) -> int:
        number = terms.setdefault(term, len(terms))
        parts[number] = term
        return number

    for event in order:
        read = {cell: held[cell] if cell in held else numbered(("old", cell)) for cell in event.reads}
        for number, cell in enumerate(event.writes):
            seen = tuple(read[other] for other in event.reads)
            step: tuple[Hashable, ...] = (event.statement, event.instance, number, seen)
            if event.statement in sums:
                others = tuple(value for other, value in read.items() if other != cell)
                step = _added(sums[event.statement], parts, read[cell], (*step[:3], others))
            held[cell] = numbered(step)
    return held


def _added(
    operator: str, parts: dict[int, tuple[Hashable, ...]], value: int, step: tuple[Hashable, ...]
) -> tuple[Hashable, ...]:
    """The sum `value` with one more step: ("sum", operator, where it began, its steps as a bag)."""
    match parts[value]:
        case ("sum", known, start, frozenset() as bag) if known == operator:
            count = dict(bag).get(step, 0)
            return ("sum", operator, start, bag - {(step, count)} | {(step, count + 1)})
        case _:
            return ("sum", operator, value, frozenset({(step, 1)}))


def reordered(order: list[Event], times: Times, values: dict[str, int]) -> list[tuple[Time, Event]]:
    placed = [(times(event.statement, event.instance, values), event) for event in order]
    return sorted(placed, key=lambda item: item[0])


def computes_the_same(
    order: list[Event], times: Times, values: dict[str, int], sums: Sums | None = None
) -> bool:
    """One instance at a time, and the same memory at the end."""
    placed = reordered(order, times, values)
    if len({time for time, _ in placed}) < len(placed):
        return False
    terms: dict[Hashable, int] = {}
    return memory(order, terms, sums or {}) == memory([event for _, event in placed], terms, sums or {})


def carries(order: list[Event], times: Times, values: dict[str, int], dimension: int) -> bool:
    """Whether two iterations of the loop at `dimension` touch the same cell, one of them writing."""
    placed = reordered(order, times, values)
    return any(
        a[:dimension] == b[:dimension] and a[dimension] != b[dimension] and one.conflicts(other)
        for (a, one), (b, other) in combinations(placed, 2)
    )


def is_true(program: Program, found: Violation, times: Times, dimension: int | None = None) -> bool:
    """Whether the witness is what it says: a conflict in order before, and not after.

    For a violation by a parallel loop, `dimension` is the loop's.
    """
    values = found.parameters
    known = {(event.statement, event.instance): event for event in events(program, values)}
    first, second = (known[(one.statement, one.instance)] for one in (found.first, found.second))
    order = list(known.values())
    mine, theirs = (_touched(program, one, found, values) for one in (found.first, found.second))
    after = [times(one.statement, one.instance, values) for one in (found.first, found.second)]
    if dimension is None:
        wrong = after[0] >= after[1]
    else:
        wrong = after[0][:dimension] == after[1][:dimension] and after[0][dimension] != after[1][dimension]
    return (
        order.index(first) < order.index(second)
        and first.conflicts(second)
        and ("w" in mine or "w" in theirs)
        and found.kind in _kinds(mine, theirs)
        and wrong
        and _unpadded(found.first.after, after[0])
        and _unpadded(found.second.after, after[1])
    )


def _touched(program: Program, one: Occurrence, found: Violation, values: dict[str, int]) -> set[str]:
    cell = (found.array, found.cell)
    statement = program.statement(one.statement)
    return {
        "w" if access.is_write else "r"
        for access in statement.accesses
        if cell in cells(access, one.instance, values)
    }


def _kinds(mine: set[str], theirs: set[str]) -> set[str]:
    names = {("w", "r"): "flow", ("r", "w"): "anti", ("w", "w"): "output"}
    return {names[(a, b)] for a in mine for b in theirs if (a, b) in names}


def _unpadded(shown: Time, wanted: Time) -> bool:
    return shown[: len(wanted)] == wanted and not any(shown[len(wanted) :])


def collides(program: Program, found: Defect, times: Times) -> bool:
    """Whether the two instances exist, are different, and have the same time."""
    assert found.kind is DefectKind.COLLISION
    one, other = ((item.statement, item.instance) for item in found.instances)
    existing = set(instances(program, found.parameters))
    same = times(*one, found.parameters) == times(*other, found.parameters)
    return one != other and {one, other} <= existing and same
