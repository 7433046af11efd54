"""Blocks steps, deferring the columns after a block until all of its steps, as with data-dependent pivots.

    for k:  ...;  T(k, j) for all j;  U(k, i, j) for all i, j

A step on one column depends on no other column.  The steps of a block are applied to its own columns first;
then all of these steps are applied to the other columns, some columns at a time, which stay in the cache:

    for kT:
      for k:  ...;  T(k, j), U(k, i, j)  for j < b (kT + 1)
      for jT:
        for k:  T(k, j), U(k, i, j)      for the columns j of jT after the block

Cells of a column that U reads and other steps overwrite are copied after their step, one copy per step.

Panels, in a perfect nest of several statements: each block first computes its own rows and columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.errors import BadInput
from loopwright.optimise.candidates.blocks import split_whole, whole_blocks
from loopwright.optimise.candidates.nests import (
    Script,
    SearchContext,
    is_perfect,
    is_single,
    is_tiled,
    loops_after,
    moves_writes,
    script_of,
)
from loopwright.transform.perform import attempted, performed
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script import operations
from loopwright.transform.script.formulas import compared, iterations_where, plus, times
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, fresh, handle_of

BLOCK, COLUMNS, ROWS = 32, 128, 4
"""Steps of a block, columns computed together, and unrolled rows."""

MOST = 8
"""The most nests in a loop to which this applies."""


def deferred(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Scripts for a loop over steps around several nests, one with one statement in two more loops."""
    if len(nest.loops) != 1 or is_perfect(plan, nest):
        return
    children = [handle_of(plan, one) for one in _children(nest.component)]
    if None in children or not 1 < len(children) <= MOST:
        return
    for update in map(str, children):
        positions = plan.component(update).positions
        if len(positions) > 1 or plan.leaf(positions[0]).depth != 3:
            continue
        for begun in dict.fromkeys((_copied(plan, update), ())):
            try:
                steps = _steps(performed(plan, *nest.definition, *begun), nest, update)
                found = (*nest.definition, *begun, *steps)
                yield from ((*script_of(plan), *found, *more) for more in _written_out(plan, found, update))
            except BadInput:
                continue


def _children(component: Component) -> list[Component]:
    """The components in the outermost loop, in order."""
    places = dict.fromkeys(position[:2] for position in component.positions)
    return [Component.of(one for one in component.positions if one[:2] == place) for place in places]


def _copied(plan: Plan, update: str) -> Script:
    """Copy the accesses invariant in the innermost loop to one cell per step."""
    step, row, column = plan.leaf(plan.component(update).first).loops
    statement = plan.program.statement(plan.statements_at(plan.component(update))[0])
    (written, *_) = statement.writes
    turn = Step(operations.Interchange(update, row, column))
    copy = Step(operations.Pack(written.array, update, step, reused=True), (fresh(plan, "Copy"),))
    known = {one.name for one in plan.program.arrays}
    after = attempted(plan, turn, copy)
    if after is None:
        return ()
    (name,) = (one.name for one in after.program.arrays if one.name not in known)
    return turn, copy, Step(operations.Expand(name, (step,))), turn


def _steps(plan: Plan, nest: NamedNest, update: str) -> Script:
    """The block first, then the columns after it."""
    (step,) = nest.loops
    column = plan.leaf(plan.component(update).first).loops[-1]
    around = plan.leaf(plan.component(update).first).position[:1]
    everything = Component.of(one.position for one in plan.leaves if one.position[:1] == around)
    names = [str(handle_of(plan, one)) for one in _children(everything)]
    whole = fresh(plan, "Steps")
    steps = [Step(operations.Lift(update, 1), (whole,)), Step(operations.StripMine(whole, step, BLOCK))]
    order, later = [], []
    for name in names:
        loops = plan.leaf(plan.component(name).first).loops
        order.append(name)
        if column in loops[1:]:
            now, after = _parts(plan, name)
            last = plus(times(BLOCK, f"{step}T"), BLOCK - 1)
            inside = iterations_where((f"{step}T", *loops), compared(column, "<=", last))
            steps.append(Step(operations.Isplit(name, inside, 2), (now, after)))
            order[-1:] = [now, after]
            later.append((after, loops))
    steps.append(Step(operations.Distribute(tuple(order), 1)))
    for name, _ in reversed(later):
        for other in order[order.index(name) + 1 :]:
            if other not in [one for one, _ in later]:
                steps.append(Step(operations.Reorder(name, other)))
    last_ones = [name for name, _ in later]
    steps.append(Step(operations.Fuse(tuple(name for name in order if name not in last_ones), 2)))
    for name, loops in later:
        steps.append(Step(operations.Tile(name, (LoopNumber(COLUMNS, column),))))
        steps.append(Step(operations.Permute(name, (f"{column}T", step, *loops[1 : loops.index(column)]))))
    if len(later) > 1:
        steps.append(Step(operations.Fuse(tuple(last_ones), 3)))
    return tuple(steps)


def _parts(plan: Plan, name: str) -> tuple[str, str]:
    """The names of the two parts of a nest: its columns in the block, and those after it."""
    plain = f"L{name[1:]}" if name.startswith("@") else name
    return fresh(plan, f"{plain}Block"), fresh(plan, f"{plain}After")


def _written_out(plan: Plan, found: Script, update: str) -> Iterator[Script]:
    """Some rows of the update unrolled, then none."""
    after, (_, name) = performed(plan, *found), _parts(plan, update)
    component = after.component(name)
    loops = after.leaf(component.first).loops
    factors = (LoopNumber(ROWS, loops[-2]),)
    nest = NamedNest(component, loops, name, ())
    vectors = Step(operations.Vectorize(name, (loops[-1],)))
    yield (*split_whole(after, nest, factors), Step(operations.UnrollAndJam(name, factors)), vectors)
    yield (vectors,)


PANEL = 40
"""Steps of an elimination per block."""

PANEL_BLOCKS = ((4, 4), (2, 8), (2, 4), (1, 8), (1, 4))
"""How many rows and steps are written out in what comes after them: small ones first where rows of one array
are read and written, since compilers test few pairs of them before a vector loop."""


def panels(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Block an elimination: in each strip of steps first its own rows and columns, then the rest.

    trailing: { [kT, k, i, j] : i >= s kT + s and j >= s kT + s }, after the panel, with k inside of i
    """
    if not is_perfect(plan, nest) or is_single(nest) or is_tiled(plan, nest) or len(nest.loops) != 3:
        return
    numbers = {loop: k for k, loop in enumerate(nest.loops)}
    for step in sorted(numbers, key=lambda loop: moves_writes(plan, nest.component, numbers[loop])):
        order = (step, *(loop for loop in nest.loops if loop != step))
        yield from ((*script_of(plan), *nest.definition, *steps) for steps in _panels(plan, nest, order))


def _is_in_place(plan: Plan, nest: NamedNest) -> bool:
    """Whether a statement of the nest reads other cells of the array that it writes, in all loops."""
    statements = [plan.program.statement(name) for name in plan.statements_at(nest.component)]
    return any(
        read.array == write.array and not read.relation.is_equal(write.relation)
        for one in statements
        if one.depth == len(nest.loops)
        for write in one.writes
        for read in one.reads
    )


def _panels(plan: Plan, nest: NamedNest, order: tuple[str, ...]) -> Iterator[Script]:
    """The same with the first of these loops as steps."""
    defined = performed(plan, *nest.definition)
    step, row, column = order
    strip = Step(operations.StripMine(nest.handle, step, PANEL))
    moved = () if order == nest.loops else (Step(operations.Permute(nest.handle, order)),)
    loops = loops_after(defined, nest, *moved, strip)
    if loops is None:
        return
    end = plus(times(PANEL, loops[0]), PANEL)
    condition = iterations_where(loops, *(compared(loop, ">=", end) for loop in (row, column)))
    trailing, panel = fresh(defined, "Trailing"), fresh(defined, "Panel")
    steps = [strip, Step(operations.Isplit(nest.handle, condition, 1), (trailing, panel))]
    steps += [Step(operations.Reorder(trailing, panel)), Step(operations.Interchange(panel, step, row))]
    steps += [Step(operations.Interchange(trailing, step, row))]
    after = attempted(defined, *moved, *steps)
    if after is None:
        return
    for rows in PANEL_BLOCKS[::-1] if _is_in_place(plan, nest) else PANEL_BLOCKS:
        factors = tuple(
            LoopNumber(size, loop) for size, loop in zip(rows, (row, step), strict=True) if size > 1
        )
        sizes = {one.loop: one.number for one in factors if one.loop is not None}
        whole = whole_blocks(after, after.component(trailing), sizes)
        rest = fresh(defined, "Near")
        split = () if whole is None else (Step(operations.Isplit(trailing, whole, 1), (trailing, rest)),)
        yield (*moved, *steps, *split, Step(operations.UnrollAndJam(trailing, factors)))
    yield (*moved, *steps)
