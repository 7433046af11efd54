"""Applies each directive to its loops [OpenMP2024, sections 11.2 to 11.9].

This includes directives that split a loop or fuse several [OpenMP2024, sections 11.3 and 11.6].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from loopwright.c.macros import integer_text
from loopwright.c.openmp import OpenmpDirective, integer
from loopwright.read.formula import Chain, Formula, Numeral, Symbol
from loopwright.read.formula_grammar import parse_expressions
from loopwright.source import Source, Span
from loopwright.transform.openmp.generated import (
    DirectedPlan,
    Generated,
    LoopNest,
    LoopSequence,
    Made,
    affected,
    applied_loops,
    check_clauses,
    needed,
    refused,
    sizes_of,
)
from loopwright.transform.openmp.loops import (
    ZERO,
    CountedLoop,
    floor,
    least,
    minus,
    most,
    negative,
    plus,
    remainder,
    substituted,
    times,
)
from loopwright.transform.script import operations as ops
from loopwright.transform.script.formulas import AffineSet

FILL = "omp_fill"


def split(state: DirectedPlan, directive: OpenmpDirective, nest: LoopNest) -> Made:
    """Split off loops of c_k consecutive iterations each, and one of the remaining iterations."""
    clause = needed(directive, "counts")
    counts = [None if one.text.strip() == FILL else _amount(state, one) for one in clause.arguments]
    if counts.count(None) != 1:
        raise refused(clause.place, f"exactly one of the counts must be {FILL}")
    (loop,) = affected(directive, nest, 1)
    pieces: list[LoopNest] = []
    rest = nest
    begins = _begins(loop, counts)
    for k, begin in enumerate(begins):
        piece = rest
        if k + 1 < len(begins):
            names = state.dimensions(nest, 1)
            test = Chain(((loop.number,), (begins[k + 1],)), ("<",))
            condition = AffineSet(tuple(map(Symbol, names)), substituted(test, nest.values))
            first, second = state.fresh_handles("part", 2)
            operation = ops.Isplit(rest.handle, condition, nest.depth)
            state = state.bind(directive, (first, second), operation)
            piece, rest = replace(rest, handle=first), replace(rest, handle=second)
        count = counts[k]
        if count is None:
            total = loop.count
            later = [one for one in counts if one is not None]
            count = None if total is None else most(ZERO, minus(total, _sum(later)))
        own = replace(loop, start=plus(loop.known_start, times(loop.step, begin)), count=count)
        pieces.append(replace(piece, loops=(own, *nest.loops[1:])))
    return Made(state, LoopSequence(tuple(pieces)), {"split": range(len(pieces))})


def _begins(loop: CountedLoop, counts: Sequence[Formula | None]) -> list[Formula]:
    """The number of the first iteration of each part; those after the fill are counted from the end."""
    fill = counts.index(None)
    before = [one for one in counts[:fill] if one is not None]
    found = [_sum(before[:k]) for k in range(fill + 1)]
    for k in range(fill + 1, len(counts)):
        after = _sum([one for one in counts[k:] if one is not None])
        found.append(most(_sum(before), minus(loop.known_count, after)))
    return found


def _sum(formulas: Sequence[Formula]) -> Formula:
    total: Formula = ZERO
    for one in formulas:
        total = plus(total, one)
    return total


def _amount(state: DirectedPlan, argument: Span) -> Formula:
    """A count: a constant or an affine expression of parameters, which must not be negative."""
    text = argument.text.strip()
    if text.isidentifier() and text not in state.plan.program.params:
        return Numeral(integer(argument))
    if (integer_text(text) or 0) < 0:
        raise refused(argument, f"'{text}' must not be negative")
    if "\\" in argument.text or "/" in argument.text:
        raise refused(argument, f"'{text}' must be a sum of parameters with constant factors")
    shown = Source(argument.source.path, argument.source.text)
    (formula,) = parse_expressions(shown, argument.start, argument.end)
    return formula


def fused(state: DirectedPlan, directive: OpenmpDirective, found: Generated) -> Made:
    """Fuse iterations with equal numbers, in the order of the loops."""
    if isinstance(found, LoopNest):
        raise refused(directive.place, "'fuse' needs several loops", "put the loops in braces")
    clause = directive.clause("looprange")
    first, count = 1, len(found.nests)
    if clause is not None:
        if len(clause.arguments) != 2:
            raise refused(clause.place, "'looprange' has a first loop and a number of loops")
        first, count = map(integer, clause.arguments)
    if count < 1 or first + count - 1 > len(found.nests):
        place = directive.place if clause is None else clause.place
        raise refused(place, f"there are {len(found.nests)} loops to fuse")
    before, chosen = found.nests[: first - 1], found.nests[first - 1 : first - 1 + count]
    state, nest = _together(state, directive, chosen) if count > 1 else (state, chosen[0])
    after = found.nests[first - 1 + count :]
    left = LoopSequence((*before, nest, *after)) if before or after else nest
    return Made(state, left, {"fused": range(len(before), len(before) + 1)})


def _together(
    state: DirectedPlan, directive: OpenmpDirective, nests: Sequence[LoopNest]
) -> tuple[DirectedPlan, LoopNest]:
    """Renumber all loops as the first one, then fuse them."""
    loop = nests[0].loops[0]
    for nest in nests[1:]:
        other = nest.loops[0]
        wanted = plus(loop.known_start, times(loop.step, other.number))
        if other.dimension == loop.dimension and wanted == other.value:
            continue
        names = state.dimensions(nest, 1)
        outer = tuple(map(Symbol, names[:-1]))
        if other.dimension == loop.dimension:
            new: Formula = substituted(wanted, nest.values)
            state = state.mapped(directive, nest, names, (*outer, new), {})
        else:
            new = Symbol(loop.dimension)
            state = state.mapped(directive, nest, names, (*outer, new), {loop.dimension: wanted})
    depth = nests[0].depth
    handle = state.fresh("fused")
    targets = tuple(nest.handle for nest in nests)
    state = state.bind(directive, (handle,), ops.Fuse(targets, depth + 1))
    counts = [nest.loops[0].count for nest in nests]
    known = [one for one in counts if one is not None]
    count = most(*known) if len(known) == len(counts) else None
    return state, LoopNest(handle, depth, (replace(loop, count=count),), nests[0].values)


PLAIN_FACTOR = 4
"""The unroll factor of `partial` without a number: the implementation chooses."""


def obeyed(
    state: DirectedPlan, directive: OpenmpDirective, found: Generated
) -> tuple[DirectedPlan, Generated]:
    """Return the loops after one directive and the directives it applies to them."""
    check_clauses(directive)
    if directive.name == "fuse":
        made = fused(state, directive, found)
    elif isinstance(found, LoopSequence):
        message = f"'{directive.name}' needs one loop, and there are several after the directives below it"
        raise refused(directive.place, message)
    else:
        made = DIRECTIVES[directive.name](state, directive, found)
    return _with_applied(directive, made)


def _blocks(state: DirectedPlan, directive: OpenmpDirective, nest: LoopNest, *, stripes: bool) -> Made:
    """Grid loops over tiles around loops over the iterations of a tile, or over offsets of stripes around
    loops over every size-th iteration.
    """
    sizes = sizes_of(directive)
    loops = affected(directive, nest, len(sizes))
    names = state.free_names(nest, [f"{one.dimension}{'O' if stripes else 'T'}" for one in loops])
    outer: list[CountedLoop] = []
    inner: list[CountedLoop] = []
    for name, size, loop in zip(names, sizes, loops, strict=True):
        own, block, around, rest = Symbol(name), Numeral(size), None, None
        if loop.count is not None:
            left = minus(loop.count, own if stripes else times(size, own))
            parts = floor(plus(left if stripes else loop.count, Numeral(size - 1)), size)
            some = least(block, loop.count if stripes else left)
            around, rest = (some, parts) if stripes else (parts, some)
        outer.append(CountedLoop(name, own, ZERO, 1, around, loop.place, loop.bounds))
        far, near = loop.step * size, loop.step
        start = plus(loop.known_start, times(near if stripes else far, own))
        bounds, step = loop.bounds | {name}, far if stripes else near
        inner.append(replace(loop, start=start, step=step, count=rest, bounds=bounds))
    number = remainder if stripes else floor
    new = {name: number(loop.number, size) for name, loop, size in zip(names, loops, sizes, strict=True)}
    called = ("offsets", "grid") if stripes else ("grid", "intratile")
    return _doubled(state, directive, nest, new, (outer, inner), called)


def _doubled(
    state: DirectedPlan,
    directive: OpenmpDirective,
    nest: LoopNest,
    new: Mapping[str, Formula],
    loops: tuple[Sequence[CountedLoop], Sequence[CountedLoop]],
    kinds: tuple[str, str],
) -> Made:
    """Put as many `new` loops around the first loops of a nest."""
    outer, inner = loops
    count = len(new)
    state = state.with_loops(directive, nest, count, new)
    values = {**nest.values, **{name: Symbol(name) for name in new}}
    left = replace(nest, loops=(*outer, *inner, *nest.loops[count:]), values=values)
    return Made(state, left, {kinds[0]: range(count), kinds[1]: range(count, 2 * count)})


def _interchange(state: DirectedPlan, directive: OpenmpDirective, nest: LoopNest) -> Made:
    """Loop k of the result is the original loop at place p_k."""
    clause = directive.clause("permutation")
    order = (2, 1) if clause is None else tuple(map(integer, clause.arguments))
    if sorted(order) != list(range(1, len(order) + 1)) or len(order) < 2:
        place = directive.place if clause is None else clause.place
        raise refused(place, "a permutation has each of 1, 2, ... once, and two of them at least")
    loops = affected(directive, nest, len(order))
    permuted = tuple(loops[k - 1] for k in order)
    if permuted != loops:
        names = tuple(one.dimension for one in permuted)
        state = state.perform(directive, ops.Permute(nest.handle, names))
    left = replace(nest, loops=(*permuted, *nest.loops[len(order) :]))
    return Made(state, left, {"interchanged": range(len(order))})


def _reverse(state: DirectedPlan, directive: OpenmpDirective, nest: LoopNest) -> Made:
    (loop,) = affected(directive, nest, 1)
    state = state.perform(directive, ops.Reverse(nest.handle, (loop.dimension,)))
    own = (Symbol(loop.dimension), negative(Symbol(loop.dimension)))
    values = {name: negative(value) if value in own else value for name, value in nest.values.items()}
    left = replace(nest, loops=(loop.reversed(), *nest.loops[1:]), values=values)
    return Made(state, left, {"reversed": range(1)})


def _unroll(state: DirectedPlan, directive: OpenmpDirective, nest: LoopNest) -> Made:
    """Unroll, preserving the order; without a clause unrolling is optional, and no loop is left to name."""
    (loop,) = affected(directive, nest, 1)
    some = directive.clause("partial")
    if directive.clause("full") is not None:
        if some is not None:
            raise refused(directive.place, "'full' and 'partial' exclude each other")
        state = state.perform(directive, ops.Unroll(nest.handle, loop.dimension))
        return Made(state, replace(nest, loops=()), {})
    if some is None:
        return Made(state, replace(nest, loops=()), {})
    factor = integer(some.arguments[0]) if some.arguments else PLAIN_FACTOR
    if factor == 1:
        return Made(state, replace(nest, loops=nest.loops[:1]), {"unrolled": range(1)})
    if loop.start is None:
        state = state.perform(directive, ops.Unroll(nest.handle, loop.dimension, factor))
        return Made(state, replace(nest, loops=()), {})
    state, name = _strips(state, directive, nest, factor)
    count = None if loop.count is None else floor(plus(loop.count, Numeral(factor - 1)), factor)
    strips = CountedLoop(name, Symbol(name), ZERO, 1, count, loop.place, loop.bounds)
    left = replace(nest, loops=(strips,), values={**nest.values, name: Symbol(name)})
    return Made(state, left, {"unrolled": range(1)})


def _strips(
    state: DirectedPlan, directive: OpenmpDirective, nest: LoopNest, factor: int
) -> tuple[DirectedPlan, str]:
    """A loop over [number / factor] around the unrolled iterations.

    `unroll(L, i, factor)` has [i / factor]: the same strips if i counts from 0.
    """
    loop = nest.loops[0]
    if loop.start == ZERO and loop.step == 1:
        state = state.perform(directive, ops.Unroll(nest.handle, loop.dimension, factor))
        return state, state.dimensions(nest, 1)[-1]
    (name,) = state.free_names(nest, [f"{loop.dimension}T"])
    state = state.with_loops(directive, nest, 1, {name: floor(loop.number, factor)})
    full = ops.Isolate(nest.handle, name, (loop.dimension,))
    return state.perform(directive, full, ops.Unroll(nest.handle, loop.dimension)), name


def _nothing(state: DirectedPlan, directive: OpenmpDirective, nest: LoopNest) -> Made:
    return Made(state, nest, {"identity": range(len(nest.loops))})


def _shared(state: DirectedPlan, directive: OpenmpDirective, nest: LoopNest) -> Made:
    """Let the iterations of the first loops run in parallel, or in the lanes of a vector."""
    clause = directive.clause("collapse")
    count = 1 if clause is None or not clause.arguments else integer(clause.arguments[0])
    loops = affected(directive, nest, count)
    names = tuple(one.dimension for one in loops)
    if directive.name.startswith(("parallel", "for")):
        state = state.perform(directive, ops.Parallelize(nest.handle, names))
    if directive.name.endswith("simd"):
        state = state.perform(directive, ops.Vectorize(nest.handle, names))
    length = directive.clause("safelen")
    if directive.name == "simd" and length is not None:
        if count > 1:
            raise refused(length.place, "'safelen' of several loops is not understood")
        distance = integer(length.arguments[0]) * abs(loops[0].step)
        state = replace(state, distances={**state.distances, directive.place: distance})
    return Made(state, replace(nest, loops=()), {})


DIRECTIVES: Mapping[str, Callable[[DirectedPlan, OpenmpDirective, LoopNest], Made]] = {
    "tile": partial(_blocks, stripes=False),
    "stripe": partial(_blocks, stripes=True),
    "interchange": _interchange,
    "reverse": _reverse,
    "unroll": _unroll,
    "split": split,
    "nothing": _nothing,
    "parallel for simd": _shared,
    "parallel for": _shared,
    "for simd": _shared,
    "for": _shared,
    "simd": _shared,
}


def _with_applied(directive: OpenmpDirective, made: Made) -> tuple[DirectedPlan, Generated]:
    """The directives of `apply`, innermost loops first."""
    wanted: dict[int, OpenmpDirective] = {}
    for clause in directive.applied:
        for place, one in applied_loops(directive, clause, made.kinds):
            if place in wanted:
                raise refused(clause.place, "two directives are applied to one loop")
            wanted[place] = one
    state, left = made.state, made.left
    for place in sorted(wanted, reverse=True):
        one = wanted[place]
        if one.name == "nothing" and not one.applied:
            continue
        if isinstance(left, LoopSequence):
            state, part = obeyed(state, one, left.nests[place])
            parts = part.nests if isinstance(part, LoopSequence) else (part,)
            left = LoopSequence((*left.nests[:place], *parts, *left.nests[place + 1 :]))
            continue
        inner = replace(left, depth=left.depth + place, loops=left.loops[place:])
        state, part = obeyed(state, one, inner)
        more = part.loops if isinstance(part, LoopNest) else ()
        values = part.values if isinstance(part, LoopNest) else left.values
        left = replace(left, loops=(*left.loops[:place], *more), values=values)
    return state, left
