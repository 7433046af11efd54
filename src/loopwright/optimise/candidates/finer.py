"""Smaller tiles, so that threads have even parts of a loop over tiles.

    for jT < 5, parallel: ...   -->   for jT < 20, parallel: ...

Of tiles that are as large as a cache there are few: of five, two threads have three and two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.optimise.candidates.nests import MANY, Script, SearchContext, extent, script_of
from loopwright.transform.plan import Plan
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Parallelize, Tile
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest

EVEN = 8
"""Iterations that each thread has at least of a loop that is shared evenly enough."""

SMALLEST = 16
"""Iterations that a tile has at least."""


def finer_tiles(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """The script with smaller tiles in the nest, and their loop parallel; the outermost loop first.

    Tiles that share a loop have the same size, before and after.
    """
    for k, loop in enumerate(nest.loops):
        count = extent(plan, nest, loop, setting.sizes)
        if plan.sharing(nest.component, k).positions or not 1 < count < min(EVEN * setting.threads, MANY):
            continue
        factor = 2
        while (finer := _divided(plan, nest, loop, factor)) is not None:
            if count * factor >= EVEN * setting.threads // 2:
                yield (*finer, *nest.definition, Step(Parallelize(nest.handle, (loop,))))
            if count * factor >= EVEN * setting.threads:
                break
            factor *= 2


def _divided(plan: Plan, nest: NamedNest, loop: str, factor: int) -> Script | None:
    """The script with tiles of the loop so many times as small; None where there are none, or too small."""
    inside = set(plan.statements_at(nest.component))
    script, found = list(script_of(plan)), False
    for place, step in enumerate(script):
        match step.operation:
            case Tile(target=target, sizes=sizes) if _is_inside(plan, target, inside):
                smaller = tuple(_smaller(one, loop, factor) for one in sizes)
                if None in smaller:
                    return None
                numbers = tuple(one for one in smaller if one is not None)
                found = found or numbers != sizes
                script[place] = replace(step, operation=replace(step.operation, sizes=numbers))
            case _:
                pass
    return tuple(script) if found else None


def _is_inside(plan: Plan, handle: str, names: set[str]) -> bool:
    component = plan.components.get(handle)
    return component is not None and set(plan.statements_at(component)) <= names


def _smaller(size: LoopNumber, loop: str, factor: int) -> LoopNumber | None:
    """The size, divided where the loop is the one over its tiles; None where it would be too small."""
    if size.loop is None or f"{size.loop}T" != loop:
        return size
    number, rest = divmod(size.number, factor)
    return LoopNumber(number, size.loop) if number >= SMALLEST and not rest else None
