"""Estimates the cycles of a body from operations, loads and stores per iteration, and dependence chains.

    cycles of an iteration = max(operations / units, loads / ports, stores / ports, longest wait) + overhead

With a vector loop an iteration is that of as many lanes as a register has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from math import prod

from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Statement
from loopwright.optimise.model.machine import Machine
from loopwright.optimise.model.touches import CallCost, CallTouch, LoopCost
from loopwright.optimise.model.traffic import TouchGroup, grouped

UNITS = 2.0
"""Arithmetic operations, and loads, that start in a cycle; stores: half of them."""

LATENCY = 4.0
"""Cycles until the result of an addition or a product can be used."""

INTEGER = 1.0
"""The same for integers."""

SHORT = 2
"""Bytes of integers whose products are added two at a time."""

CHOICE = 3.0
"""Cycles of a choice outside vectors, including branch mispredictions."""

DIVISION = (5.0, 12.0)
"""Cycles between two divisions or square roots, and until the result of one can be used."""

CALLED = 25.0
"""Cycles of another function."""

STARTED = 40.0
"""Cycles to enter and leave a loop: bounds, the parts before and after the vectors, a misprediction."""


ROUND = 8.0
"""The same for a loop around unrolled vectors, which has no parts before and after."""

STORED = 4.0
"""Cycles of a statement whose result is stored and reloaded, because accesses in between may alias."""

PASSED = 3.0
"""Cycles of a store, also of a vector, before the load of a cell that it may be of."""

CHOSEN = 3.0
"""Cycles for a read and write at a data-dependent cell, which may be the one written just before."""

NEARBY = 2
"""Cells in a row: what was written so far before is there when it is read."""

ALIAS_TESTS = 10
"""The most pairs of accesses that a compiler tests for aliasing before a vector loop (gcc's default)."""


@dataclass(frozen=True)
class Operations:
    """The operations of one instance of a statement."""

    simple: int
    divisions: int
    calls: int
    choices: int = 0
    latency: float = LATENCY
    is_mixed: bool = False
    """Whether it chooses between values of several sizes, as of char and int: vectors of such are slow."""
    combined: int = 0
    """The same as `simple` where lanes combine integers into one cell; 0 where they do not."""


def operations_of(
    statement: Statement,
    *,
    is_integer: bool = False,
    sizes: frozenset[int] = frozenset(),
    combines: bool = False,
) -> Operations:
    """Count the operations in its text, except in subscripts; a fused multiply-add is one operation.

    A product of integers is two, and narrower ones are made wider first; sums of products of short integers
    are computed as a whole.
    """
    text = statement.body.place.text
    while (shorter := re.sub(r"\[[^][]*\]", "", text)) != text:
        text = shorter
    sums = len(re.findall(r"[+-]", text)) + text.count("?") + len(re.findall(r"[<>]", text))
    products = text.count("*")
    names = re.findall(r"\b([a-z]\w*)\s*\(", text)
    roots = sum(name.startswith("sqrt") for name in names)
    others = [name for name in names if not name.startswith(("sqrt", "fabs", "fmax", "fmin", "if"))]
    latency = INTEGER if is_integer else LATENCY
    choices = len(re.findall(r"\?|\bif\b", text))
    is_mixed = choices > 0 and len(sizes) > 1
    divided = text.count("/") + roots
    fused, apart = max(1, sums, products), max(1, sums + 2 * products)
    simple = apart + (len(statement.reads) - 1 if len(sizes) > 1 else 0) if is_integer else fused
    short = fused if min(sizes, default=0) <= SHORT else apart
    return Operations(simple, divided, len(others), choices, latency, is_mixed, short if combines else 0)


def body_cycles(
    loop: LoopCost, operations: Mapping[str, Operations], elements: Mapping[str, int], machine: Machine
) -> float:
    """The cycles of one execution of a loop for the calls right inside it."""
    groups = grouped(loop)
    is_innermost = not loop.loops
    work = [operations[call.statement] for call in loop.calls]
    is_vector = is_innermost and not any(one.is_mixed for one in work)
    combined = _combined(loop, operations)
    lanes = _lanes(loop, groups, elements, machine, combined) if is_vector else 1
    simple = sum(one.combined if lanes > 1 and combined else one.simple for one in work) / UNITS / lanes
    chosen = sum(one.choices for one in work)
    divided = sum(one.divisions for one in work) * DIVISION[0] / max(1, lanes / 2)
    called = sum(one.calls for one in work) * CALLED + (0.0 if lanes > 1 else CHOICE * chosen)
    exposed = _exposed(loop, groups)
    moving = [one for one in groups if _moves(one, loop.name) or not is_innermost or one in exposed]
    still = [one for one in groups if one not in moving]
    spilled = max(0, sum(one.count for one in still) - machine.registers + 4)
    loads = sum(one.count for one in moving) + spilled
    stores = sum(one.count for one in moving if one.is_written)
    waiting = 0.0 if lanes > 1 else max(_wait(loop, groups, operations), STORED * _stored(loop, groups))
    waiting += STORED if lanes == 1 and any(one.is_written for one in exposed) else 0.0
    waiting = max(waiting, PASSED * _passed(loop) / lanes if is_innermost else 0.0)
    busy = max(simple + divided + called, loads / UNITS / lanes, 2 * stores / UNITS / lanes, waiting)
    rounds = loop.trip / lanes if lanes == 1 else loop.trip // lanes + loop.trip % lanes
    body = rounds * (busy * lanes + 1.0 + loop.tests)
    if any(call.lanes > 1 for call in loop.calls):
        return body + ROUND
    entered = sum(one.count for one in still) / UNITS if is_innermost else 0.0
    return body + STARTED + entered


def _combined(loop: LoopCost, operations: Mapping[str, Operations]) -> Set[str]:
    """The arrays into one cell of which all calls of a loop combine integers; none where others do more."""
    writes = [one for call in loop.calls for one in call.touches if one.is_write]
    combine = all(operations[call.statement].combined for call in loop.calls)
    stays = not any(one.moves_with(loop.name) for one in writes)
    return {one.array for one in writes} if combine and stays else set()


def _moves(group: TouchGroup, loop: str) -> bool:
    return group.factors is None or any(name == loop for row in group.factors for name, _ in row)


def _lanes(
    loop: LoopCost,
    groups: tuple[TouchGroup, ...],
    elements: Mapping[str, int],
    machine: Machine,
    combined: Set[str],
) -> int:
    """The number of iterations a compiler puts into a vector: it must prove that they are independent.

    Or they must combine integers into arrays that can be privatised per lane.
    """
    size = max((elements[one.array] for one in groups), default=8)
    lanes = machine.vector // size
    if loop.tests or loop.trip < lanes or any(call.lanes > 1 for call in loop.calls):
        return 1
    if not all(_goes_along_row(one, loop.name) for one in groups):
        return 1
    written = [one for one in groups if one.is_written and not _is_private(one, loop.calls)]
    if any(not _moves(one, loop.name) and one.array not in combined for one in written):
        return 1
    if any(_carries(one, loop.calls, lanes) for one in written if one.array not in combined):
        return 1
    pairs = [(one, two) for one in written for two in groups if one is not two and one.array == two.array]
    clash = any(_may_clash(one, two, loop) for one, two in pairs)
    if not loop.is_vector:
        pairs += [(one, two) for one in written for two in groups if _meet(one, two, loop)]
    tests = sum(_rows(one) * _rows(two) for one, two in pairs)
    return 1 if clash or tests > ALIAS_TESTS else max(1, lanes)


def _exposed(loop: LoopCost, groups: Sequence[TouchGroup]) -> list[TouchGroup]:
    """Cells that are not kept in registers, because an access of another array may be one of them."""
    still = [one for one in groups if not _moves(one, loop.name)]
    return [
        one
        for one in still
        if any((one.is_written or two.is_written) and _meet(one, two, loop) for two in groups)
    ]


def _passed(loop: LoopCost) -> int:
    """How many stores of an iteration come before loads that may be of the same cell, for all that a compiler
    knows: neither can it keep the sum in a register, nor what it loaded before the store.
    """
    known: set[CallTouch] = set()
    waiting: set[CallTouch] = set()
    passed = 0
    for one in (touch for call in loop.calls for touch in call.touches):
        cell = replace(one, is_write=False)
        if one.is_write:
            known = {other for other in known if not _meet(other, one, loop)} | {cell}
            waiting.add(cell)
        elif cell not in known:
            met = {other for other in waiting if _meet(other, one, loop)}
            known, waiting, passed = known | {cell}, waiting - met, passed + len(met)
    return passed


def _meet(one: CallTouch | TouchGroup, two: CallTouch | TouchGroup, loop: LoopCost) -> bool:
    """Whether two accesses of different arrays may be of the same cell, for all that a compiler knows."""
    return one.array != two.array and {one.array, two.array} <= loop.meeting


def _is_private(group: TouchGroup, calls: Sequence[CallCost]) -> bool:
    """Whether it is a scalar that every iteration sets before it reads it, and so can be privatised."""
    if group.factors != ():
        return False
    uses = ([one for one in call.touches if one.array == group.array] for call in calls)
    first = next((mine for mine in uses if mine), [])
    return all(one.is_write for one in first)


def _goes_along_row(group: TouchGroup, loop: str) -> bool:
    """Whether it is invariant or moves to the next cell of its row."""
    steps = _steps(group, loop)
    return steps is not None and (not steps or (not any(steps[:-1]) and steps[-1] in (0, 1)))


def _steps(group: TouchGroup, loop: str) -> list[int] | None:
    """By how much a loop moves the subscripts."""
    return None if group.factors is None else [dict(row).get(loop, 0) for row in group.factors]


def _rows(group: TouchGroup) -> int:
    """In how many rows its cells are: those of a row that are next to each other are tested together."""
    sides = [high - low + 1 for low, high in zip(group.low, group.high, strict=True)]
    return group.count // sides[-1] if sides and prod(sides) == group.count else group.count


def _carries(group: TouchGroup, calls: Sequence[CallCost], lanes: int) -> bool:
    """Whether an iteration reads or writes again what one shortly before it in the row wrote."""
    if not group.factors:
        return False
    mine = [
        one
        for call in calls
        for one in call.touches
        if (one.array, one.factors) == (group.array, group.factors)
    ]
    return any(
        one.is_write and one.middle[:-1] == two.middle[:-1] and 0 < one.middle[-1] - two.middle[-1] < lanes
        for one in mine
        for two in mine
    )


def _may_clash(written: TouchGroup, other: TouchGroup, loop: LoopCost) -> bool:
    """Accesses of one array that move differently: whether the cells of a whole execution meet.

    A compiler that cannot prove the opposite tests this at run time before the vector loop.
    """
    if written.factors is None or other.factors is None:
        return True
    for k, (one, two) in enumerate(zip(written.factors, other.factors, strict=True)):
        reach = [abs(dict(row).get(loop.name, 0)) * loop.trip / 2 for row in (one, two)]
        if written.low[k] - reach[0] > other.high[k] + reach[1]:
            return False
        if written.high[k] + reach[0] < other.low[k] - reach[1]:
            return False
    return True


def _stored(loop: LoopCost, groups: tuple[TouchGroup, ...]) -> int:
    """How many calls change a cell again that the loop moves, where others read that array elsewhere.

    Compilers cannot tell that A[i][j] and A[i][k] are apart, and keep neither in registers; before a loop in
    vectors, which goes along rows, they test it.
    """
    if all(_goes_along_row(one, loop.name) for one in groups):
        return 0
    read, found = Counter(one.array for one in groups), 0
    for group in groups:
        if group.is_written and group.factors and read[group.array] > 1 and _moves(group, loop.name):
            found += sum(
                one.is_write and (one.array, one.factors) == (group.array, group.factors)
                for call in loop.calls
                for one in call.touches
            )
            found -= group.count
    return max(0, found)


def _wait(loop: LoopCost, groups: tuple[TouchGroup, ...], operations: Mapping[str, Operations]) -> float:
    """The longest loop-carried dependence chain: a sum in one cell, or a recurrence."""
    longest = 0.0
    for group in groups:
        if not group.is_written or _is_private(group, loop.calls):
            continue
        if group.factors is None:
            longest = max(longest, CHOSEN * group.count)
            continue
        chains: dict[tuple[int, ...], float] = {}
        for call in loop.calls:
            mine = [one for one in call.touches if (one.array, one.factors) == (group.array, group.factors)]
            written = [one.middle for one in mine if one.is_write]
            read = [one.middle for one in mine if not one.is_write]
            if not written or not read:
                continue
            still = not _moves(group, loop.name)
            recursive = [one for one in read if one[:-1] == written[0][:-1] and one != written[0]]
            if (still and written[0] in read) or (not still and recursive):
                work = operations[call.statement]
                one = work.latency * (1 if still else max(1, work.simple / 2)) + DIVISION[1] * work.divisions
                cell = written[0] if still else written[0][:-1]
                chains[cell] = chains.get(cell, 0.0) + one
        longest = max([longest, *chains.values()])
    return max(longest, _wait_of_two(loop, operations))


def _wait_of_two(loop: LoopCost, operations: Mapping[str, Operations]) -> float:
    """The same of two statements: w = a / b[i - 1], b[i] = b[i] - w."""
    longest = 0.0
    for second in loop.calls:
        used = {(one.array, one.middle) for one in second.touches if not one.is_write}
        moved = [one for one in second.touches if one.is_write and one.moves_with(loop.name)]
        written = [one for one in moved if one.factors]
        for first in loop.calls if written else ():
            made = {(one.array, one.middle) for one in first.touches if one.is_write}
            if first is not second and made & used and _reads_before(first, written):
                work = [operations[one.statement] for one in (first, second)]
                longest = max(longest, sum(one.latency + DIVISION[1] * one.divisions for one in work))
    return longest


def _reads_before(call: CallCost, written: Sequence[CallTouch]) -> bool:
    """Whether a call reads what an earlier iteration wrote, shortly before it in the row."""
    return any(
        (one.array, one.factors) == (cell.array, cell.factors)
        and one.middle[:-1] == cell.middle[:-1]
        and 0 < cell.middle[-1] - one.middle[-1] <= NEARBY
        for cell in written
        for one in call.touches
        if not one.is_write
    )
