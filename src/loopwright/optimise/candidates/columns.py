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
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

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
class _Form:
    """Rows of a tile and columns of a block; whether threads share rows, and whether corners are apart."""

    rows: int
    width: int
    shared: bool
    cornered: bool


def columns(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Of a nest of several statements over rows and columns, one of which sums up over columns before."""
    if not setting.copies or is_single(nest) or is_tiled(plan, nest):
        return
    if len(nest.loops) not in (DEPTH - 1, DEPTH):
        return
    is_shared = setting.threads > 1 and len(nest.loops) == DEPTH
    for position in nest.component.positions:
        for found in _sums(plan, position):
            for rows, wide, width in _shapes(setting):
                for shared, cornered in product((True, False) if is_shared else (False,), (False, True)):
                    form = _Form(rows, width, shared=shared, cornered=cornered)
                    try:
                        steps = _by_blocks(plan, nest, found, form)
                    except BadInput:
                        continue
                    if steps:
                        yield (*script_of(plan), *steps, *((Step(operations.Widen()),) if wide else ()))


def _shapes(setting: SearchContext) -> Iterator[tuple[int, bool, int]]:
    """Rows, whether the widest vectors are asked for, and columns."""
    machine = setting.machine
    for wide in (False, True) if machine.widest else (False,):
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


def _by_blocks(plan: Plan, nest: NamedNest, found: _Columns, form: _Form) -> Script:
    """The steps, none where blocks have no such form; `BadInput` where loops cannot be put into this order.

    Where threads share the work, rows after a block are apart from those that it needs itself.
    """
    rows, width = form.rows, form.width
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
        return ()
    rest = fresh(tiled, "InBlock")
    begun.append(Step(operations.Isplit(handle, whole, 1), (full, rest)))
    corner: Script = ()
    if form.cornered:
        split, corner = _corner(tiled, found, rest, width)
        if not corner:
            return ()
        begun += split
    begun += _rows_after(performed(plan, *begun), found, rest, width) if form.shared else ()
    begun.append(Step(operations.Tile(full, (LoopNumber(rows, found.row),))))
    loops = (over, f"{found.row}T", found.step, found.row, found.column)
    begun += _in_order(full, loops, width)
    panel = operations.Pack(found.panel, full, over, transposed=found.is_turned, reused=True)
    tile = operations.Pack(found.written, full, f"{found.row}T", written=True, reused=True)
    return (*begun, Step(panel), Step(tile), Step(operations.Unroll(full, found.row)), *corner)


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


def _corner(plan: Plan, found: _Columns, rest: str, width: int) -> tuple[Script, Script]:
    """The sums of the rows of whole blocks over the columns before: how they are split off, and their order.

    None where columns do not bound rows: then the rows of a block are as all others.
    """
    component = plan.component(found.handle)
    loops = plan.leaf(component.first).loops
    if not _bound_each_other(plan, component, (loops.index(found.row), loops.index(found.column))):
        return (), ()
    ends = whole_blocks(plan, component, {found.row: width}, Bounds.ALONE)
    corner, over = fresh(plan, "Corner"), Symbol(loops[0])
    begin = Multiplicative("*", Numeral(width), over)
    end = Addition((begin, Numeral(width)))
    tests = (
        *(() if ends is None else (ends.condition,)),
        Chain(((Symbol(found.step),), (begin,)), ("<",)),
        Chain(((Symbol(found.row),), (end,)), ("<",)),
    )
    condition = AffineSet(tuple(map(Symbol, loops)), Junction(conjunction=True, arguments=tests))
    sums = operations.Pack(found.written, corner, loops[0], written=True, reused=True)
    panel = operations.Pack(found.panel, corner, loops[0], transposed=found.is_turned)
    return (Step(operations.Isplit(rest, condition, 1), (corner, rest)),), (
        *_in_order(corner, (loops[0], found.step, found.row, found.column), width),
        Step(sums),
        Step(panel),
        Step(operations.Unroll(corner, found.row)),
        Step(operations.Vectorize(corner, (COLUMN,))),
    )


def _bound_each_other(plan: Plan, component: Component, depths: tuple[int, int]) -> bool:
    """Whether one bound has both loops."""
    return any(
        not any(bound.get_coefficient_val(DIM, depth).is_zero() for depth in depths)
        for points in plan.iterations(component, DEPTH + 1)
        for part in points.remove_divs().get_basic_sets()
        for bound in part.get_constraints()
    )


def _rows_after(plan: Plan, found: _Columns, rest: str, width: int) -> Script:
    """In each block first the rows that its columns have on the diagonal, then the others."""
    every, after, inside = (fresh(plan, name) for name in ("Rows", "After", "Inside"))
    loops = tuple(map(Symbol, plan.leaf(plan.component(rest).first).loops))
    over = Multiplicative("*", Numeral(width), loops[0])
    condition = Chain(((Symbol(found.row),), (Addition((over, Numeral(width))),)), (">=",))
    return (
        Step(operations.Lift(rest, 2), (every,)),
        Step(operations.Isplit(every, AffineSet(loops, condition), 1), (after, inside)),
        Step(operations.Reorder(after, inside)),
    )
