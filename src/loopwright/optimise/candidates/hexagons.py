"""Tiles of time steps that grow and then shrink: those of one phase are independent, for threads to share.

    for t:  S over i;  R over i     -->     for tT:  for iT: tiles of the first phase;  for iT: of the second
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.optimise.candidates.nests import Script, SearchContext, fresh, is_perfect, is_tiled, script_of
from loopwright.transform.plan import Plan
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Hexagon
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest

SHAPES = {2: ((64, 1024), (32, 256)), 3: ((8, 32), (16, 16)), 4: ((4, 8),)}
"""Steps, and rows or cells of the first of them, by the number of loops; the loops inside stay whole."""

MOST = 6
"""A nest with more statements has no such tiles."""


def hexagons(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Of a loop over steps around several nests over the same loops, where there are threads for the tiles.

    For one thread slanted tiles do as well, and are judged sooner.
    """
    if setting.threads == 1:
        return
    loops = [plan.leaf(position).loops for position in nest.component.positions]
    if is_perfect(plan, nest) or is_tiled(plan, nest) or len(nest.loops) != 1 or len(loops) > MOST:
        return
    if len(loops[0]) < 2 or any(len(one) != len(loops[0]) or one[1] != loops[0][1] for one in loops):
        return
    handles = fresh(plan, "Early"), fresh(plan, "Late")
    for steps, cells in SHAPES.get(len(loops[0]), ()):
        sizes = LoopNumber(steps, loops[0][0]), LoopNumber(cells, loops[0][1])
        tiles = Step(Hexagon(nest.handle, sizes), handles)
        yield (*script_of(plan), *nest.definition, tiles)
