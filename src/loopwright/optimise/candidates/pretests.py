"""Tests the conditions of blocks of iterations before these, for the place of a maximum and its like.

    for iT:
      for i:   hit |= a[i] > x               vectors
      for i:   if (hit) if (a[i] > x) ...    in few blocks

A block is a strip of the innermost loop, also with full strips separate, or the whole of it inside another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.c.conditions import conditional_statement
from loopwright.optimise.candidates.nests import (
    Script,
    SearchContext,
    extent,
    is_single,
    is_tiled,
    loops_after,
    moves_writes,
    script_of,
)
from loopwright.transform.library.pretesting import declared_inside
from loopwright.transform.plan import Plan
from loopwright.transform.script.operations import Expand, Isolate, Pretest, StripMine
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest, fresh

STRIPS = (64, 128)
"""The numbers of iterations that are tested together."""

ROW = 512
"""The most iterations of a whole inner loop that are tested together: each of its hits costs all of them."""

SELDOM = 0.2
"""The part of the blocks in which a condition holds that is tested before: of an extreme value so far."""


def of_hits(plan: Plan, cycles: Mapping[str, float]) -> dict[str, float]:
    """The cycles of statements if few of the blocks run that are tested before."""
    tested = {name for one in plan.storage for name in one.tests}
    return {name: (SELDOM if name in tested else 1.0) * one for name, one in cycles.items()}


def pretested(plan: Plan, nest: NamedNest, setting: SearchContext) -> Iterator[Script]:
    """A nest of one statement that writes the same cells in all iterations, under a condition."""
    if not is_single(nest) or is_tiled(plan, nest):
        return
    (name,) = plan.statements_at(nest.component)
    found = conditional_statement(plan.program.statement(name).body.place.text)
    inner = len(nest.loops) - 1
    if found is None or moves_writes(plan, nest.component, inner):
        return
    test = fresh(plan, f"{nest.handle}Test")
    hidden = declared_inside(plan.program, plan.program.statement(name), found)
    if hidden and not inner:
        return
    begun = (*script_of(plan), *(Step(Expand(one, nest.loops[-2:-1])) for one in hidden))
    many = extent(plan, nest, nest.loops[inner], setting.sizes)
    if inner and many <= ROW:
        yield (*begun, Step(Pretest(nest.handle, nest.loops[inner - 1]), (test,)))
    for size in STRIPS:
        strips = Step(StripMine(nest.handle, nest.loops[inner], size))
        loops = loops_after(plan, nest, strips)
        if many < 2 * size or loops is None:
            continue
        over, along = loops[-2:]
        tested = (*begun, strips, Step(Pretest(nest.handle, over), (test,)))
        yield tested
        yield (*tested, *(Step(Isolate(one, over, (along,))) for one in (test, nest.handle)))
