"""Other storage to start from: temporaries with a cell for each iteration, matrices transposed.

expand(x, i, j)          loops that shared x are free to be distributed and exchanged
pack(A, S, transposed)   S reads along rows what it read down columns, n^2 copies for n^3 reads
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.model.program import Array, Program, Statement
from loopwright.optimise.nests import Script, script_of
from loopwright.optimise.touches import Subscripts, subscripts_of
from loopwright.transform.plan import Plan
from loopwright.transform.script.operations import Expand, Pack
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import handle_at
from loopwright.transform.vectors import pieces

DEEP = 3
"""A statement in fewer loops reads no cell often enough to be worth a copy."""


def expansions(plan: Plan) -> list[tuple[Step, ...]]:
    """For each temporary: expanded along the innermost loop its statements share, along two, along all."""
    found = []
    for array in plan.program.arrays:
        loops = _shared_loops(plan.program, array) if _is_set_first(plan.program, array) else ()
        counts = dict.fromkeys(min(count, len(loops)) for count in (1, 2, len(loops)))
        steps = tuple(Step(Expand(array.name, loops[-count:])) for count in counts if count)
        found += [steps] if steps else []
    return found


def _is_set_first(program: Program, array: Array) -> bool:
    """Whether the first statement with the array writes it without reading it."""
    users = [
        (pieces(one.schedule)[0][0], one)
        for one in program.statements
        if any(access.array == array.name for access in one.accesses)
    ]
    if not users:
        return False
    _, first = min(users, key=lambda pair: pair[0])
    return not any(access.array == array.name for access in first.reads)


def _shared_loops(program: Program, array: Array) -> tuple[str, ...]:
    """The outermost loops, by name, around all statements with the array, if the last does not move it."""
    users = [
        one.iterators
        for one in program.statements
        if any(access.array == array.name for access in one.accesses)
    ]
    count = 0
    while all(len(names) > count and names[count] == users[0][count] for names in users):
        count += 1
    accesses = subscripts_of(program, dict.fromkeys(program.params, 1))
    if not count or any(_moves(one, array, count - 1) for one in accesses.values()):
        return ()
    return users[0][:count]


def _moves(accesses: tuple[Subscripts, ...], array: Array, loop: int) -> bool:
    """Whether the cell of the array that a statement touches depends on an iterator."""
    mine = [one for one in accesses if one.array == array.name]
    return any(one.factors is None or any(row[loop] for row in one.factors) for one in mine)


def packings(plan: Plan) -> Iterator[Script]:
    """Every matrix that deep statements read down a column while they write along a row, transposed."""
    subscripts = subscripts_of(plan.program, dict.fromkeys(plan.program.params, 1))
    steps = [
        Step(Pack(array, handle, transposed=True))
        for statement in plan.program.statements
        if statement.depth >= DEEP and (handle := _handle(plan, statement)) is not None
        for array in _columns(statement, subscripts[statement.name])
    ]
    if steps:
        yield (*script_of(plan), *steps)


def _handle(plan: Plan, statement: Statement) -> str | None:
    """The statement's component, where it is in one piece."""
    places = [position for position, _ in pieces(statement.schedule)]
    return handle_at(plan, places[0]) if len(places) == 1 else None


def _columns(statement: Statement, accesses: tuple[Subscripts, ...]) -> list[str]:
    """Matrices with the iterator that moves what is written along its row in the first subscript only."""
    written = [one for one in accesses if one.is_write and one.factors]
    moving = {k for one in written if one.factors for k, factor in enumerate(one.factors[-1]) if factor}
    if not written or any(one.factors is None for one in accesses):
        return []
    found = dict.fromkeys(
        one.array
        for one in accesses
        if not one.is_write
        and one.array not in {two.array for two in written}
        and one.factors is not None
        and len(one.factors) == 2
        and any(one.factors[0][k] and not one.factors[1][k] for k in moving)
    )
    return list(found)
