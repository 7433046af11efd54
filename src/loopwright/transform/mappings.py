"""Proposes mappings of loops to the blocks and threads of a GPU.

For each statement, as many of its loops as possible are mapped, at most three, outermost first: tiles become
blocks, and the iterations of a tile threads.  A statement that shares loops is distributed first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from loopwright.transform.plan import Component, Plan, PlanLeaf
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Distribute, MapBlocks, MapThreads, Permute, Tile
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import Aim, Goal, Proposal, ProposalKind, handle_at, inside, steps_of
from loopwright.transform.vectors import Position

SIZES = {1: (256,), 2: (8, 32), 3: (2, 4, 32)}
"""Threads of a block by the number of loops: a warp along the innermost."""


def mappings(plan: Plan) -> Iterator[Proposal]:
    """Mappings for each statement with loops, in source order."""
    for leaf in plan.leaves:
        handle = handle_at(plan, leaf.position)
        if handle is None or not leaf.loops:
            continue
        goal = Goal(Aim.MAPPING, (leaf.position,))
        statements = plan.statements_at(Component.of([leaf.position]))
        for loops in _bands(leaf.loops):
            for apart in _distributed(plan, leaf, loops):
                steps = (*apart, *_mapped(handle, leaf.loops, loops))
                yield Proposal(ProposalKind.MAPPING, steps, loops, statements, goal)


def _bands(loops: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for count in range(min(len(SIZES), len(loops)), 0, -1):
        yield from combinations(loops, count)


def _mapped(handle: str, loops: tuple[str, ...], band: tuple[str, ...]) -> tuple[Step, ...]:
    """Tile and map the band without the loops that come after its first one."""
    first = loops.index(band[0])
    order = (*loops[:first], *band, *(loop for loop in loops[first:] if loop not in band))
    counts = tuple(LoopNumber(size, loop) for loop, size in zip(band, SIZES[len(band)], strict=True))
    operations = (
        Tile(handle, counts),
        MapBlocks(handle, tuple(f"{loop}T" for loop in band)),
        MapThreads(handle, counts),
    )
    moved = steps_of(Permute(handle, order)) if order != loops else ()
    return (*moved, *steps_of(*operations))


def _distributed(plan: Plan, leaf: PlanLeaf, band: tuple[str, ...]) -> Iterator[tuple[Step, ...]]:
    """Nothing if the statement shares no loops; else its distribution."""
    around: Position = leaf.position[: leaf.loops.index(band[0]) + 1]
    others = inside(plan, around).positions
    if len(others) == 1:
        yield ()
        return
    names = [handle_at(plan, position) for position in others]
    if all(name is not None for name in names):
        yield steps_of(Distribute(tuple(name for name in names if name is not None)))
