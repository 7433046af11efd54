"""Statements that share a loop and are drawn apart, because their outlines would cover each other.

An outline is the convex hull of the dots of a tile.  Two sweeps of one time step, one along the rows and
one along the columns, have tiles that cross: in one panel every outline would hold dots that are not in
its tile, and a reader could not tell which.  Beside each other both are plain.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from loopwright.show.groups import DrawnGroup, beside, panel_of
from loopwright.show.layout import Spot, is_inside, outline
from loopwright.show.scene import place_of, spans_of
from loopwright.show.small import Instance, Window

BESIDE = 0.6
"""How much of the way to the next iteration the statements of one iteration take."""

AROUND = 0.02
"""An outline is larger than its dots by this much, so that a row of dots has an inside."""


def apart(
    panel: DrawnGroup, seen: Sequence[int], window: Window, tile_of: Mapping[Instance, int]
) -> tuple[DrawnGroup, ...]:
    """The panel, or parts of it whose outlines hold no more of what is not in their tile than each alone.

    Each statement joins the first part that it makes no worse.  `seen` are the axes drawn at first;
    `tile_of` has all instances, 0 where one is in no tile.
    """
    names = [panel.axes[axis] for axis in seen]

    def covered(part: DrawnGroup) -> int:
        return _covered(part, [k for k, axis in enumerate(part.axes) if axis in names], window, tile_of)

    if covered(panel) == 0:
        return (panel,)
    parts: list[tuple[DrawnGroup, int]] = []
    for statement in panel.statements:
        alone = covered(panel_of((statement,)))
        for k, (part, own) in enumerate(parts):
            joined = panel_of((*part.statements, statement))
            if (all_covered := covered(joined)) <= own + alone:
                parts[k] = joined, all_covered
                break
        else:
            parts.append((panel_of((statement,)), alone))
    return tuple(part for part, _ in parts)


def _covered(panel: DrawnGroup, seen: Sequence[int], window: Window, tile_of: Mapping[Instance, int]) -> int:
    """How many dots lie in the outline of a tile that they are not in, in each plane of the axes seen."""
    total = 0
    for tiles in _planes(panel, seen, window, tile_of).values():
        for tile, spots in tiles.items():
            corners = outline(spots, AROUND) if tile else []
            others = [spot for other, own in tiles.items() if other != tile for spot in own]
            total += sum(is_inside(spot, corners) for spot in others if tile)
    return total


def _planes(
    panel: DrawnGroup, seen: Sequence[int], window: Window, tile_of: Mapping[Instance, int]
) -> dict[tuple[float, ...], dict[int, list[Spot]]]:
    """By the places along the axes that are not the two innermost seen: the spots of each tile."""
    names = [statement.name for statement in panel.statements]
    offsets = {name: _offsets(panel, seen, k) for k, name in enumerate(names)}
    spans = spans_of(panel, window)
    found: dict[tuple[float, ...], dict[int, list[Spot]]] = defaultdict(lambda: defaultdict(list))
    for one, tile in tile_of.items():
        if one[0] in offsets:
            where = [a + b for a, b in zip(place_of(panel, one, spans), offsets[one[0]], strict=True)]
            still = tuple(value for axis, value in enumerate(where) if axis not in seen[-2:])
            down, across = (0.0, 0.0, *(where[axis] for axis in seen[-2:]))[-2:]
            found[still][tile].append((across, down))
    return found


def _offsets(panel: DrawnGroup, seen: Sequence[int], rank: int) -> list[float]:
    """How far from its iteration a statement is drawn, along each axis: in one row, or in a square."""
    count, along = len(panel.statements), beside(panel)
    found = [0.0] * len(panel.axes)
    if along is not None and along in seen:
        found[along] = BESIDE * rank / count
    else:
        side = math.ceil(math.sqrt(count))
        for axis, slot in zip(reversed(seen[-2:]), (rank % side, rank // side), strict=False):
            found[axis] = BESIDE * slot / side
    return found
