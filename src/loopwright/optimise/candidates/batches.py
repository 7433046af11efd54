"""Many problems next to each other in memory: some of them at a time, each row of theirs a vector.

for s:  for t: { for k: A[k][s];  for k: B[k][s] }
    -->   for sT:  for t: { for k: for s in the block: A[k][s];  for k: for s in the block: B[k][s] }
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from loopwright.optimise.candidates.finishing import rows_that_meet
from loopwright.optimise.candidates.nests import Script, SearchContext, in_their_rows, is_tiled, script_of
from loopwright.transform.plan import Plan
from loopwright.transform.script.operations import Distribute, Fuse, Permute, StripMine
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, handle_at

BLOCKS = (64, 16)
"""How many problems go together."""


def batches(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Blocks of the first loop of several statements, which goes along rows: its iterations innermost.

    Where rows meet in a cache, few of a block would stay there.
    """
    positions, shared = nest.component.positions, len(nest.loops)
    names = [name for place in positions if (name := handle_at(plan, place)) is not None]
    if len(positions) < 2 or len(names) < len(positions) or is_tiled(plan, nest):
        return
    statements = map(plan.program.statement, plan.statements_at(nest.component))
    inside = {access.array for one in statements for access in one.accesses}
    if any(array.name in inside for array in rows_that_meet(plan, setting)):
        return
    smooth, every = in_their_rows(plan, nest.component, 0)
    if smooth < every or any(plan.leaf(place).depth <= shared for place in positions):
        return
    first, over = nest.loops[0], f"{nest.loops[0]}T"
    apart, *joined = Distribute(tuple(names)), *(Fuse(pair, shared) for pair in pairwise(names))
    for size in BLOCKS:
        moved = [
            step
            for name, place in zip(names, positions, strict=True)
            for step in (
                StripMine(name, first, size),
                Permute(name, (over, *plan.leaf(place).loops[1:], first)),
            )
        ]
        yield (*script_of(plan), *map(Step, (apart, *moved, *joined)))
