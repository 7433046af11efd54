"""Directives that make several loops of one, or one of several [OpenMP2024, sections 11.3 and 11.6]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopwright.c.openmp import OpenmpDirective, integer
from loopwright.read.formula import Chain, Formula, Numeral, Symbol
from loopwright.read.formula_grammar import parse_expressions
from loopwright.source import Source, Span
from loopwright.transform.openmp.clauses import needed, refused
from loopwright.transform.openmp.generated import (
    DirectedPlan,
    Generated,
    LoopNest,
    LoopSequence,
    Made,
    affected,
)
from loopwright.transform.openmp.loops import ZERO, CountedLoop, minus, most, plus, substituted, times
from loopwright.transform.script.formulas import AffineSet
from loopwright.transform.script.operations import Fuse, Isplit

FILL = "omp_fill"


def split(state: DirectedPlan, directive: OpenmpDirective, nest: LoopNest) -> Made:
    """Consecutive iterations as loops of their own: c_k of them, and in one place what is left."""
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
            operation = Isplit(rest.handle, condition, nest.depth)
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
    """A count: a constant, or an affine expression of parameters, which must not be negative."""
    text = argument.text.strip()
    if text.isidentifier() and text not in state.plan.program.params:
        return Numeral(integer(argument))
    if "\\" in argument.text or "/" in argument.text:
        raise refused(argument, f"'{text}' must be a sum of parameters with constant factors")
    shown = Source(argument.source.path, argument.source.text)
    (formula,) = parse_expressions(shown, argument.start, argument.end)
    return formula


def fused(state: DirectedPlan, directive: OpenmpDirective, found: Generated) -> Made:
    """Iterations of equal numbers together, in the order of the loops."""
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
    """All loops counted as the first one is, and then shared."""
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
    state = state.bind(directive, (handle,), Fuse(targets, depth + 1))
    counts = [nest.loops[0].count for nest in nests]
    known = [one for one in counts if one is not None]
    count = most(*known) if len(known) == len(counts) else None
    return state, LoopNest(handle, depth, (replace(loop, count=count),), nests[0].values)
