"""Sums kept in registers: rows times vectors of what a statement adds to, while the loop of the sum runs.

    for kT, iT:       a block of A, in the second cache:  P = f * A[i][k]
      for jT:         a panel of B, in the first cache:   Q = B[k][j]
        for iT1:      rows times vectors, in registers:   T = C[i][j]
          for k:
            for i:    written out
              for v:  some vectors
                T[i][v] += P[i][k] * Q[k][v]
          C[i][j] = T

All three are copied into storage of their own, without gaps: compilers keep a tile in registers that no other
access can meet, and panels that are read in order cost least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.cost import element_bytes
from loopwright.optimise.nests import (
    Script,
    Setting,
    extent,
    is_perfect,
    is_single,
    is_tiled,
    loops_after,
    moves,
    own_loops,
    script_of,
    stays_in_row,
)
from loopwright.optimise.touches import PEELED, WIDEST
from loopwright.presburger.sets import OUT
from loopwright.read.formula import Binary, Chain, Name, Number, Sum
from loopwright.transform.library.accesses import MOST_ON_STACK
from loopwright.transform.plan import Plan
from loopwright.transform.script.formulas import AffineMap
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import (
    Affine,
    Isolate,
    Pack,
    Permute,
    StripMine,
    Tile,
    Unroll,
    UnrollAndJam,
    Vectorize,
)
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest
from loopwright.transform.vectors import pieces

SHAPES = 1
"""Tiles of so many shapes are tried: three copies take long to judge."""

LOWEST = 3
"""Rows of a tile at least: with fewer, registers are of little use, as where a vector holds two elements."""

COLUMN = "v"
"""What the loop over the columns of a tile is called."""

SPARE = 8
"""Registers that hold no sums: a row of the panel, and cells of the block."""

USED = 0.5
"""The part of a cache that a panel or a block may have."""


@dataclass(frozen=True)
class _Sum:
    """A product summed up: `row` moves the sum along its row, `rows` to other rows, `step` not at all.

    `panel` is the array that vectors are loaded from, `block` the one whose cells go with all of a row.
    """

    row: str
    rows: str
    step: str
    array: str
    panel: str
    block: str
    element: int
    is_column: bool
    """Whether the panel is read down its columns."""


def register_sums(plan: Plan, nest: NamedNest, setting: Setting) -> Iterator[Script]:
    """Of a perfect nest of one statement that sums up products: tiles of sums in registers.

    Not after nests that are blocked without copies: a script of both is judged from the other side.
    """
    if not setting.copies or any(isinstance(one.step.operation, UnrollAndJam) for one in plan.history):
        return
    own = own_loops(plan, nest)
    if not is_perfect(plan, nest) or not is_single(plan, nest) or len(own) != 3 or is_tiled(plan, nest):
        return
    found = _sum(plan, nest, own)
    if found is None:
        return
    for rows, columns in _shapes(plan, nest, found, setting):
        steps = _tile(plan, nest, found, setting, rows, columns)
        if steps is not None:
            yield (*script_of(plan), *steps)


def _sum(plan: Plan, nest: NamedNest, own: tuple[str, ...]) -> _Sum | None:
    """None where the statement is no such sum."""
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
    for row in reversed(moving if len(moving) == 2 else []):
        (rows,), (step,) = ([loop for loop in one if loop != row] for one in (moving, set(own) - set(moving)))
        panels = [one for one in factors if moves(piece, numbers[row], one)]
        blocks = [one for one in factors if one not in panels]
        if (
            len(panels) == len(blocks) == 1
            and stays_in_row(piece, numbers[row], write)
            and not moves(piece, numbers[rows], panels[0])
        ):
            types = {one.name: one.element_type for one in plan.program.arrays}
            size = element_bytes(types[write.array])
            is_column = not stays_in_row(piece, numbers[row], panels[0])
            return _Sum(row, rows, step, write.array, panels[0].array, blocks[0].array, size, is_column)
    return None


def _shapes(plan: Plan, nest: NamedNest, found: _Sum, setting: Setting) -> list[tuple[int, int]]:
    """Rows and columns of tiles, the best first: many operations for each load, and little left over.

    r v <= registers - spare,       operations per load = r v / (r + v)
    """
    lanes = setting.machine.vector // found.element
    long, high = (extent(plan, nest, loop, setting.sizes) for loop in (found.row, found.rows))
    scores = {}
    for columns in range(PEELED // lanes * lanes + lanes, WIDEST + 1, lanes):
        vectors = columns // lanes
        rows = min(high, (setting.machine.registers - SPARE) // vectors)
        if rows >= LOWEST and columns <= long:
            filled = (long // columns * columns / long) * (high // rows * rows / high)
            scores[rows, columns] = filled * rows * vectors / (rows + vectors)
    return sorted(scores, key=lambda shape: -scores[shape])[:SHAPES]


def _tile(
    plan: Plan, nest: NamedNest, found: _Sum, setting: Setting, rows: int, columns: int
) -> Script | None:
    """The steps; None where the loops cannot be put into this order."""
    handle, row, high, step = nest.handle, found.row, found.rows, found.step
    depth, block = _sizes(plan, nest, found, setting, rows, columns)
    sizes = {step: depth, high: block, row: columns}
    tile = Step(Tile(handle, tuple(LoopNumber(number, loop) for loop, number in sizes.items())))
    strip = Step(StripMine(handle, high, rows))
    before, after = (loops_after(plan, nest, *nest.definition, tile, *more) for more in ((), (strip,)))
    if before is None or after is None or COLUMN in after:
        return None
    (strips,) = set(after) - set(before)
    panels, blocks, columns_of = f"{step}T", f"{high}T", f"{row}T"
    order = Step(Permute(handle, (panels, blocks, columns_of, strips, step, high, row)))
    steps = (*nest.definition, tile, strip, order)
    loops = loops_after(plan, nest, *steps)
    if loops is None:
        return None
    first = Binary("*", Number(columns), Name(columns_of))
    value = Chain(((Name(row),), (Sum((first, Name(COLUMN))),)), ("=",))
    names = (loops, (*loops[:-1], COLUMN))
    inputs, outputs = (tuple(map(Name, one)) for one in names)
    steps = (*steps, Step(Affine(handle, AffineMap(inputs, outputs, value))))
    return (
        *steps,
        *_copied(plan, steps, found, handle, (blocks, columns_of)),
        Step(Pack(found.array, handle, strips, written=True)),
        Step(Isolate(handle, columns_of, (COLUMN,))),
        Step(Isolate(handle, strips, (high,))),
        Step(Unroll(handle, high)),
        Step(Vectorize(handle, (COLUMN,))),
    )


def _copied(plan: Plan, steps: Script, found: _Sum, handle: str, loops: tuple[str, str]) -> Script:
    """Block and panel copied, the first of them that is multiplied by a variable times that variable.

    Of an array that is both, the panel is what the inner loops come back to.
    """
    is_same = found.block == found.panel
    block = Pack(found.block, handle, loops[0])
    panel = Pack(found.panel, handle, loops[1], transposed=found.is_column, reused=is_same)
    if _is_possible(plan, steps, scaled := replace(block, scaled=True)):
        return Step(scaled), Step(panel)
    if _is_possible(plan, steps, scaled := replace(panel, scaled=True)):
        panel = scaled
    return (Step(panel),) if is_same else (Step(block), Step(panel))


def _is_possible(plan: Plan, steps: Script, copy: Pack) -> bool:
    try:
        plan.perform(*steps, Step(copy))
    except BadInput:
        return False
    return True


def _sizes(
    plan: Plan, nest: NamedNest, found: _Sum, setting: Setting, rows: int, columns: int
) -> tuple[int, int]:
    """Steps that a panel has, as many as leave no rest if any do, and rows that a block has.

    A panel is in the first cache, but not on the stack: there compilers do not keep the sums in registers.
    """
    steps = extent(plan, nest, found.step, setting.sizes)
    first, second = (int(USED * one.size) for one in setting.machine.caches[:2])
    least = MOST_ON_STACK // columns + 1
    most = max(least, first // (columns * found.element))
    whole = [one for one in range(max(least, most * 2 // 3), most * 3 // 2) if steps % one == 0]
    depth = min(whole, key=lambda one: abs(one - most), default=most)
    most, high = second // (depth * found.element), extent(plan, nest, found.rows, setting.sizes)
    return depth, -(-high // max(1, -(-high // most)) // rows) * rows
