"""Completes fast scripts: vectors along innermost loops, and longer rows.

vectorize(S, j)   if a compiler cannot prove that iterations are independent, or tests it at run time
pad(x, 8)         if rows of a temporary are a power of two apart and conflict in few sets of a cache
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.model.program import Array
from loopwright.optimise.candidates.judging import COSTLY, Estimated, Judge
from loopwright.optimise.candidates.nests import SearchContext
from loopwright.optimise.model.cost import element_bytes
from loopwright.optimise.model.sizes import value_of
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.operations import Pad, Vectorize
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import handle_at
from loopwright.transform.vectors import Position

SMALL = 0.001
"""The slowdown by explicit vectors that is tolerated in estimates."""

MEETING = 2048
"""Rows of a multiple of so many bytes conflict: in a first-level cache of 64 sets they share two lines."""


def finished(judge: Judge, one: Estimated) -> Iterator[Estimated]:
    """The script with vectors, and with longer rows of temporaries, where these are legal."""
    vectors = in_vectors(judge, one, one.origin, only_shared=False)
    if vectors.script != one.script:
        yield vectors
    for step in paddings(one.plan, judge.setting):
        longer = None if judge.is_over() else judge.estimated((*one.script, step), one.origin)
        if longer is not None:
            yield longer


def paddings(plan: Plan, setting: SearchContext) -> list[Step]:
    """Lengthen the rows of matrices that are not live-out by a line, if rows conflict in a cache."""
    return [
        Step(Pad(array.name, setting.machine.line // element_bytes(array.element_type)))
        for array in rows_that_meet(plan, setting)
        if plan.program.is_dead_after(array)
    ]


def rows_that_meet(plan: Plan, setting: SearchContext) -> Iterator[Array]:
    """The matrices whose rows map to the same cache sets."""
    sizes = tuple(f"{name}={value}" for name, value in setting.sizes.items())
    for array in plan.program.arrays:
        row = value_of(array.extents[-1], plan.original, sizes) if len(array.extents) > 1 else None
        if row and row * element_bytes(array.element_type) % MEETING == 0:
            yield array


def in_vectors(judge: Judge, one: Estimated, origin: str, *, only_shared: bool) -> Estimated:
    """Add vectors along innermost loops, of all statements or of those that threads share, where legal.

    Threads share pointers that compilers must assume to alias.
    """
    steps = [
        Step(Vectorize(handle, (loop,)))
        for place in (leaf.position for leaf in one.plan.leaves)
        if (only_shared or one.cost_of(Component.of([place])) > COSTLY * one.total)
        and (handle := handle_at(one.plan, place)) is not None
        and (loop := _innermost(one.plan, place, only_shared=only_shared)) is not None
    ]
    every = judge.estimated((*one.script, *steps), origin) if steps else one
    if every is not None and every.total < (1 + SMALL) * one.total:
        return every
    now = one
    for step in steps:
        after = None if judge.is_over() else judge.estimated((*now.script, step), origin)
        now = now if after is None or after.total > (1 + SMALL) * now.total else after
    return now


def _innermost(plan: Plan, place: Position, *, only_shared: bool) -> str | None:
    """The innermost loop that is not unrolled; None if it is parallel or vectorised already."""
    mine = [one for one in plan.directives if place in one.positions]
    if only_shared and not any(one.kind is DirectiveKind.PARALLEL for one in mine):
        return None
    loops = plan.leaf(place).loops
    written_out = [one.loop for one in mine if one.kind is DirectiveKind.UNROLL]
    left = [k for k in range(len(loops)) if k not in written_out]
    marked = [one.loop for one in mine if one.kind in (DirectiveKind.PARALLEL, DirectiveKind.VECTORIZE)]
    return None if not left or left[-1] in marked else loops[left[-1]]
