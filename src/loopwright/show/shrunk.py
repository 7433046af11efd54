"""The same script with tiles so small that a picture holds several of them."""

from __future__ import annotations

from dataclasses import replace

from loopwright.transform.plan import Plan
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Hexagon, StripMine, Tile, Unroll, UnrollAndJam
from loopwright.transform.script.steps import Step


def size_for(plan: Plan) -> int:
    """So that several tiles are in a picture: of 12 iterations of one loop, 6 of each of two, 4 of three."""
    return {1: 5, 2: 3}.get(plan.loops, 2)


def shrunk(step: Step, size: int) -> Step:
    """The step with no tile or strip larger than `size`."""
    match step.operation:
        case Tile(sizes=sizes) as tile:
            return replace(step, operation=replace(tile, sizes=_smaller(sizes, size)))
        case Hexagon(sizes=sizes) as hexagon:
            return replace(step, operation=replace(hexagon, sizes=_smaller(sizes, 2)))
        case UnrollAndJam(factors=factors) as jam:
            return replace(step, operation=replace(jam, factors=_smaller(factors, size)))
        case StripMine(size=strip) as mine:
            return replace(step, operation=replace(mine, size=min(strip, size)))
        case Unroll(factor=int(factor)) as unroll:
            return replace(step, operation=replace(unroll, factor=min(factor, size)))
        case _:
            return step


def _smaller(numbers: tuple[LoopNumber, ...], size: int) -> tuple[LoopNumber, ...]:
    return tuple(replace(one, number=min(one.number, size)) for one in numbers)
