"""Keeps sums in registers: tiles of rows times vectors of a statement's sums, during the loop of the sum.

    for kT, iT:       a block of A, in the second cache:  P = f * A[i][k]
      for jT:         a panel of B, in the first cache:   Q = B[k][j]
        for iT1:      rows times vectors, in registers:   T = C[i][j]
          for k:
            for i:    unrolled
              for v:  some vectors
                T[i][v] += P[i][k] * Q[k][v]
          C[i][j] = T

All three are copied into storage of their own, without gaps: compilers keep a tile in registers if no other
access may alias it, and panels that are read in order cost least.  If several loops sum up, as in a layer of
a network, or other loops are around the product, as over a batch, the loops of the sum are not tiled:

    for n, y, xT:               copy the cells read in one iteration of these loops
      for kT:                   rows times vectors, in registers
        for c, r, s, k, v:      T[k][v] += P[k][c][r][s] * Q[c][r][v + s]

Partial tiles are split off first, so the tiles have no guards and short proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.blocks import split_whole
from loopwright.optimise.candidates.nests import (
    Script,
    SearchContext,
    bounds_of,
    extent,
    is_perfect,
    is_single,
    is_tiled,
    loops_after,
    loops_in,
    moves,
    own_loops,
    script_of,
    stays_in_row,
)
from loopwright.optimise.model.cost import element_bytes
from loopwright.optimise.model.touches import PEELED, WIDEST
from loopwright.presburger.sets import OUT
from loopwright.transform.library.accesses import MOST_ON_STACK
from loopwright.transform.perform import attempted, performed
from loopwright.transform.plan import Plan
from loopwright.transform.script import operations
from loopwright.transform.script.formulas import AffineMap, compared, plus, symbols, times
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest
from loopwright.transform.vectors import pieces

SHAPES = 1
"""The number of tile shapes to try: three copies take long to judge."""

LOWEST = 3
"""The least rows of a tile: with fewer, register tiles gain little, as with vectors of two elements."""

COLUMN = "v"
"""The name of the loop over the columns of a tile."""

SPARE = 8
"""Registers that hold no sums: a row of the panel, and cells of the block."""

SLOWER = 4
"""The assumed slowdown of partial tiles."""

PANEL, BLOCK = 1.5, 0.375
"""The size of a panel in first caches, and of a block in second ones.

A panel that is too large for the first cache comes from the second in time, and sums are loaded and stored
less often; a block that fills the second one meets panels there."""


@dataclass(frozen=True)
class _Sum:
    """A sum of products: `row` moves the sum along its row, `rows` to other rows, `steps` not at all.

    `panel` is the array that vectors are loaded from, `block` the one whose cells go with all of a row.
    """

    row: str
    rows: str
    steps: tuple[str, ...]
    array: str
    panel: str
    block: str
    element: int
    is_column: bool
    """Whether the panel is read down its columns."""
    around: tuple[str, ...] = ()
    """Other loops that move the sum."""
    block_at: str | None = None
    """The innermost of them that moves the block."""


def register_sums(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Scripts with register tiles for a perfect nest of one statement that sums products.

    Not after nests that are blocked without copies: such scripts are reached in the other order.
    """
    if not setting.copies or any(
        isinstance(one.step.operation, operations.UnrollAndJam) for one in plan.history
    ):
        return
    own = own_loops(plan, nest)
    if not is_perfect(plan, nest) or not is_single(nest) or len(own) < 3 or is_tiled(plan, nest):
        return
    found = _sum(plan, nest, own) if _is_box(plan, nest) else None
    if found is None:
        return
    for rows, columns in _shapes(plan, nest, found, setting):
        steps = _tile(plan, nest, found, setting, rows, columns)
        wide = Step(operations.Widen())
        asked = (wide,) if setting.machine.widest and wide not in script_of(plan) else ()
        if steps is not None:
            yield (*script_of(plan), *steps, *asked)


def _is_box(plan: Plan, nest: NamedNest) -> bool:
    """Whether no loop bounds another: tiles cut by a diagonal have many parts and long proofs."""
    return all(len(loops_in(bound)) <= 1 for bound in bounds_of(plan, nest.component, len(nest.loops)))


def _sum(plan: Plan, nest: NamedNest, own: tuple[str, ...]) -> _Sum | None:
    """The sum of the statement; None if it has another form."""
    (name,) = plan.statements_at(nest.component)
    statement = plan.program.statement(name)
    (write, *others), read = statement.writes, [one for one in statement.reads if one.relation.dim(OUT)]
    factors = [one for one in read if one.array != write.array]
    if (
        others
        or len(factors) != 2
        or {str(one.relation) for one in read} != {str(one.relation) for one in (write, *factors)}
    ):
        return None
    ((_, piece),) = pieces(statement.schedule)[:1]
    numbers = {loop: nest.loops.index(loop) for loop in own}
    moving = [loop for loop in own if moves(piece, numbers[loop], write)]
    steps = tuple(loop for loop in own if loop not in moving)
    for row in reversed(moving if steps else []):
        panels = [one for one in factors if moves(piece, numbers[row], one)]
        blocks = [one for one in factors if one not in panels]
        if len(panels) != 1 or not stays_in_row(piece, numbers[row], write):
            continue
        turns = {
            loop: [moves(piece, numbers[loop], one) for one in (*blocks, *panels)]
            for loop in moving
            if loop != row
        }
        rows = [loop for loop, turned in turns.items() if not turned[1]]
        if rows:
            types = {one.name: one.element_type for one in plan.program.arrays}
            around = tuple(loop for loop in turns if loop != rows[-1])
            return _Sum(
                row,
                rows[-1],
                steps,
                write.array,
                panels[0].array,
                blocks[0].array,
                element_bytes(types[write.array]),
                is_column=not stays_in_row(piece, numbers[row], panels[0]),
                around=around,
                block_at=next((loop for loop in reversed(around) if turns[loop][0]), None),
            )
    return None


def _shapes(plan: Plan, nest: NamedNest, found: _Sum, setting: SearchContext) -> list[tuple[int, int]]:
    """Rows and columns of tiles, the best first: many operations per load, and a small remainder.

    r v <= registers - spare,       operations per load = r v / (r + v),    divided by 1 + 4 (part left over)
    """
    lanes = setting.machine.widened.vector // found.element
    long, high = (extent(plan, nest, loop, setting.sizes) for loop in (found.row, found.rows))
    scores = {}
    for columns in range(PEELED // lanes * lanes + lanes, WIDEST + 1, lanes):
        vectors = columns // lanes
        rows = min(high, (setting.machine.registers - SPARE) // vectors)
        if rows >= LOWEST and columns <= long:
            left = 1 - (long // columns * columns / long) * (high // rows * rows / high)
            scores[rows, columns] = rows * vectors / (rows + vectors) / (1 + SLOWER * left)
    return sorted(scores, key=lambda shape: -scores[shape])[:SHAPES]


def _tile(
    plan: Plan, nest: NamedNest, found: _Sum, setting: SearchContext, rows: int, columns: int
) -> Script | None:
    """The steps of the tiling; None if the loops cannot be put into this order."""
    handle, row, high = nest.handle, found.row, found.rows
    is_cut = len(found.steps) == 1 and not found.around
    sizes, strip = {high: rows, row: columns}, Step(operations.StripMine(handle, high, rows))
    if is_cut:
        depth, block = _sizes(plan, nest, found, setting, rows, columns)
        sizes = {found.steps[0]: depth, high: block, row: columns}
    whole = split_whole(
        performed(plan, *nest.definition), nest, (LoopNumber(rows, high), LoopNumber(columns, row))
    )
    tile = Step(operations.Tile(handle, tuple(LoopNumber(number, loop) for loop, number in sizes.items())))
    begun = (*nest.definition, *whole, tile)
    steps = (*begun, *((strip,) if is_cut else ()))
    before, after = (loops_after(plan, nest, *one) for one in (begun, steps))
    if before is None or after is None or COLUMN in after:
        return None
    over = [f"{loop}T" for loop in sizes]
    strips = next(iter(set(after) - set(before)), f"{high}T")
    outer = (*over, strips) if is_cut else (*found.around, *reversed(over))
    steps = (*steps, Step(operations.Permute(handle, (*outer, *found.steps, high, row))))
    loops = loops_after(plan, nest, *steps)
    if loops is None:
        return None
    value = compared(row, "=", plus(times(columns, f"{row}T"), COLUMN))
    mapping = AffineMap(symbols(loops), symbols((*loops[:-1], COLUMN)), value)
    steps = (*steps, Step(operations.Affine(handle, mapping)))
    places = (over[1] if is_cut else found.block_at, f"{row}T")
    return (
        *steps,
        *_copied(plan, steps, found, handle, places),
        Step(operations.Pack(found.array, handle, outer[-1], written=True)),
        Step(operations.Unroll(handle, high)),
        Step(operations.Vectorize(handle, (COLUMN,))),
    )


def _copied(
    plan: Plan, steps: Script, found: _Sum, handle: str, loops: tuple[str | None, str | None]
) -> Script:
    """Copy block and panel; the first that is multiplied by a variable is scaled by it.

    For an array that is both, the panel is the part that the inner loops reuse.
    """
    is_same = found.block == found.panel
    block = operations.Pack(found.block, handle, loops[0])
    panel = operations.Pack(found.panel, handle, loops[1], transposed=found.is_column, reused=is_same)
    if attempted(plan, *steps, Step(scaled := replace(block, scaled=True))) is not None:
        return Step(scaled), Step(panel)
    if attempted(plan, *steps, Step(scaled := replace(panel, scaled=True))) is not None:
        panel = scaled
    return (Step(panel),) if is_same else (Step(block), Step(panel))


def _sizes(
    plan: Plan, nest: NamedNest, found: _Sum, setting: SearchContext, rows: int, columns: int
) -> tuple[int, int]:
    """The steps of a panel, preferably without remainder, and the rows of a block.

    All threads get the same number of blocks.

    A panel is not on the stack: there compilers do not keep the sums in registers.
    """
    steps = extent(plan, nest, found.steps[0], setting.sizes)
    caches = setting.machine.caches
    first, second = int(PANEL * caches[0].size), int(BLOCK * caches[1].size)
    least = MOST_ON_STACK // columns + 1
    most = max(least, first // (columns * found.element))
    whole = [one for one in range(max(least, most * 2 // 3), most * 3 // 2) if steps % one == 0]
    depth = min(whole, key=lambda one: abs(one - most), default=most)
    most, high = second // (depth * found.element), extent(plan, nest, found.rows, setting.sizes)
    blocks = -(-high // max(1, most))
    blocks = -(-blocks // setting.threads) * setting.threads
    return depth, -(-high // blocks // rows) * rows
