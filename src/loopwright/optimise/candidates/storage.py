"""Changes storage before the search: expands temporaries, transposes matrices.

expand(x, i, j)          loops that shared x can be distributed and interchanged
rename(x, L)             a nest gets its own x, which can be expanded along its loops
pack(A, S, transposed)   S reads along rows what it read down columns, n^2 copies for n^3 reads
contract(x, 8, ring)     intermediate rows of a fused nest stay in a cache split_sum(S)             a product
and its addition become one operation, if reassociation is allowed
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopwright.c.loops import added_sum
from loopwright.model.program import Access, Array, Program, Statement
from loopwright.optimise.candidates.nests import Script, script_of, targets
from loopwright.optimise.model.touches import Subscripts, subscripts_of
from loopwright.presburger.dimensions import only
from loopwright.presburger.sets import IN, OUT
from loopwright.transform.perform import attempted
from loopwright.transform.plan import Plan
from loopwright.transform.script.operations import Contract, Distribute, Expand, Pack, Rename, SplitSum
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import fresh, handle_at
from loopwright.transform.vectors import Position, pieces

RINGS = (4, 8, 16)
"""The number of rows of a ring buffer."""

DEEP = 3
"""A statement in fewer loops reads no cell often enough to be worth a copy."""


def expansions(plan: Plan) -> list[tuple[Step, ...]]:
    """Expand each temporary along the innermost loop its statements share, along two, along all.

    First along only the outermost: that loop can then move inside, and sums over the inner one keep their
    order.
    """
    found = []
    for array in plan.program.arrays:
        loops = _shared_loops(plan.program, array) if is_set_first(plan.program, array) else ()
        counts = dict.fromkeys(min(count, len(loops)) for count in (1, 2, len(loops)))
        inner = [loops[-count:] for count in counts if count]
        outer = [loops[:1]] if len(loops) > 1 else []
        steps = tuple(Step(Expand(array.name, names)) for names in (*outer, *inner))
        found += [steps] if steps else []
    return found


def contractions(plan: Plan) -> list[tuple[Step, ...]]:
    """Contract each array that is not live-out and used in only one nest to a scalar, or a few rows."""
    return [
        (Step(Contract(array.name)), *(Step(Contract(array.name, rows, ring=True)) for rows in RINGS))
        for array in _handed_on(plan.program)
    ]


def rings(plan: Plan) -> Iterator[Script]:
    """Turn all of these arrays into ring buffers of few rows, without subscripts before that of the row."""
    arrays = [array for array in _handed_on(plan.program) if array.rank > 1]
    for rows in RINGS if arrays else ():
        yield tuple(step for array in arrays for step in _ring(array.name, array.rank - 2, rows))


def _ring(name: str, dropped: int, rows: int) -> Script:
    if not dropped:
        return (Step(Contract(name, rows, ring=True)),)
    return Step(Contract(name, dropped)), Step(Contract(f"{name}_{dropped}", rows, ring=True))


def _handed_on(program: Program) -> list[Array]:
    """The arrays that are not live-out, with all of their uses in one nest."""
    arrays = (array for array in program.arrays if array.rank and program.is_dead_after(array))
    return [array for array in arrays if len(set(map(_top, _users(program, array)))) == 1]


def split_sums(plan: Plan) -> Script:
    """Split deep statements that add a sum into two that add its parts, in separate loops.

    x += a * b + c * d   -->   x += a * b;  x += c * d
    """
    now, steps = plan, tuple[Step, ...]()
    for statement in plan.program.statements:
        handle = _handle(plan, statement)
        if statement.depth < DEEP or handle is None or added_sum(statement.body.place.text) is None:
            continue
        second = fresh(now, f"{handle}Second")
        parts = Step(SplitSum(handle), (handle, second)), Step(Distribute((handle, second)))
        after = attempted(now, *parts)
        if after is not None:
            now, steps = after, (*steps, *parts)
    return steps


def renamings(plan: Plan) -> Iterator[Script]:
    """Rename a temporary shared by several nests in a deep one of them, and expand it along its loops.

    rename(w, L), expand(w_S, i, j)
    """
    program = plan.program
    for array in program.arrays:
        if array.rank or not is_set_first(program, array):
            continue
        together, users = _together(plan, array), _users(program, array)
        done: set[Position] = set()
        for nest in targets(plan):
            names = plan.statements_at(nest.component)
            inside = replace(program, statements=tuple(s for s in program.statements if s.name in names))
            own = _users(inside, array)
            if not 0 < len(own) < len(users) or done & set(nest.component.positions):
                continue
            loops = _shared_loops(inside, array)
            if len(loops) <= together or max(one.depth for one in own) < DEEP:
                continue
            done |= set(nest.component.positions)
            rename = (*nest.definition, Step(Rename(array.name, nest.handle)))
            known = {one.name for one in program.arrays}
            after, along = attempted(plan, *rename), _as_subscripts(own, loops)
            arrays = () if after is None else after.program.arrays
            yield from ((*rename, Step(Expand(one.name, along))) for one in arrays if one.name not in known)


def _as_subscripts(users: Sequence[Statement], loops: tuple[str, ...]) -> tuple[str, ...]:
    """The loops in the order of the subscripts of an array that a temporary is loaded from or stored to."""
    for statement in users:
        for access in (*statement.writes, *statement.reads):
            rank = access.relation.dim(OUT)
            parts = [replace(access, relation=only(access.relation, OUT, k)) for k in range(rank)]
            moved = [_moving(statement, part) for part in parts]
            order = tuple(one[0] for one in moved if len(one) == 1)
            if len(order) == rank and set(order) == set(loops):
                return order
    return loops


def _moving(statement: Statement, access: Access) -> list[str]:
    """The iterators of a statement that an access depends on."""
    numbers = range(access.relation.dim(IN))
    still = (bool(access.relation.eliminate(IN, k, 1).is_single_valued()) for k in numbers)
    return [name for name, stays in zip(statement.iterators, still, strict=True) if not stays]


def _users(program: Program, array: Array) -> list[Statement]:
    return [one for one in program.statements if any(item.array == array.name for item in one.accesses)]


def _top(statement: Statement) -> int:
    """The position of its outermost loop in the region."""
    return pieces(statement.schedule)[0][0][0]


def is_set_first(program: Program, array: Array) -> bool:
    """Whether the first statement that accesses the array writes it without reading it."""
    users = _users(program, array)
    if not users:
        return False
    first = min(users, key=lambda one: pieces(one.schedule)[0][0])
    return not any(access.array == array.name for access in first.reads)


def _shared_loops(program: Program, array: Array) -> tuple[str, ...]:
    """The outermost loops, by name, around all accesses to the array, if the last does not move it."""
    users = [one.iterators for one in _users(program, array)]
    count = 0
    while users and all(len(names) > count and names[count] == users[0][count] for names in users):
        count += 1
    accesses = subscripts_of(program, dict.fromkeys(program.params, 1))
    if not count or any(_moves(one, array, count - 1) for one in accesses.values()):
        return ()
    return users[0][:count]


def _together(plan: Plan, array: Array) -> int:
    """The number of loops that all accesses to a scalar share; of one name, if there are cells for all."""
    loops = _shared_loops(plan.program, array)
    if loops and attempted(plan, Step(Expand(array.name, loops))) is None:
        places = [pieces(one.schedule)[0][0] for one in _users(plan.program, array)]
        return next(k for k in range(len(loops) + 1) if len({place[: k + 1] for place in places}) > 1)
    return len(loops)


def _moves(accesses: tuple[Subscripts, ...], array: Array, loop: int) -> bool:
    """Whether the cell of the array that a statement touches depends on an iterator."""
    mine = [one for one in accesses if one.array == array.name]
    return any(one.factors is None or any(row[loop] for row in one.factors) for one in mine)


def packings(plan: Plan) -> Iterator[Script]:
    """Pack every matrix that deep statements read down a column while they write along a row, transposed.

    Then those that they write themselves, a column at a time.
    """
    subscripts = subscripts_of(plan.program, dict.fromkeys(plan.program.params, 1))
    steps = [
        Step(Pack(array, handle, transposed=True))
        for statement in plan.program.statements
        if statement.depth >= DEEP and (handle := _handle(plan, statement)) is not None
        for array in _columns(subscripts[statement.name])
    ]
    if steps:
        yield (*script_of(plan), *steps)
    for statement in plan.program.statements:
        if statement.depth == DEEP and (handle := _handle(plan, statement)) is not None:
            outermost = plan.leaf(plan.component(handle).first).loops[0]
            for array in _own_columns(subscripts[statement.name]):
                yield (*script_of(plan), Step(Pack(array, handle, outermost)))


def _own_columns(accesses: tuple[Subscripts, ...]) -> list[str]:
    """Matrices that the innermost of three loops writes along a row and reads down, the second in one place.

    As in an elimination: A[i][j] -= A[i][k] * A[j][k].
    """
    found = [(one, one.factors) for one in accesses if one.factors is not None and len(one.factors) == 2]
    written = {one.array for one, (row, cell) in found if one.is_write and cell[-1] and not row[-1]}
    read = (one.array for one, (row, cell) in found if row[-1] and not (row[1] or cell[1]))
    return list(dict.fromkeys(array for array in read if array in written))


def _handle(plan: Plan, statement: Statement) -> str | None:
    """The statement's component, if it has one piece."""
    places = [position for position, _ in pieces(statement.schedule)]
    return handle_at(plan, places[0]) if len(places) == 1 else None


def _columns(accesses: tuple[Subscripts, ...]) -> list[str]:
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
