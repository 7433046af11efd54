"""What may make a program faster, as steps to add to its script; legality is checked by the caller.

The proposals of `suggest`, tiles of several shapes, and register tiles: iterations of outer loops written
out inside the innermost one, which then loads once what they share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from loopwright.errors import BadInput
from loopwright.model.dependences import Dependence
from loopwright.transform.plan import Plan
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Distribute, Tile, UnrollAndJam
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import MOST, NamedNest, ProposalKind, handle_at, nests, proposals

Script: TypeAlias = tuple[Step, ...]

REGISTER_TILES = (4, 8, 2)
"""How many iterations of one loop are written out."""

REGISTER_BLOCKS = ((8, 4), (4, 4), (4, 2))
"""How many of two loops, the outer one first."""

SHAPES = ((64, 64), (32, 256), (16, 64), (128, 8))
"""Sizes of tiles besides the usual: of the outer loops, and of the innermost."""


def moves(plan: Plan, dependences: Sequence[Dependence]) -> Iterator[Script]:
    """Each once, what is cheap to try and often good first."""
    tried = list(proposals(plan, dependences))

    def proposed(kind: ProposalKind) -> list[Script]:
        return [one.steps for one in tried if one.kind is kind]

    tilings = proposed(ProposalKind.TILING)
    found = [
        *proposed(ProposalKind.INTERCHANGE),
        *(script for nest in nests(plan) for script in _register_tiles(plan, nest)),
        *proposed(ProposalKind.FUSION),
        *tilings,
        *(_shaped(script, *shape) for shape in SHAPES for script in tilings),
    ]
    yield from (script for script in dict.fromkeys(found) if _has_meaning(script, plan))


def _has_meaning(script: Script, plan: Plan) -> bool:
    try:
        plan.perform(*script)
    except BadInput:
        return False
    return True


def _register_tiles(plan: Plan, nest: NamedNest) -> Iterator[Script]:
    """Of the loops around the innermost one; also where the statement first gets its loops for itself."""
    deepest = max(plan.leaf(position).depth for position in nest.component.positions)
    outer = nest.loops[: deepest - 1]
    if not outer:
        return
    for start in (nest.definition, *_apart(plan, nest)):
        for factors in _factors(outer):
            yield (*start, Step(UnrollAndJam(nest.handle, factors)))


def _factors(outer: tuple[str, ...]) -> Iterator[tuple[LoopNumber, ...]]:
    """For each of the two innermost of the outer loops, and for both."""
    for factor in REGISTER_TILES:
        yield from ((LoopNumber(factor, loop),) for loop in outer[-2:])
    if len(outer) > 1:
        for block in REGISTER_BLOCKS:
            yield tuple(LoopNumber(factor, loop) for factor, loop in zip(block, outer[-2:], strict=True))


def _apart(plan: Plan, nest: NamedNest) -> Iterator[Script]:
    """A single statement and those that share a loop with it, distributed."""
    if len(nest.component.positions) > 1:
        return
    position = nest.component.first
    sharing = [leaf.position for leaf in plan.leaves if leaf.position[:1] == position[:1]]
    names = [name for name in (handle_at(plan, one) for one in sharing) if name is not None]
    if 1 < len(sharing) <= MOST and len(names) == len(sharing):
        yield (Step(Distribute(tuple(names))),)


def _shaped(script: Script, outer: int, inner: int) -> Script:
    """The tiling with other sizes, the last of them `inner`."""
    *before, last = script
    match last.operation:
        case Tile(sizes=sizes) as tile:
            numbers = [outer] * (len(sizes) - 1) + [inner]
            shaped = tuple(replace(one, number=number) for one, number in zip(sizes, numbers, strict=True))
            return (*before, replace(last, operation=replace(tile, sizes=shaped)))
        case _:
            return script
