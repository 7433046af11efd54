"""Blocks iterations: cache tiles, register tiles, and separate loops for the remainder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from loopwright.optimise.candidates.blocks import Bounds, split_whole, whole_blocks
from loopwright.optimise.candidates.deferred import deferred, panels
from loopwright.optimise.candidates.flight import rows_in_flight
from loopwright.optimise.candidates.nests import (
    Phase,
    Script,
    SearchContext,
    extent,
    goes_backwards,
    in_their_rows,
    is_perfect,
    is_single,
    is_tiled,
    loops_after,
    moves_writes,
    outside,
    own_loops,
    script_of,
)
from loopwright.optimise.candidates.orders import cuts
from loopwright.optimise.candidates.pretests import pretested
from loopwright.optimise.model.machine import Machine
from loopwright.optimise.model.touches import COPIES
from loopwright.transform.perform import performed
from loopwright.transform.plan import Plan
from loopwright.transform.script import operations
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, fresh

REGISTER_BLOCKS = ((8, 4), (4, 4), (4, 2))
"""The unroll factors of two loops, the outer one first; the first block is the usual one."""

SLANTED = (6, 4)
"""The unroll factors of one loop whose iterations depend on the previous one."""

REGISTER_ROWS = (8, 4)
"""The unroll factors of one loop."""

STRIPS = (64, 16)
"""The unroll-and-jam factors of an outer loop."""

MOST = 6
"""A nest with more statements than this is not tiled with a skew, or in hexagons."""

ROWS = {3: ((20, 20), (8, 8), (40, 40)), 4: ((8, 16, 32), (20, 20, 20), (8, 8, 8), (8, 8, 160))}
"""Sizes of skewed tiles with whole rows, by the number of loops."""

SHORT = 7
"""The largest trip count for complete unrolling."""

TAPPED = ((2, 2), (4, 2), (4, 1), (1, 4), (1, 1))
"""The unroll factors of two loops around completely unrolled ones."""

WIDTH, SQUARE = 256, 32
"""The tile sizes along the innermost loop, and those of tiles with equal sides."""

ELEMENT = 8
"""The element size in bytes that tiles are designed for."""


def blocked(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Scripts for a perfect nest of one statement: full register blocks separate, in cache tiles,
    unrolled."""
    own = own_loops(plan, nest)
    if not is_perfect(plan, nest) or not is_single(nest) or len(own) < 2 or is_tiled(plan, nest):
        return
    done = script_of(plan)
    tiles = list(_flat_tiles(plan, nest, own, setting.machine))
    outer = outside(plan, nest, own, setting)
    if not moves_writes(plan, nest.component, nest.loops.index(own[-1])):
        yield from _sums_together(plan, nest, outer)
    for number, factors in enumerate(_blocks(outer)):
        split, jam = split_whole(plan, nest, factors), Step(operations.UnrollAndJam(nest.handle, factors))
        split = (*split, *_by_the_diagonal(plan, nest, factors, split))
        yield from ((*done, *split, *tile, jam) for tile in (tiles if number == 0 else tiles[-2:-1]))
        if own[0] == factors[0].loop:
            yield from ((*done, *steps) for steps in _near_and_far(plan, nest, factors))
        if number == 0:
            yield (*done, *split, jam)


def _sums_together(plan: Plan, nest: NamedNest, outer: Sequence[str]) -> Iterator[Script]:
    """For sums over several loops: unroll the two innermost other loops, whose iterations have separate sums.

    Unrolling the loops of the sum would change the order of its terms.
    """
    writing = [loop for loop in outer if moves_writes(plan, nest.component, nest.loops.index(loop))]
    if writing and writing[-2:] != list(outer[-2:]):
        for factors in (*_blocks(writing), *((LoopNumber(n, writing[-1]),) for n in REGISTER_ROWS)):
            split = split_whole(plan, nest, factors)
            yield (*script_of(plan), *split, Step(operations.UnrollAndJam(nest.handle, factors)))


def partly_blocked(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """For a nest that is not blocked yet: unrolled rows, or only tiles."""
    own = own_loops(plan, nest)
    if not is_perfect(plan, nest) or not is_single(nest) or len(own) < 2 or is_tiled(plan, nest):
        return
    done = script_of(plan)
    for factors in _rows(plan, nest, outside(plan, nest, own, setting)):
        yield (*done, *split_whole(plan, nest, factors), Step(operations.UnrollAndJam(nest.handle, factors)))
    yield from ((*done, *tile) for tile in _flat_tiles(plan, nest, own, setting.machine))


def with_short_loops(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """For a nest with short loops, as over the taps of a filter: unroll these, with adjacent rows.

    for y, x, r < 3, s < 3   -->   for y by 2, x:  the 3 x 3 taps of two rows, which share what they load
    """
    own = own_loops(plan, nest)
    if not is_perfect(plan, nest) or not is_single(nest) or is_tiled(plan, nest):
        return
    sizes = {loop: extent(plan, nest, loop, setting.sizes) for loop in own}
    short = [loop for loop in own if 1 < sizes[loop] <= SHORT]
    long = [loop for loop in own if sizes[loop] > SHORT]
    if not short or len(long) < 2:
        return
    wanted = (*long[:-1], *short, long[-1])
    order = () if wanted == own else (Step(operations.Permute(nest.handle, wanted)),)
    if loops_after(plan, nest, *nest.definition, *order) is None:
        return
    rows = [loop for loop in long[:-1] if moves_writes(plan, nest.component, nest.loops.index(loop))][-2:]
    for taps, numbers in product(dict.fromkeys((tuple(short), tuple(short[-1:]))), TAPPED):
        together = tuple(map(LoopNumber, numbers[-len(rows) :], rows))
        written = tuple(LoopNumber(sizes[loop], loop) for loop in taps)
        factors = tuple(one for one in (*together, *written) if one.number > 1)
        if prod(one.number for one in factors) <= COPIES:
            defined = performed(plan, *nest.definition, *order)
            jam = Step(operations.UnrollAndJam(nest.handle, factors))
            whole = split_whole(defined, nest, [one for one in together if one.number > 1])
            yield (*script_of(plan), *nest.definition, *order, *whole, jam)


def _near_and_far(plan: Plan, nest: NamedNest, factors: tuple[LoopNumber, ...]) -> Iterator[Script]:
    """Strips of the first loop, each with the iterations near the diagonal separate from the whole blocks.

    for k > i:  near: k in the strip of i, first;  far: whole blocks;  the rest after them
    """
    outer = factors[0]
    assert outer.loop is not None
    strip = Step(operations.StripMine(nest.handle, outer.loop, outer.number))
    loops = loops_after(plan, nest, strip)
    if loops is None:
        return
    stripped = performed(plan, strip)
    component = stripped.component(nest.handle)
    common = loops.index(outer.loop)
    sizes = {one.loop: one.number for one in factors if one.loop is not None}
    diagonal = whole_blocks(stripped, component, sizes, Bounds.LOOPS)
    if diagonal is None:
        return
    near, rest = fresh(plan, f"{nest.handle}Near"), fresh(plan, f"{nest.handle}Rest")
    apart = Step(operations.Isplit(nest.handle, diagonal, common), (nest.handle, near))
    ends = whole_blocks(stripped, component, sizes, Bounds.PARAMETERS)
    whole = () if ends is None else (Step(operations.Isplit(nest.handle, ends, common), (nest.handle, rest)),)
    jam = Step(operations.UnrollAndJam(nest.handle, factors))
    yield (strip, apart, Step(operations.Reorder(nest.handle, near)), *whole, jam)
    yield (strip, apart, *whole, jam)


def _by_the_diagonal(plan: Plan, nest: NamedNest, factors: tuple[LoopNumber, ...], split: Script) -> Script:
    """The remainder of whole blocks along a diagonal, unrolled by the loops that it does not bound.

    There innermost loops are short: entering them once for several iterations of another loop costs less.
    """
    component = plan.component(nest.handle)
    sizes = {one.loop: one.number for one in factors if one.loop is not None}
    free = {
        loop: number
        for loop, number in sizes.items()
        if whole_blocks(plan, component, {loop: number}, Bounds.LOOPS) is None
    }
    whole = whole_blocks(plan, component, free) if free else None
    if len(free) == len(sizes) or whole is None:
        return ()
    match split:
        case (Step(operation=operations.Isplit(common=common), binds=(_, rest)),):
            near = fresh(plan, f"{nest.handle}Near")
            apart = Step(operations.Isplit(rest, whole, common), (near, rest))
            rows = tuple(LoopNumber(number, loop) for loop, number in free.items())
            return apart, Step(operations.UnrollAndJam(near, rows))
        case _:
            return ()


def cache_tiles(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Tiles for a nest of several statements: of the two innermost loops, skewed, or strips of the first."""
    own = own_loops(plan, nest)
    if is_tiled(plan, nest):
        return
    if is_perfect(plan, nest) and len(own) >= 2 and not is_single(nest):
        for tiles in _flat_tiles(plan, nest, own, setting.machine):
            yield (*script_of(plan), *nest.definition, *tiles)
    if not is_perfect(plan, nest) or goes_backwards(plan, nest, setting.dependences):
        yield from ((*script_of(plan), *tiles) for tiles in _skewed_tiles(plan, nest))
    if not is_perfect(plan, nest) and len(nest.loops) > 1:
        yield from ((*script_of(plan), *strips) for strips in _strips(nest))


def _flat_tiles(plan: Plan, nest: NamedNest, loops: Sequence[str], machine: Machine) -> Iterator[Script]:
    """A block of the two innermost loops stays in a cache while the loops around pass over it."""
    *around, outer, inner = loops
    defined = performed(plan, *nest.definition)
    for cache in machine.caches[:2]:
        height = min(512, cache.size // ELEMENT // 8 // WIDTH // 8 * 8)
        if height >= 8:
            tile = Step(operations.Tile(nest.handle, (LoopNumber(WIDTH, inner), LoopNumber(height, outer))))
            inside = loops_after(defined, nest, tile)
            if inside is None:
                return
            over = [name for name in inside if name not in nest.loops]
            moved = (Step(operations.Permute(nest.handle, (*over, *around))),) if around else ()
            yield (tile, *moved)
    if around or _is_turned(plan, nest, inner):
        yield (Step(operations.Tile(nest.handle, tuple(LoopNumber(SQUARE, one) for one in loops))),)


def _is_turned(plan: Plan, nest: NamedNest, inner: str) -> bool:
    """Whether the innermost loop goes down a column, as in one side of a transposed copy."""
    smooth, every = in_their_rows(plan, nest.component, nest.loops.index(inner))
    return smooth < every


def _strips(nest: NamedNest) -> Iterator[Script]:
    """Some iterations of the first loop at a time, inside the second one."""
    first, second = nest.loops[:2]
    for size in STRIPS:
        order = operations.Permute(nest.handle, (second, first))
        yield (*nest.definition, Step(operations.StripMine(nest.handle, first, size)), Step(order))


def _skewed_tiles(plan: Plan, nest: NamedNest) -> Iterator[Script]:
    """Several time steps on a part that stays in a cache: tiles of all loops, or all but the innermost.

    The existence of a skew does not depend on the sizes, and is tested once.
    """
    deepest = max((plan.leaf(position).loops for position in nest.component.positions), key=len)
    if len(nest.component.positions) > MOST:
        return
    shapes: dict[int, tuple[tuple[int, ...], ...]] = {
        2: ((100, 1000), (32, 512), (16, 4096)),
        3: ((16, 16, 64), (8, 32, 128), (16, 32, 256)),
        4: ((8, 8, 8, 128), (4, 16, 16, 256)),
    }
    known = shapes.get(len(deepest), ())
    whole = [operations.Tile(nest.handle, tuple(map(LoopNumber, shape)), skew=True) for shape in known]
    rows = [
        operations.Tile(nest.handle, tuple(map(LoopNumber, shape, deepest)), skew=True)
        for shape in ROWS.get(len(deepest), ())
    ]
    defined = performed(plan, *nest.definition)
    for tiles in (whole, rows):
        if tiles and loops_after(defined, nest, Step(tiles[0])) is not None:
            yield from ((*nest.definition, Step(one)) for one in tiles)


def registers(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Unroll-and-jam of the loops around the innermost one of several statements."""
    deepest = max(plan.leaf(position).depth for position in nest.component.positions)
    own = own_loops(plan, nest)
    outer = [name for name in nest.loops[: deepest - 1] if name in own]
    if not outer:
        return
    if is_perfect(plan, nest) and is_single(nest) and not is_tiled(plan, nest):
        return
    if is_tiled(plan, nest) and len(own) > 2:  # many loops with many guards, which take long to generate
        return
    for factors in (*_blocks(outer), *_rows(plan, nest, outer)):
        yield (*script_of(plan), *nest.definition, Step(operations.UnrollAndJam(nest.handle, factors)))


def slanted(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Unroll rows that depend on the one above, each delayed by some points."""
    outer = [name for name in nest.loops[:-1] if name in own_loops(plan, nest)]
    if not outer or not is_perfect(plan, nest) or is_tiled(plan, nest):
        return
    if goes_backwards(plan, nest, setting.dependences):
        for slope, rows in product((1, 2), SLANTED):
            skew = operations.Skew(nest.handle, nest.loops[-1], outer[-1], slope)
            jam = operations.UnrollAndJam(nest.handle, (LoopNumber(rows, outer[-1]),))
            yield (*script_of(plan), *nest.definition, Step(skew), Step(jam))


def _blocks(outer: Sequence[str]) -> Iterator[tuple[LoopNumber, ...]]:
    """For the two innermost of the outer loops."""
    if len(outer) > 1:
        for block in REGISTER_BLOCKS:
            yield tuple(LoopNumber(factor, loop) for factor, loop in zip(block, outer[-2:], strict=True))


def _rows(plan: Plan, nest: NamedNest, outer: Sequence[str]) -> Iterator[tuple[LoopNumber, ...]]:
    """For one of these: of the two innermost ones, or of two others that move what is written.

    Iterations of the other loops add to cells of their own: their latencies overlap, and they share loads.
    """
    writing = [loop for loop in outer[:-2] if moves_writes(plan, nest.component, nest.loops.index(loop))]
    for factor in REGISTER_ROWS:
        yield from ((LoopNumber(factor, loop),) for loop in (*outer[-2:], *writing[:-3:-1]))


TIMED = {2: ((64, 1024), (32, 256)), 3: ((8, 32), (16, 16)), 4: ((4, 8),)}
"""Steps, and rows or cells of the first of them, by the number of loops; inner loops stay whole."""


def hexagons(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """Tiles of time steps that grow and then shrink: those of a phase are independent, so threads share them.

    for t:  S over i;  R over i   -->   for tT:  for iT: tiles of the first phase;  for iT: of the second

    This applies to a loop over steps around several nests over the same loops, if there are several threads.
    For one thread skewed tiles are as good, and quicker to judge.
    """
    if setting.threads == 1:
        return
    loops = [plan.leaf(position).loops for position in nest.component.positions]
    if is_perfect(plan, nest) or is_tiled(plan, nest) or len(nest.loops) != 1 or len(loops) > MOST:
        return
    if len(loops[0]) < 2 or any(len(one) != len(loops[0]) or one[1] != loops[0][1] for one in loops):
        return
    handles = fresh(plan, "Early"), fresh(plan, "Late")
    for steps, cells in TIMED.get(len(loops[0]), ()):
        sizes = LoopNumber(steps, loops[0][0]), LoopNumber(cells, loops[0][1])
        tiles = Step(operations.Hexagon(nest.handle, sizes), handles)
        yield (*script_of(plan), *nest.definition, tiles)


BLOCKING: tuple[Phase, ...] = (
    pretested,
    cuts,
    with_short_loops,
    blocked,
    partly_blocked,
    slanted,
    rows_in_flight,
    cache_tiles,
    hexagons,
    panels,
    deferred,
    registers,
)
