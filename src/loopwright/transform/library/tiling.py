"""Tiles: the loops over tiles go around the nest, which runs inside a tile as it did before.

    [..., i, j, ...] --> [..., [i/s], [j/t], i, j, ...]

Inside a tile the iterators keep their values and names, so that further operations find them.
With `skew` the tiles are cut along skewed and shifted coordinates that all dependences follow
forwards, which makes them run one after the other; the points of a tile stay in the order they
were in, which is why inner loops stay as simple as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import islpy as isl

from loopwright.errors import Code
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.library.loops import SizedLoop, refuse_others
from loopwright.transform.library.skewing import tile_coordinates
from loopwright.transform.operators import affine, realign
from loopwright.transform.plan import Component, Plan
from loopwright.transform.relations import IterationFunction, function, iterators, tile_number
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import Position


def innermost(plan: Plan, component: Component, sizes: Sequence[int], *, skewed: bool) -> list[SizedLoop]:
    """The sizes for the innermost loops: of those all statements share, or of the deepest statement."""
    if skewed:
        depth = max(plan.leaf(position).depth for position in component.positions)
    else:
        depth = plan.common_loops(component)
    first = depth - len(sizes)
    if first < 0:
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"{len(sizes)} tile sizes, but the statements share {depth} loops",
            argument="sizes",
            item=depth,
            hint=None if skewed else "'skew' as the last argument tiles loops that are not shared",
        )
    return [SizedLoop(first + k, size) for k, size in enumerate(sizes)]


def tile(
    plan: Plan, component: Component, tiles: Sequence[SizedLoop], *, skewed: bool = False, full: bool = False
) -> Plan:
    """Tile the loops named, in the order they are named; the tile loops start where the first one is.

    `full` generates the tiles that are not cut off by the bounds of the nest apart.
    """
    if len({one.loop for one in tiles}) != len(tiles):
        raise Misuse(Code.LOOPS_DO_NOT_FIT, "a loop is tiled twice")
    first = min(one.loop for one in tiles)
    if skewed:
        plan, component = _skewed(plan, component, tiles, first)
    else:
        plan, component = _plain(plan, component, tiles, first)
    if not full:
        return plan
    count = len(tiles)
    points = tuple(one.loop + count for one in tiles)
    return plan.directed(DirectiveKind.ISOLATE, component, first + count - 1, points=points)


def _plain(
    plan: Plan, component: Component, tiles: Sequence[SizedLoop], first: int
) -> tuple[Plan, Component]:
    shared = plan.common_loops(component)
    if any(one.loop >= shared for one in tiles):
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"the statements share only {shared} loops",
            hint="tile them apart, fuse them first, or say 'skew' as the last argument",
        )
    refuse_others(plan, component, first)
    x = iterators(max(one.loop for one in tiles) + 1)
    coordinates = [x[one.loop] for one in tiles]
    tiled = _with_tile_loops(plan.leaf(component.first).loops, tiles, coordinates, len(x), first)
    name = "tiled here"
    after = affine(plan.named(name, component), component, tiled)
    return after.without({name}), after.components[name]


def _with_tile_loops(
    loops: tuple[str, ...],
    tiles: Sequence[SizedLoop],
    coordinates: Sequence[isl.Aff],
    inputs: int,
    first: int,
) -> IterationFunction:
    """{[x0, ...] -> [x0, ..., tile numbers, x(first), ...]}, a loop over tiles of i being called iT."""
    numbers = [tile_number(value, one.size) for value, one in zip(coordinates, tiles, strict=True)]
    x = iterators(inputs)
    names: list[str | None] = [None] * (inputs + len(tiles))
    names[first : first + len(tiles)] = [f"{loops[one.loop]}T" for one in tiles]
    return function([*x[:first], *numbers, *x[first:]], names)


def _skewed(
    plan: Plan, component: Component, tiles: Sequence[SizedLoop], first: int
) -> tuple[Plan, Component]:
    """Each statement with its own coordinates, then all of them in the same tile loops."""
    loops = [one.loop for one in tiles]
    if loops != list(range(first, first + len(loops))):
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT, "skewed tiles are of neighbouring loops, named from the outside in"
        )
    shared = [_shared(plan, one, two) for one, two in pairwise(component.positions)]
    if any(common < first for common in shared):
        raise Misuse(Code.LOOPS_DO_NOT_FIT, f"the statements do not share the {first} loops around the tiles")
    refuse_others(plan, component, first)
    coordinates = tile_coordinates(plan, component, first, len(tiles))
    deepest = max((plan.leaf(position).loops for position in component.positions), key=len)
    names = [f"{k} tiled" for k in range(len(component.positions))]
    for name, position in zip(names, component.positions, strict=True):
        plan = plan.named(name, Component.of([position]))
    for name, position in zip(names, component.positions, strict=True):
        depth = plan.leaf(plan.components[name].first).depth
        tiled = _with_tile_loops(deepest, tiles, coordinates[position], depth, first)
        plan = affine(plan, plan.components[name], tiled)
    for (one, two), common in zip(pairwise(names), shared, strict=True):
        plan = realign(plan, plan.components[one], plan.components[two], common + len(tiles))
    found = Component.of(p for name in names for p in plan.components[name].positions)
    return plan.without(set(names)), found


def _shared(plan: Plan, one: Position, two: Position) -> int:
    """How many loops two statements share."""
    return plan.common_loops(Component.of([one, two]))
