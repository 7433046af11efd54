"""Tiling: adds loops over tiles around the nest, which keeps its order inside a tile.

    [..., i, j, ...] --> [..., [i/s], [j/t], i, j, ...]

Inside a tile the iterators keep their values and names, so that further operations find them.
With `skew` the tiles are cut along skewed and shifted coordinates with non-negative dependence distances, so
they can execute one after the other; the points of a tile stay in their order, so inner loops stay as simple
as before.

`unroll_and_jam` unrolls small tiles, to keep them in registers; `unroll` does the same for one loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import islpy as isl

from loopwright.errors import Code
from loopwright.presburger.dimensions import beyond, equal_in
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.library.loops import SizedLoop, check_whole, refuse_others, strip_mine
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

    `full` generates the full tiles, which the bounds of the nest do not cut, separately.
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
    """Give each statement its own coordinates, then put all of them in the same tile loops."""
    loops = [one.loop for one in tiles]
    if loops != list(range(first, first + len(loops))):
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT, "skewed tiles are of neighbouring loops, named from the outside in"
        )
    shared = [plan.common_loops(Component.of([one, two])) for one, two in pairwise(component.positions)]
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


def unroll(plan: Plan, component: Component, loop: int, factor: int | None) -> Plan:
    """Unroll a loop completely, or by `factor`.

    With a factor: strip_mine(L, i, factor), with the inner loop unrolled in full strips.
    """
    if factor is None:
        _check_constant(plan, component, loop)
        return plan.directed(DirectiveKind.UNROLL, component, loop)
    check_whole(plan, component, loop)
    after = strip_mine(plan.named("unrolled here", component), component, loop, factor)
    strips = after.components["unrolled here"]
    after = after.directed(DirectiveKind.ISOLATE, strips, loop, points=(loop + 1,))
    after = after.directed(DirectiveKind.UNROLL, strips, loop + 1, factor=factor)
    return after.without({"unrolled here"})


def _check_constant(plan: Plan, component: Component, loop: int) -> None:
    """Check that a loop can be unrolled: its trip count has a constant bound."""
    name = plan.leaf(component.first).loops[loop]
    inside = Component.of((*component.positions, *plan.sharing(component, loop).positions))
    for one in plan.iterations(inside, loop + 1):
        for other in plan.iterations(inside, loop + 1):
            if not _distance(one, other, loop).remove_divs().is_bounded():
                raise Misuse(
                    Code.UNBOUNDED,
                    f"the number of iterations of {name} is not a constant",
                    argument="loop",
                    hint=f"unroll(L, {name}, 4) writes out four at a time",
                )


def unroll_and_jam(plan: Plan, component: Component, tiles: Sequence[SizedLoop]) -> Plan:
    """Unroll outer loops by `size` inside the innermost one.

    [..., i, ..., k] --> [..., [i/size], ..., k, i], with the last loop unrolled in full strips.
    Statements of one innermost body are copied together; each body separately.
    """
    loops = [one.loop for one in tiles]
    if len(set(loops)) != len(loops):
        raise Misuse(Code.LOOPS_DO_NOT_FIT, "a loop is named twice")
    for loop in loops:
        check_whole(plan, component, loop)
    bodies = _bodies(plan, component)
    names = [f"{k} jammed" for k in range(len(bodies))]
    for name, body in zip(names, bodies, strict=True):
        plan = plan.named(name, body)
    for name in names:
        plan = _jammed(plan, name, tiles)
    return plan.without(set(names))


def _bodies(plan: Plan, component: Component) -> list[Component]:
    """The component's statements grouped by their innermost loop."""
    found: dict[tuple[int, Position], list[Position]] = {}
    for position in component.positions:
        depth = plan.leaf(position).depth
        found.setdefault((depth, position[:depth]), []).append(position)
    return [Component.of(positions) for positions in found.values()]


def _jammed(plan: Plan, name: str, tiles: Sequence[SizedLoop]) -> Plan:
    """Transform one body: strips in place of the loops, with the copies innermost."""
    component = plan.components[name]
    loops = plan.leaf(component.first).loops
    depth = len(loops)
    sizes = {one.loop: one.size for one in tiles}
    x = iterators(depth)
    outputs = [tile_number(value, sizes[k]) if k in sizes else value for k, value in enumerate(x)]
    outputs += [x[one.loop] for one in tiles]
    strips: list[str | None] = [f"{loops[k]}T" if k in sizes else None for k in range(depth)]
    plan = affine(plan, component, function(outputs, [*strips, *(None,) * len(tiles)]))
    inside = plan.components[name]
    copies = tuple(range(depth, depth + len(tiles)))
    plan = plan.directed(DirectiveKind.ISOLATE, inside, depth - 1, points=copies)
    for loop, one in zip(copies, tiles, strict=True):
        plan = plan.directed(DirectiveKind.UNROLL, inside, loop, factor=one.size)
    return plan


def _distance(one: isl.Set, other: isl.Set, loop: int) -> isl.Set:
    """{ [b - a] : (o, a) in one, (o, b) in other } for the values of the outer loops o."""
    pairs = equal_in(isl.Map.from_domain_and_range(one, other), range(loop))
    return without_parameters(beyond(pairs.deltas(), DIM, loop))
