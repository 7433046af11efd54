"""Blocks sums over previous columns by columns: triangular systems from the right, and factorisations.

    for i, j:  for k < j:  A[i][j] -= A[i][k] * B[k][j];   A[i][j] /= B[j][j]

The columns of a block depend on those of the previous blocks, which are complete: their terms come first, as
a product, whose tiles of sums stay in registers; the block's own terms come after it, row by row:

    for jT:                     copy the cells read with all rows of the block
      for iT:                   rows times columns, in registers
        for k < b jT, i, v:     T[i][v] -= A[i][k] * Q[k][v]
      for i, j of jT:           for b jT <= k < j:  ...;  the statements after the sum

If columns end at a diagonal, the rows of a block depend on previous columns too: the corner takes its terms
from the same copy, a vector of each row at a time, and so do sums along only the diagonal:

      for k < b jT:  for i of jT:  for v < i - b jT:     A[i][b jT + v] -= A[i][k] * Q[k][v]

Rows after those of the block are independent: threads share them, and the block's own terms are computed for
some of them at a time.
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
    bounds_of,
    is_single,
    is_tiled,
    loops_in,
    moves,
    script_of,
    stays_in_row,
)
from loopwright.optimise.candidates.sums import COLUMN, LOWEST, SPARE
from loopwright.presburger.dimensions import split
from loopwright.presburger.sets import OUT
from loopwright.read.formula import Formula, Numeral
from loopwright.transform.perform import performed
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script import operations
from loopwright.transform.script.formulas import (
    AffineMap,
    AffineSet,
    compared,
    iterations_where,
    plus,
    symbols,
    times,
)
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, fresh, handle_at
from loopwright.transform.vectors import Position, pieces

DEPTH = 3
"""The loops of the sum: over rows, columns and steps."""

WIDTHS = (24, 16, 8)
"""Candidate columns of a block: the first is chosen for which some rows fit into registers."""

TOGETHER = 8
"""Rows after a block that take the terms of its own columns together."""

ELEMENT = 8
"""The element size in bytes that tiles are designed for."""


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
class _Shape:
    """Tiles of so many rows and columns, with the widest vectors or not."""

    rows: int
    width: int
    wide: bool

    @property
    def tiles(self) -> int:
        """The number of tiles that the rows of a block fill; 0 if they do not."""
        return 0 if self.width % self.rows else self.width // self.rows


def columns(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Scripts for a nest of several statements over rows and columns, one summing over previous columns.

    Each script extends an earlier one, whose storage is not judged again.
    """
    if not setting.copies or is_single(nest) or is_tiled(plan, nest):
        return
    if len(nest.loops) not in (DEPTH - 1, DEPTH):
        return
    for position in nest.component.positions:
        for found in _sums(plan, position):
            for shape in _shapes(setting):
                try:
                    for script in _scripts(plan, nest, found, shape):
                        yield (*script_of(plan), *script)
                except BadInput:
                    continue


def _scripts(plan: Plan, nest: NamedNest, found: _Columns, shape: _Shape) -> Iterator[Script]:
    """Blocks, with corners if columns end at a diagonal; then with some rows after a block at a time.

    Raises `BadInput` if loops cannot be put into this order.
    """
    begun = _in_blocks(nest, found, shape)
    tiled = performed(plan, *begun)
    is_bounded = _is_bounded(tiled, found)
    steps, rest = (_cornered if is_bounded and shape.tiles else _full)(tiled, nest, found, shape)
    if not steps:
        return
    script = (*begun, *steps, *((Step(operations.Widen()),) if shape.wide else ()))
    made = performed(plan, *script)
    yield script
    after = fresh(made, "After")
    shared = len(nest.loops) + 1 if is_bounded else 0
    rows = _rows_after(made, rest, shape, after, shared)
    yield (*script, *rows, Step(operations.UnrollAndJam(after, (LoopNumber(TOGETHER, found.row),))))


def _shapes(setting: SearchContext) -> Iterator[_Shape]:
    machine = setting.machine
    for wide in (True, False) if machine.widest else (False,):
        lanes = (machine.widened if wide else machine).vector // ELEMENT
        shapes = (_Shape((machine.registers - SPARE) // (width // lanes), width, wide) for width in WIDTHS)
        yield from [one for one in shapes if one.rows >= LOWEST][:1]


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


def _in_blocks(nest: NamedNest, found: _Columns, shape: _Shape) -> Script:
    """Blocks of columns around all loops of the nest."""
    order = tuple(one for one in found.order if one in nest.loops)
    turned = () if order == nest.loops else (Step(operations.Permute(nest.handle, order)),)
    return (
        *nest.definition,
        *turned,
        Step(operations.Tile(nest.handle, (LoopNumber(shape.width, found.column),))),
        Step(operations.Permute(nest.handle, (_over(found), *order))),
    )


def _full(plan: Plan, nest: NamedNest, found: _Columns, shape: _Shape) -> tuple[Script, _Columns]:
    """Whole tiles of the terms of complete columns; no steps if they have no such form."""
    full, rest = fresh(plan, "Full"), fresh(plan, "InBlock")
    blocks = {found.row: shape.rows, found.column: shape.width}
    whole = whole_blocks(plan, plan.component(found.handle), blocks)
    if whole is None:
        return (), found
    panel = operations.Pack(found.panel, full, _over(found), transposed=found.is_turned, reused=True)
    steps = (
        Step(operations.Isplit(found.handle, whole, 1), (full, rest)),
        *_as_tiles(full, found, shape),
        Step(panel),
        *_in_registers(full, found),
    )
    return steps, replace(found, handle=rest)


def _cornered(plan: Plan, nest: NamedNest, found: _Columns, shape: _Shape) -> tuple[Script, _Columns]:
    """The same if columns end at a diagonal: their terms for the rows of the block use the same copy."""
    full, rest, corner = (fresh(plan, name) for name in ("Full", "InBlock", "Corner"))
    component = plan.component(found.handle)
    whole = whole_blocks(plan, component, {found.row: shape.rows}, Bounds.ALONE)
    early = _before_block(plan, found, shape, *(() if whole is None else (whole.condition,)))
    over, tiles, step, row, _ = _tile_loops(found)
    loops = symbols((over, tiles, step, row, _lane(found)))
    after = AffineSet(loops, compared(tiles, ">=", times(shape.tiles, plus(over, 1))))
    complete = whole_blocks(plan, component, {found.row: shape.width}, Bounds.ALONE)
    split_off = () if complete is None else (replace(complete, inputs=loops),)
    steps = (
        *(step for one in _on_diagonal(plan, nest, found) for step in _together(plan, one, found, shape)),
        Step(operations.Isplit(found.handle, early, 1), (full, rest)),
        *_as_tiles(full, found, shape),
        Step(operations.Pack(found.panel, full, over, transposed=found.is_turned, reused=True)),
        Step(operations.Isplit(full, after, 1), (full, corner)),
        *_in_registers(full, found),
        *(
            Step(operations.Isplit(corner, one, 1), (corner, fresh(plan, f"{corner}Rest")))
            for one in split_off
        ),
        Step(operations.Affine(corner, AffineMap(loops, (loops[0], Numeral(0), *loops[2:])))),
        Step(operations.Unroll(corner, row)),
        Step(operations.Vectorize(corner, (_lane(found),))),
    )
    return steps, replace(found, handle=rest)


def _over(found: _Columns) -> str:
    return f"{found.column}T"


def _lane(found: _Columns) -> str:
    """The name of the loop along a vector."""
    return COLUMN if COLUMN not in found.order else f"{COLUMN}_"


def _tile_loops(found: _Columns) -> tuple[str, ...]:
    return _over(found), f"{found.row}T", found.step, found.row, found.column


def _as_tiles(name: str, found: _Columns, shape: _Shape) -> Script:
    """Tiles, in which the innermost loop counts from the beginning of its block."""
    loops = _tile_loops(found)
    lanes = symbols((*loops[:-1], _lane(found)))
    value = compared(found.column, "=", plus(times(shape.width, loops[0]), lanes[-1]))
    return (
        Step(operations.Tile(name, (LoopNumber(shape.rows, found.row),))),
        Step(operations.Permute(name, loops)),
        Step(operations.Affine(name, AffineMap(symbols(loops), lanes, value))),
    )


def _in_registers(name: str, found: _Columns) -> Script:
    """Put the sums of a tile into their own storage, with rows unrolled and columns as vectors."""
    tile = operations.Pack(found.written, name, f"{found.row}T", written=True, reused=True)
    vectors = operations.Vectorize(name, (_lane(found),))
    return Step(tile), Step(operations.Unroll(name, found.row)), Step(vectors)


def _before_block(plan: Plan, found: _Columns, shape: _Shape, *tests: Formula) -> AffineSet:
    """{ [..] : k < b jT }: the terms of the columns before a block."""
    loops = plan.leaf(plan.component(found.handle).first).loops
    return iterations_where(loops, *tests, compared(found.step, "<", times(shape.width, _over(found))))


def _on_diagonal(plan: Plan, nest: NamedNest, found: _Columns) -> Iterator[tuple[Position, str]]:
    """The other sums over the same steps, with place and handle."""
    for place in plan.component(nest.handle).positions if len(nest.loops) == DEPTH else ():
        handle, loops = handle_at(plan, place), plan.leaf(place).loops
        if handle not in (None, found.handle) and found.step in loops:
            depth = loops.index(found.step)
            points = plan.iterations(Component.of([place]), depth + 1)
            if not all(split(one, depth).is_single_valued() for one in points):
                yield place, str(handle)


def _together(plan: Plan, one: tuple[Position, str], found: _Columns, shape: _Shape) -> Iterator[Step]:
    """The terms of complete columns in a sum along the diagonal, for all rows of a block at a time.

    It comes first in its nest while it is split.
    """
    place, handle = one
    early = fresh(plan, f"{handle}Early")
    before = sorted((leaf.position for leaf in plan.leaves if leaf.position[:-1] == place[:-1]), reverse=True)
    for other in before:
        if other < place and (name := handle_at(plan, other)) is not None:
            yield Step(operations.Reorder(name, handle))
    yield Step(operations.Isplit(handle, _before_block(plan, found, shape), 1), (early, handle))
    yield Step(operations.Permute(early, (_over(found), found.step, found.row, found.column)))
    yield Step(operations.Reorder(handle, found.handle))


def _is_bounded(plan: Plan, found: _Columns) -> bool:
    """Whether columns bound rows: some bound involves both loops."""
    component = plan.component(found.handle)
    loops = plan.leaf(component.first).loops
    both = {loops.index(found.row), loops.index(found.column)}
    return any(both <= set(loops_in(bound)) for bound in bounds_of(plan, component, DEPTH + 1))


def _rows_after(plan: Plan, found: _Columns, shape: _Shape, after: str, shared: int) -> Script:
    """In each block, first the rows on the diagonal of its columns, then the rest, as a named component.

    They share so many loops; if none, columns do not bound rows, and all rows belong to the rest.
    """
    if not shared:
        return (Step(operations.Lift(found.handle, 2), (after,)),)
    every, inside = fresh(plan, "Rows"), fresh(plan, "Inside")
    loops = plan.leaf(plan.component(found.handle).first).loops[:shared]
    later = compared(found.row, ">=", plus(times(shape.width, _over(found)), shape.width))
    return (
        Step(operations.Lift(found.handle, 2), (every,)),
        Step(operations.Isplit(every, iterations_where(loops, later), 1), (after, inside)),
        Step(operations.Reorder(after, inside)),
    )
