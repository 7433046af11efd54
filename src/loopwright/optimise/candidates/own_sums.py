"""Gives the sums of register blocks storage of their own, for loops that threads share.

    for jT, kT:                           for jT, kT:
      for iT:                               for iT, parallel:
        for k by 4:           -->             T = rows of C, in a tile
          for j:                              for k by 4:
            C[i .. i + 7][j] += ...             for j:   T[0 .. 7][j] += ...
                                              rows of C = T

Compilers make a function of a parallel loop, in which they forget that `restrict` parameters are apart: each
sum is then stored before the next factor is loaded.  A local array is known to be apart from all that
pointers lead to.  It is written back once for each tile of the loop of the sum, so these tiles are as deep as
a cache allows.
"""

from __future__ import annotations

from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import (
    Script,
    SearchContext,
    is_perfect,
    is_single,
    is_tiled,
    loops_after,
    moves_writes,
    own_loops,
    script_of,
    targets,
)
from loopwright.optimise.model.cost import element_bytes
from loopwright.optimise.model.touches import overlapping
from loopwright.transform.library.accesses import MOST_ON_STACK
from loopwright.transform.perform import attempted
from loopwright.transform.plan import Plan
from loopwright.transform.script import operations as ops
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest

PART = 4
"""The part of a cache, one of so many, that the sums of a block take in the first, and a tile of a factor in
the second."""


def with_own_sums(start: Plan, plan: Plan, setting: SearchContext) -> Script | None:
    """The script of a plan for one thread with the sums of all register blocks in local arrays.

    None if compilers know what overlaps, or there are no such blocks.
    """
    if not overlapping(plan.program):
        return None
    script, place, changed = script_of(plan), 0, False
    while place < len(script):
        match script[place].operation:
            case ops.UnrollAndJam() as jam:
                blocks = [step for step in script[:place] if isinstance(step.operation, ops.UnrollAndJam)]
                before = tuple(step for step in script[:place] if step not in blocks)
                before = _without_tiles(before, jam.target)
                own = _own(start, before, jam, setting)
                if own is not None:  # a statement in parts is copied before any of them is unrolled
                    done = (*before, *own, *blocks)
                    script, place, changed = (*done, *script[place:]), len(done), True
            case _:
                pass
        place += 1
    return script if changed else None


def _without_tiles(script: Script, handle: str) -> Script:
    """The steps before the tiles of a nest, where these are the last ones on it."""
    mine = [place for place, step in enumerate(script) if handle in step.operation.handles]
    tiled = next((place for place in mine if isinstance(script[place].operation, ops.Tile)), len(script))
    after = (script[place].operation for place in mine if place >= tiled)
    if not all(isinstance(one, ops.Tile | ops.Permute) for one in after):
        return script
    return tuple(step for place, step in enumerate(script) if place < tiled or place not in mine)


@dataclass(frozen=True)
class _SumBlock:
    """A register block of rows of one array: `row` goes along them, `depth` is the loop of the sum."""

    rows: LoopNumber
    row: str
    depth: str
    array: str
    element: int

    def tile(self, setting: SearchContext) -> tuple[LoopNumber, LoopNumber]:
        """The columns of a tile of sums, and the steps of the sum that it is kept for."""
        first, second = (cache.size // PART for cache in setting.machine.caches[:2])
        columns = _power(min(first // self.element, MOST_ON_STACK) // self.rows.number)
        steps = _power(second // (columns * self.element))
        return LoopNumber(columns, self.row), LoopNumber(steps, self.depth)


def _power(number: int) -> int:
    """The largest power of two that is no larger."""
    return 1 << max(0, number.bit_length() - 1)


def _own(start: Plan, script: Script, jam: ops.UnrollAndJam, setting: SearchContext) -> Script | None:
    """The steps before a register block that copy its sums; None where they do not apply."""
    plan = attempted(start, *script)
    nest = None if plan is None else next((one for one in targets(plan) if one.handle == jam.target), None)
    if plan is None or nest is None:
        return None
    block = _block(plan, nest, jam)
    if block is None:
        return None
    assert block.rows.loop is not None
    tile = Step(ops.Tile(nest.handle, block.tile(setting)))
    tiled = loops_after(plan, nest, *nest.definition, tile)
    if tiled is None:
        return None
    over = [loop for loop in tiled if loop not in nest.loops]
    around = [loop for loop in own_loops(plan, nest) if loop not in (block.row, block.depth)]
    order = Step(ops.Permute(nest.handle, (*over, *around)))
    strip = Step(ops.StripMine(nest.handle, block.rows.loop, block.rows.number))
    steps = (*nest.definition, tile, order, strip)
    stripped = loops_after(plan, nest, *steps)
    new = [loop for loop in stripped or () if loop not in tiled]
    if len(new) != 1:
        return None
    steps = (*steps, Step(ops.Pack(block.array, nest.handle, new[0], written=True)))
    return None if attempted(plan, *steps) is None else steps


def _block(plan: Plan, nest: NamedNest, jam: ops.UnrollAndJam) -> _SumBlock | None:
    """The block of rows of sums; None if the nest has another form."""
    own = own_loops(plan, nest)
    if not is_perfect(plan, nest) or not is_single(nest) or is_tiled(plan, nest) or len(own) < 3:
        return None
    (name,) = plan.statements_at(nest.component)
    writes = plan.program.statement(name).writes
    moving = [loop for loop in own if moves_writes(plan, nest.component, nest.loops.index(loop))]
    rows = [one for one in jam.factors if one.loop in moving]
    depth = next((loop for loop in reversed(own) if loop not in moving), None)
    if len(rows) != 1 or own[-1] not in moving or depth is None or len(writes) != 1:
        return None
    array = plan.program.array(writes[0].array)
    if array.name not in overlapping(plan.program):
        return None
    return _SumBlock(rows[0], own[-1], depth, array.name, element_bytes(array.element_type))
