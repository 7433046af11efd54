"""Sums over the columns before, by blocks of columns: triangular systems from the right, and factorisations.

    for i, j:  for k < j:  A[i][j] -= A[i][k] * B[k][j];   A[i][j] /= B[j][j]

The columns of a block wait for those of the blocks before, which are complete: what these give comes first,
as a product, whose tiles of sums stay in registers; what the block gives itself comes after it, row by row:

    for jT:                     what is read with all rows of the block is copied
      for iT:                   rows times columns, in registers
        for k < b jT, i, v:     T[i][v] -= A[i][k] * Q[k][v]
      for i, j of jT:           for b jT <= k < j:  ...;  the statements after the sum

Where columns end at a diagonal, the rows of a block wait for the columns before too, each sum for itself;
with a corner these sums take their terms together, a vector of each row at a time:

      for k < b jT:  for i of jT:  for v < i - b jT:     C[i][v] -= A[i][k] * Q[k][v]

Rows after those of the block do not wait for each other: threads share them, and what the block gives itself
is computed for some of them at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Access
from loopwright.optimise.candidates.blocks import Bounds, whole_blocks
from loopwright.optimise.candidates.nests import (
    Script,
    SearchContext,
    fresh,
    is_single,
    is_tiled,
    moves,
    script_of,
    stays_in_row,
)
from loopwright.optimise.candidates.sums import COLUMN, LOWEST, SPARE
from loopwright.presburger.sets import DIM, OUT
from loopwright.read.formula import Addition, Chain, Junction, Multiplicative, Numeral, Symbol
from loopwright.transform.perform import performed
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script import operations
from loopwright.transform.script.formulas import AffineMap, AffineSet
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, handle_at
from loopwright.transform.vectors import Position, pieces

DEPTH = 3
"""The loops of the sum: over rows, columns and steps."""

WIDTHS = (24, 16, 8)
"""Columns of a block: the first of which some rows fit into registers."""

TOGETHER = 8
"""Rows after a block that take the terms of its own columns together."""

ELEMENT = 8
"""Bytes of the elements that tiles are made for."""


@dataclass(frozen=True)
class _Columns:
    """A statement that sums up products over `step`, in cells that `row` and `column` move."""

    handle: str
    row: str
    column: str
    step: str
    written: str
    panel: str
    is_turned: bool
    """Whether the panel is read down its columns."""

    @property
    def order(self) -> tuple[str, str, str]:
        return self.row, self.column, self.step


@dataclass(frozen=True)
class _Blocks:
    """The steps that make blocks, what is left of the sum, and the columns of a block.

    `whole` says which corners are, or is None where all are.
    """

    steps: Script
    rest: _Columns
    width: int
    whole: AffineSet | None


def columns(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Of a nest of several statements over rows and columns, one of which sums up over columns before.

    Each script begins with one before it, whose storage is not judged again.
    """
    if not setting.copies or is_single(nest) or is_tiled(plan, nest):
        return
    if len(nest.loops) not in (DEPTH - 1, DEPTH):
        return
    for position in nest.component.positions:
        for found in _sums(plan, position):
            for rows, wide, width in _shapes(setting):
                try:
                    blocks = _by_blocks(plan, nest, found, rows, width)
                    for script in () if blocks is None else _continued(plan, nest, blocks, wide=wide):
                        yield (*script_of(plan), *script)
                except BadInput:
                    continue


def _continued(plan: Plan, nest: NamedNest, blocks: _Blocks, *, wide: bool) -> Iterator[Script]:
    """Blocks, the same with corners, and both with rows after a block some at a time."""
    script = (*blocks.steps, *((Step(operations.Widen()),) if wide else ()))
    begun = performed(plan, *script)
    yield script
    yield (*script, *_rows_after(begun, nest, blocks))
    if corner := _corner(begun, blocks):
        begun = performed(begun, *corner)
        yield (*script, *corner)
        yield (*script, *corner, *_rows_after(begun, nest, blocks))


def _shapes(setting: SearchContext) -> Iterator[tuple[int, bool, int]]:
    """Rows, whether the widest vectors are asked for, and columns."""
    machine = setting.machine
    for wide in (True, False) if machine.widest else (False,):
        lanes = (machine.widened if wide else machine).vector // ELEMENT
        shapes = (((machine.registers - SPARE) // (width // lanes), wide, width) for width in WIDTHS)
        yield from [one for one in shapes if one[0] >= LOWEST][:1]


def _sums(plan: Plan, position: Position) -> Iterator[_Columns]:
    """The ways in which a statement in three loops is such a sum."""
    handle, leaf = handle_at(plan, position), plan.leaf(position)
    names = plan.statements_at(Component.of([position]))
    if handle is None or leaf.depth != DEPTH or len(names) != 1:
        return
    statement = plan.program.statement(names[0])
    piece = next(one for place, one in pieces(statement.schedule) if place == position)
    if len(statement.writes) != 1:
        return
    (write,) = statement.writes
    factors = [one for one in statement.reads if str(one.relation) != str(write.relation)]
    for row, column, step in permutations(leaf.loops):
        moved = {one: leaf.loops.index(one) for one in (row, column, step)}

        def turns(access: Access, moved: dict[str, int] = moved) -> tuple[bool, ...]:
            return tuple(moves(piece, loop, access) for loop in moved.values())

        blocks = [one for one in factors if turns(one) == (True, False, True)]
        panels = [one for one in factors if turns(one) == (False, True, True)]
        if turns(write) != (True, True, False) or len(blocks) != 1 or len(panels) != 1:
            continue
        if len(factors) == 2 and write.relation.dim(OUT) and stays_in_row(piece, moved[column], write):
            is_turned = not stays_in_row(piece, moved[column], panels[0])
            yield _Columns(handle, row, column, step, write.array, panels[0].array, is_turned)


def _by_blocks(plan: Plan, nest: NamedNest, found: _Columns, rows: int, width: int) -> _Blocks | None:
    """None where blocks have no such form; `BadInput` where loops cannot be put into this order."""
    order = tuple(one for one in found.order if one in nest.loops)
    begun = list(nest.definition)
    if order != nest.loops:
        begun.append(Step(operations.Permute(nest.handle, order)))
    begun.append(Step(operations.Tile(nest.handle, (LoopNumber(width, found.column),))))
    over = f"{found.column}T"
    begun.append(Step(operations.Permute(nest.handle, (over, *order))))
    tiled = performed(plan, *begun)
    full, handle = fresh(tiled, "Full"), found.handle
    blocks = {found.row: rows, found.column: width}
    whole = whole_blocks(tiled, tiled.component(handle), blocks)
    if whole is None:
        return None
    rest = fresh(tiled, "InBlock")
    begun.append(Step(operations.Isplit(handle, whole, 1), (full, rest)))
    begun.append(Step(operations.Tile(full, (LoopNumber(rows, found.row),))))
    loops = (over, f"{found.row}T", found.step, found.row, found.column)
    begun += _in_order(full, loops, width)
    panel = operations.Pack(found.panel, full, over, transposed=found.is_turned, reused=True)
    tile = operations.Pack(found.written, full, f"{found.row}T", written=True, reused=True)
    vectors = Step(operations.Unroll(full, found.row)), Step(operations.Vectorize(full, (COLUMN,)))
    corners = whole_blocks(tiled, tiled.component(handle), {found.row: width}, Bounds.ALONE)
    return _Blocks((*begun, Step(panel), Step(tile), *vectors), replace(found, handle=rest), width, corners)


def _in_order(name: str, loops: tuple[str, ...], width: int) -> Script:
    """The loops, the innermost of which counts from the beginning of its block."""
    over, column = loops[0], loops[-1]
    first = Multiplicative("*", Numeral(width), Symbol(over))
    value = Chain(((Symbol(column),), (Addition((first, Symbol(COLUMN))),)), ("=",))
    inputs, outputs = tuple(map(Symbol, loops)), tuple(map(Symbol, (*loops[:-1], COLUMN)))
    return (
        Step(operations.Permute(name, loops)),
        Step(operations.Affine(name, AffineMap(inputs, outputs, value))),
    )


def _corner(plan: Plan, blocks: _Blocks) -> Script:
    """The sums of the rows of whole blocks over the columns before, split off, and in their order.

    None where columns do not bound rows: then the rows of a block are as all others.
    """
    found, width = blocks.rest, blocks.width
    loops = plan.leaf(plan.component(found.handle).first).loops
    if not _is_bounded(plan, found):
        return ()
    corner, over = fresh(plan, "Corner"), Symbol(loops[0])
    begin = Multiplicative("*", Numeral(width), over)
    end = Addition((begin, Numeral(width)))
    tests = (
        *(() if blocks.whole is None else (blocks.whole.condition,)),
        Chain(((Symbol(found.step),), (begin,)), ("<",)),
        Chain(((Symbol(found.row),), (end,)), ("<",)),
    )
    condition = AffineSet(tuple(map(Symbol, loops)), Junction(conjunction=True, arguments=tests))
    return (
        Step(operations.Isplit(found.handle, condition, 1), (corner, found.handle)),
        *_in_order(corner, (loops[0], found.step, found.row, found.column), width),
        Step(operations.Pack(found.written, corner, loops[0], written=True, reused=True)),
        Step(operations.Pack(found.panel, corner, loops[0], transposed=found.is_turned)),
        Step(operations.Unroll(corner, found.row)),
        Step(operations.Vectorize(corner, (COLUMN,))),
    )


def _is_bounded(plan: Plan, found: _Columns) -> bool:
    """Whether columns bound rows: one bound has both loops."""
    component = plan.component(found.handle)
    loops = plan.leaf(component.first).loops
    depths = loops.index(found.row), loops.index(found.column)
    return any(
        not any(bound.get_coefficient_val(DIM, depth).is_zero() for depth in depths)
        for points in plan.iterations(component, DEPTH + 1)
        for part in points.remove_divs().get_basic_sets()
        for bound in part.get_constraints()
    )


def _rows_after(plan: Plan, nest: NamedNest, blocks: _Blocks) -> Script:
    """In each block first the rows that its columns have on the diagonal, then the others, some together.

    Where columns do not bound rows, all rows are such others.
    """
    every, after, inside = (fresh(plan, name) for name in ("Rows", "After", "Inside"))
    found, width = blocks.rest, blocks.width
    loops = plan.leaf(plan.component(found.handle).first).loops
    lifted, together = Step(operations.Lift(found.handle, 2), (every,)), LoopNumber(TOGETHER, found.row)
    if not _is_bounded(plan, found):
        return lifted, Step(operations.UnrollAndJam(every, (together,)))
    shared = tuple(map(Symbol, loops[: len(nest.loops) + 1]))
    over = Multiplicative("*", Numeral(width), shared[0])
    condition = Chain(((Symbol(found.row),), (Addition((over, Numeral(width))),)), (">=",))
    return (
        lifted,
        Step(operations.Isplit(every, AffineSet(shared, condition), 1), (after, inside)),
        Step(operations.Reorder(after, inside)),
        Step(operations.UnrollAndJam(after, (together,))),
    )
