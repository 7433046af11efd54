"""What may make a nest faster, as steps to add to its script; legality is checked by the caller.

The moves come in phases, each of which works on what the one before left:

    exchanged  two loops of a nest that is not perfect
    orders     another order of the loops of one that is
    tiles      parts that stay in a cache, skewed where dependences ask for it
    registers  iterations of outer loops written out inside the innermost one, remainders split off
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import islpy as isl

from loopwright.model.dependences import Dependence
from loopwright.optimise.blocks import whole_blocks
from loopwright.optimise.machine import Machine
from loopwright.optimise.scheduler import formula_of, one_function
from loopwright.presburger.dimensions import only
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM, IN, OUT
from loopwright.read.formula import Chain, Formula, Name
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.plan import Plan
from loopwright.transform.script.arguments import NAME
from loopwright.transform.script.formulas import AffineSet
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import (
    Interchange,
    Isplit,
    Parallel,
    Permute,
    Skew,
    StripMine,
    Tile,
    UnrollAndJam,
)
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, nests
from loopwright.transform.vectors import iteration_numbers, pieces

Script: TypeAlias = tuple[Step, ...]

REGISTER_BLOCKS = ((8, 4), (4, 4), (4, 2))
"""How many iterations of two loops are written out, the outer one first."""

SLANTED = (6, 4)
"""How many of one loop, where each waits for the one before."""

REGISTER_ROWS = (8, 4)
"""How many of one loop."""

STRIPS = (64, 16)
"""How many iterations of an outer loop go together through the loop inside it."""

MOST = 6
"""A nest with more statements than this is not tiled with a skew."""

WIDTH, SQUARE = 256, 32
"""The sizes of tiles along the innermost loop, and of those that are the same in all loops."""

ELEMENT = 8
"""Bytes of the elements tiles are made for."""


@dataclass(frozen=True)
class Setting:
    """What moves are made for: the region as written, the machine, the sizes, and the dependences."""

    start: Plan
    machine: Machine
    sizes: Mapping[str, int]
    dependences: tuple[Dependence, ...]


Phase: TypeAlias = Callable[[Plan, NamedNest, Setting], Iterator[Script]]
"""From a plan and a nest of it to other scripts of the whole region."""


def is_perfect(plan: Plan, nest: NamedNest) -> bool:
    """Whether all statements of the nest stand in its innermost loop."""
    return all(plan.leaf(position).depth == len(nest.loops) for position in nest.component.positions)


def orders(plan: Plan, nest: NamedNest, setting: Setting) -> Iterator[Script]:
    """One loop of a perfect nest in another place; loops it shares with other statements stay."""
    if not is_perfect(plan, nest):
        return
    free = own_loops(plan, nest)
    found = dict.fromkeys(
        (*rest[:place], loop, *rest[place:])
        for loop in reversed(free)
        for rest in [tuple(one for one in free if one != loop)]
        for place in range(len(free))
    )
    for order in found:
        if order != free:
            yield (*script_of(plan), *nest.definition, Step(Permute(nest.handle, order)))


def own_loops(plan: Plan, nest: NamedNest) -> tuple[str, ...]:
    """The loops that nothing else stands in, without those over tiles."""
    alone = [name for k, name in enumerate(nest.loops) if not plan.sharing(nest.component, k).positions]
    return tuple(name for name in alone if not is_over_tiles(name))


def is_over_tiles(loop: str) -> bool:
    """A loop over tiles of i is called iT (docs/operations)."""
    return loop.endswith("T")


def script_of(plan: Plan) -> Script:
    return tuple(one.step for one in plan.history)


def exchanged(plan: Plan, nest: NamedNest, setting: Setting) -> Iterator[Script]:
    """Interchanges in a nest that is not perfect."""
    if is_perfect(plan, nest):
        return
    for one, two in combinations(own_loops(plan, nest), 2):
        yield (*script_of(plan), *nest.definition, Step(Interchange(nest.handle, one, two)))


def cuts(plan: Plan, nest: NamedNest, setting: Setting) -> Iterator[Script]:
    """The innermost loop of a single statement in three parts, around a cell that it reads and writes.

    A[i][j] is written and A[i][k] read: before j = k and after it the two do not meet, which a compiler
    has to know for vectors.
    """
    if not is_perfect(plan, nest) or len(nest.component.positions) > 1 or not NAME.fullmatch(nest.handle):
        return
    for meeting in _meetings(plan, nest):
        inputs, inner = tuple(map(Name, nest.loops)), Name(nest.loops[-1])
        common = len(nest.loops) - 1
        rest, after = _fresh(plan, f"{nest.handle}From"), _fresh(plan, f"{nest.handle}After")
        before = Isplit(nest.handle, AffineSet(inputs, Chain(((inner,), (meeting,)), ("<",))), common)
        there = Isplit(rest, AffineSet(inputs, Chain(((inner,), (meeting,)), ("=",))), common)
        first, second = Step(before, (nest.handle, rest)), Step(there, (rest, after))
        yield (*script_of(plan), *nest.definition, first, second)


def _meetings(plan: Plan, nest: NamedNest) -> Iterator[Formula]:
    """Values of the innermost loop at which a statement writes the column it reads in all iterations."""
    (name,) = plan.statements_at(nest.component)
    statement = plan.program.statement(name)
    ((_, piece),) = pieces(statement.schedule)[:1]
    loops = iteration_numbers(piece, len(nest.loops)).reverse()
    rows = [
        (one, one_function(only(loops.apply_range(one.relation), OUT, one.relation.dim(OUT) - 1)))
        for one in statement.accesses
        if one.relation.dim(OUT) > 1
    ]
    last = len(nest.loops) - 1
    found: dict[str, Formula] = {}
    for write, along in rows:
        for read, still in rows:
            if (
                not write.is_write
                or read.is_write
                or read.array != write.array
                or along is None
                or still is None
            ):
                continue
            if along.get_coefficient_val(IN, last).is_one() and still.get_coefficient_val(IN, last).is_zero():
                meeting = still.sub(along.set_coefficient_val(IN, last, isl.Val(0)))
                if _is_inside(plan, nest, meeting):
                    value = formula_of(meeting, nest.loops)
                    found[str(value)] = value
    yield from found.values()


def _is_inside(plan: Plan, nest: NamedNest, meeting: isl.Aff) -> bool:
    """Whether the innermost loop has iterations before the meeting, and others after it."""
    (points,) = plan.iterations(nest.component, len(nest.loops))[:1]
    inner = isl.Aff.var_on_domain(meeting.get_domain_local_space(), DIM, len(nest.loops) - 1)
    return not any(
        points.intersect(side).is_empty() for side in (inner.lt_set(meeting), inner.gt_set(meeting))
    )


def cache_tiles(plan: Plan, nest: NamedNest, setting: Setting) -> Iterator[Script]:
    """Tiles for the first and the second cache: of the two innermost loops, and of all that can be."""
    own = own_loops(plan, nest)
    if is_tiled(nest):
        return
    if is_perfect(plan, nest) and len(own) >= 2:
        yield from ((*script_of(plan), *tiles) for tiles in _flat_tiles(nest, own, setting.machine))
    if not is_perfect(plan, nest) or _goes_backwards(plan, nest, setting.dependences):
        yield from ((*script_of(plan), *tiles) for tiles in _skewed_tiles(plan, nest))
    if not is_perfect(plan, nest) and len(nest.loops) > 1:
        yield from ((*script_of(plan), *strips) for strips in _strips(nest))


def _goes_backwards(plan: Plan, nest: NamedNest, dependences: Sequence[Dependence]) -> bool:
    """Whether a dependence inside a perfect nest goes backwards along one of its loops."""
    depth = len(nest.loops)
    numbers = {
        one.name: iteration_numbers(piece, depth)
        for one in plan.program.statements
        for position, piece in pieces(one.schedule)
        if position in nest.component.positions
    }
    for one in dependences:
        if one.source in numbers and one.sink in numbers:
            pairs = one.relation.apply_domain(numbers[one.source]).apply_range(numbers[one.sink])
            apart = without_parameters(pairs.intersect_params(plan.program.context).deltas())
            if any(not apart.is_empty() and not _is_positive(apart, k) for k in range(depth)):
                return True
    return False


def _is_positive(apart: isl.Set, dimension: int) -> bool:
    least = apart.dim_min_val(dimension)
    return bool(least.is_int()) and bool(least.is_nonneg())


def _flat_tiles(nest: NamedNest, loops: Sequence[str], machine: Machine) -> Iterator[Script]:
    """A block of the two innermost loops stays in a cache while the loops around pass over it."""
    *around, outer, inner = loops
    for cache in machine.caches[:2]:
        height = min(512, cache.size // ELEMENT // 8 // WIDTH // 8 * 8)
        if height >= 8:
            tile = Step(Tile(nest.handle, (LoopNumber(WIDTH, inner), LoopNumber(height, outer))))
            order = (f"{inner}T", f"{outer}T", *around)
            moved = (Step(Permute(nest.handle, order)),) if around else ()
            yield (*nest.definition, tile, *moved)
    square = tuple(LoopNumber(SQUARE, one) for one in loops)
    yield (*nest.definition, Step(Tile(nest.handle, square)))


def _strips(nest: NamedNest) -> Iterator[Script]:
    """Some iterations of the first loop at a time, inside the second one."""
    first, second = nest.loops[:2]
    for size in STRIPS:
        order = Permute(nest.handle, (second, first))
        yield (*nest.definition, Step(StripMine(nest.handle, first, size)), Step(order))


def _skewed_tiles(plan: Plan, nest: NamedNest) -> Iterator[Script]:
    """Time steps on a part that stays in a cache: all loops, or all but the innermost, which stays whole."""
    deepest = max((plan.leaf(position).loops for position in nest.component.positions), key=len)
    if len(nest.component.positions) > MOST:
        return
    shapes: dict[int, tuple[tuple[int, ...], ...]] = {
        2: ((100, 1000), (32, 512), (16, 4096)),
        3: ((16, 16, 64), (8, 32, 128), (16, 32, 256)),
        4: ((8, 8, 8, 128), (4, 16, 16, 256)),
    }
    for shape in shapes.get(len(deepest), ()):
        sizes = tuple(map(LoopNumber, shape))
        yield (*nest.definition, Step(Tile(nest.handle, sizes, skew=True)))
    if len(deepest) > 2:
        for size in (20, 8, 40):
            rows = tuple(LoopNumber(size, one) for one in deepest[:-1])
            yield (*nest.definition, Step(Tile(nest.handle, rows, skew=True)))


def registers(plan: Plan, nest: NamedNest, setting: Setting) -> Iterator[Script]:
    """Iterations of the loops around the innermost one, written out in it; what fills no block, apart."""
    deepest = max(plan.leaf(position).depth for position in nest.component.positions)
    own = own_loops(plan, nest)
    outer = [name for name in nest.loops[: deepest - 1] if name in own]
    if not outer:
        return
    if is_perfect(plan, nest) and not is_tiled(nest) and _goes_backwards(plan, nest, setting.dependences):
        yield from ((*script_of(plan), *steps) for steps in _slanted(nest, outer[-1]))
    before, after = _at_tiles(script_of(plan), nest.handle)
    untiled = setting.start.perform(*before)
    for factors in _factors(outer):
        split = _split(untiled, nest, factors)
        yield (*before, *split, *after, *nest.definition, Step(UnrollAndJam(nest.handle, factors)))


def _slanted(nest: NamedNest, outer: str) -> Iterator[Script]:
    """Rows that wait for the one above, written out together, each some points later than that."""
    for slope in (1, 2):
        for rows in SLANTED:
            skew = Skew(nest.handle, nest.loops[-1], outer, slope)
            jam = UnrollAndJam(nest.handle, (LoopNumber(rows, outer),))
            yield (*nest.definition, Step(skew), Step(jam))


def _at_tiles(script: Script, handle: str) -> tuple[Script, Script]:
    """The script before the nest is tiled, and the rest of it."""
    for k, step in enumerate(script):
        match step.operation:
            case Tile(target=target) if target == handle:
                return script[:k], script[k:]
            case _:
                pass
    return script, ()


def _factors(outer: Sequence[str]) -> Iterator[tuple[LoopNumber, ...]]:
    """For each of the two innermost of the outer loops, and for both."""
    if len(outer) > 1:
        for block in REGISTER_BLOCKS:
            yield tuple(LoopNumber(factor, loop) for factor, loop in zip(block, outer[-2:], strict=True))
    for factor in REGISTER_ROWS:
        yield from ((LoopNumber(factor, loop),) for loop in outer[-2:])


def _split(plan: Plan, nest: NamedNest, factors: Sequence[LoopNumber]) -> Script:
    """The whole blocks of a single statement, before the others; nothing where all are whole."""
    component = plan.components.get(nest.handle)
    if component is None or len(component.positions) > 1 or len(nest.component.positions) > 1:
        return ()
    if not NAME.fullmatch(nest.handle):
        return ()
    loops = plan.leaf(component.first).loops
    blocks = {one.loop: one.number for one in factors if one.loop is not None and one.loop in loops}
    condition = whole_blocks(plan, component, blocks)
    if condition is None:
        return ()
    alone = 0 if is_tiled(nest) else min(loops.index(one) for one in blocks)
    rest = _fresh(plan, f"{nest.handle}Rest")
    return (Step(Isplit(nest.handle, condition, alone), (nest.handle, rest)),)


def is_tiled(nest: NamedNest) -> bool:
    return any(map(is_over_tiles, nest.loops))


def _fresh(plan: Plan, name: str) -> str:
    found = name
    while found in plan.components:
        found += "_"
    return found


def parallel(plan: Plan, nest: NamedNest, setting: Setting) -> Iterator[Script]:
    """The outermost loop that can be, among threads; else diagonals of the two outermost loops."""
    done = (*script_of(plan), *nest.definition)
    for loop in nest.loops:
        yield (*done, Step(Parallel(nest.handle, (loop,))))
    if len(nest.loops) > 1:
        outer, inner = nest.loops[:2]
        slant, exchange = Skew(nest.handle, inner, outer), Interchange(nest.handle, outer, inner)
        yield (*done, Step(slant), Step(exchange), Step(Parallel(nest.handle, (outer,))))


ORDERING: tuple[Phase, ...] = (exchanged, orders)
BLOCKING: tuple[Phase, ...] = (cuts, cache_tiles, registers)
PHASES: tuple[Phase, ...] = (*ORDERING, *BLOCKING)


def is_written_out(plan: Plan, nest: NamedNest) -> bool:
    """Whether iterations of a statement of the nest are written out already."""
    inside = set(nest.component.positions)
    return any(one.kind is DirectiveKind.UNROLL and inside & set(one.positions) for one in plan.directives)


def targets(plan: Plan) -> list[NamedNest]:
    """The nests that moves are for, those around others first, under names that a step can bind again."""
    found = sorted(nests(plan), key=lambda one: (-len(one.component.positions), one.component.first))
    return [replace(one, handle=_name(plan, one)) for one in found]


def _name(plan: Plan, nest: NamedNest) -> str:
    """A label or a statement's name rather than a line, where the nest has one."""
    known = (name for name, component in plan.components.items() if component == nest.component)
    return next((name for name in known if NAME.fullmatch(name)), nest.handle)
