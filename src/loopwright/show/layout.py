"""Computes the positions of the dots of a picture.

The outermost loop goes down and the inner one to the right, so that nested loops are run through
as a page is read.  Three loops make several such sheets side by side, one for each value of the
outermost.

Statements that share a loop are drawn apart where their outlines would cover each other: an outline is
the convex hull of the dots of a tile.  Two sweeps of one time step, one along the rows and one along the
columns, have tiles that cross: in one panel every outline would hold dots that are not in its tile, and a
reader could not tell which.  Beside each other both are plain.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from loopwright.lazy_dataclass import dataclass
from loopwright.show.groups import DrawnGroup, beside, panel_of
from loopwright.show.scene import Scene, place_of, spans_of
from loopwright.show.small import Coordinates, Instance, Window

Spot: TypeAlias = tuple[float, float]

GAP = 1.3
"""Between two sheets."""

ASIDE = (0.4, -0.3)
"""How far an instance is moved for each other one that is at the same place."""


@dataclass(frozen=True)
class Sheet:
    """One plane of dots: its name, the iterators' values along both sides, and its corner."""

    title: str
    rows: range
    columns: range
    left: float


@dataclass(frozen=True)
class PictureLayout:
    spots: dict[Instance, Spot]
    sheets: tuple[Sheet, ...]
    sheet_of: dict[Instance, int]
    crowd: int
    """How many dots share a place, at most."""

    @property
    def crowded(self) -> bool:
        return self.crowd > 1

    @property
    def box(self) -> tuple[float, float, float, float]:
        """left, right, bottom, top: of the sheets, and of dots that were moved aside."""
        last = self.sheets[-1]
        across = [x for x, _ in self.spots.values()] + [0.0, last.left + len(last.columns) - 1]
        down = [y for _, y in self.spots.values()] + [0.0, 1.0 - len(last.rows)]
        return min(across), max(across), min(down), max(down)


def layout(scene: Scene) -> PictureLayout:
    planes = [_plane(dot.where) for dot in scene.dots]
    outer, rows, columns = (_range(plane[k] for plane in planes) for k in range(3))
    name = scene.axes[0] if len(scene.axes) == 3 else ""
    sheets = tuple(
        Sheet(_title(scene, name, value), rows, columns, k * (len(columns) + GAP))
        for k, value in enumerate(outer)
    )
    spots: dict[Instance, Spot] = {}
    sheet_of: dict[Instance, int] = {}
    taken: dict[Coordinates, int] = {}
    crowd = max(Counter(dot.where for dot in scene.dots).values(), default=0)
    for dot, (plane, row, column) in zip(scene.dots, planes, strict=True):
        number = taken.get(dot.where, 0)
        taken[dot.where] = number + 1
        aside = _aside(number, crowd)
        sheet = plane - outer.start
        sheet_of[dot.instance] = sheet
        x = sheets[sheet].left + column - columns.start + aside[0]
        spots[dot.instance] = (x, rows.start - row + aside[1])
    return PictureLayout(spots, sheets, sheet_of, crowd)


def _aside(number: int, crowd: int) -> Spot:
    """Two stand beside each other; more have places of their own in a square."""
    if crowd <= 2:
        return number * ASIDE[0], number * ASIDE[1]
    side = math.ceil(math.sqrt(crowd))
    middle, step = (side - 1) / 2, 0.86 / side
    return (number % side - middle) * step, (middle - number // side) * step


def _title(scene: Scene, name: str, value: int) -> str:
    if not name:
        return ""
    return f"no {name}" if (0, value) in scene.outside else f"{name} = {value}"


def _plane(where: Coordinates) -> tuple[int, int, int]:
    """Sheet, row and column."""
    first, second, third = (*(0,) * (3 - len(where)), *where)
    return first, second, third


def _range(values: Iterable[int]) -> range:
    known = list(values)
    return range(min(known), max(known) + 1)


def outline(spots: Sequence[Spot], distance: float) -> list[Spot]:
    """The convex hull of the spots, so much larger on every side (Andrew's monotone chain)."""
    near = distance * 0.55
    corners = [(distance, near), (near, distance), (-near, distance), (-distance, near)]
    around = [*corners, *((x, -y) for x, y in corners)]
    points = sorted({(x + dx, y + dy) for x, y in spots for dx, dy in around})
    return _half(points)[:-1] + _half(points[::-1])[:-1]


def is_inside(spot: Spot, corners: Sequence[Spot]) -> bool:
    """Whether a spot lies in an outline, whose corners go round to the left."""
    return all(_turn(one, two, spot) >= 0 for one, two in pairwise((*corners, corners[0])))


def _half(points: Sequence[Spot]) -> list[Spot]:
    chain: list[Spot] = []
    for point in points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return chain


def _turn(one: Spot, two: Spot, three: Spot) -> float:
    return (two[0] - one[0]) * (three[1] - one[1]) - (two[1] - one[1]) * (three[0] - one[0])


def path(
    order: Sequence[Instance], found: PictureLayout, follows: Callable[[Instance, Instance], bool]
) -> list[tuple[Spot, Spot, bool]]:
    """The steps from each instance to the one that follows; True where it is a jump and not a neighbour."""
    steps: list[tuple[Spot, Spot, bool]] = []
    for one, two in pairwise(order):
        if not follows(one, two):
            continue
        (x1, y1), (x2, y2) = found.spots[one], found.spots[two]
        steps.append(((x1, y1), (x2, y2), (x2 - x1) ** 2 + (y2 - y1) ** 2 > 2.6))
    return steps


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
