"""A loop over parts around all blocks of a nest, some for each thread, made in the script of one thread.

    for iT:                             for p, one for each thread:
      for k:  for j                       for iT:
      for kT: for j        -->              for k:  for j in part p
                                            for kT: for j in part p

What blocks leave over stands beside them, and threads that share each of the loops wait after each.  Of a
loop that bounds others, or is bounded by them, every n-th block is in a part: all parts are as large.
The loop over parts comes first, before blocks are made; steps after it know one loop more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.errors import BadInput
from loopwright.optimise.candidates.nests import (
    MANY,
    Script,
    SearchContext,
    extent,
    is_perfect,
    is_single,
    is_tiled,
    moves_writes,
    targets,
)
from loopwright.presburger.sets import DIM
from loopwright.read.formula import Chain, Formula, FunctionCall, Multiplicative, Numeral, Symbol
from loopwright.transform.perform import performed
from loopwright.transform.plan import Plan
from loopwright.transform.script import operations as ops
from loopwright.transform.script.formulas import AffineMap
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest

PART = "p"
"""What the loop over parts is called."""

LEAST = 64
"""Iterations that a part has at least."""

ELEMENT = 8
"""Bytes of an element."""

BLOCK = 8
"""Iterations that go to the same part where parts take turns, unless more are written out together."""


def parted(start: Plan, script: Script, name: str, setting: SearchContext) -> Iterator[Script]:
    """The script with a loop over parts around the nest of a statement, for each loop that may be parted.

    A loop that adds to the same cells is none: threads cannot share its parts.  Only where the nest is
    blocked, and is perfect and of this statement alone before it is.
    """
    found = _first_block(start, script, name)
    if found is None:
        return
    place, before, nest = found
    if is_tiled(before, nest) or PART in nest.loops or len(nest.loops) < 2:
        return
    if before.sharing(nest.component, 0).positions:
        return
    rest = _inside(script[place:], nest.handle)
    for depth, loop in enumerate(nest.loops):
        if rest is None or not moves_writes(before, nest.component, depth):
            continue
        part = _part(before, nest, loop, script, setting)
        if part is not None:
            cut = (*script[:place], *nest.definition, part, *rest)
            if _has_meaning(start, cut):
                yield cut


def _first_block(start: Plan, script: Script, name: str) -> tuple[int, Plan, NamedNest] | None:
    """The first step that makes blocks of a statement's nest, the plan before it, and the nest."""
    plan = start
    for place, step in enumerate(script):
        if isinstance(step.operation, ops.Tile | ops.StripMine | ops.Isplit | ops.UnrollAndJam):
            handle = step.operation.target
            if plan.statements_at(plan.component(handle)) == (name,):
                nest = next((one for one in targets(plan) if one.handle == handle), None)
                is_plain = nest is not None and is_single(nest) and is_perfect(plan, nest)
                return (place, plan, nest) if nest is not None and is_plain else None
        plan = performed(plan, step)
    return None


def _part(plan: Plan, nest: NamedNest, loop: str, script: Script, setting: SearchContext) -> Step | None:
    """The loop over parts of a loop, around all others; None where parts would be small."""
    count, values = setting.threads, extent(plan, nest, loop, setting.sizes)
    if not LEAST * count <= values < MANY:
        return None
    if _is_apart(plan, nest, loop):
        count = _in_cache(plan, nest, loop, setting)
        size = -(-values // count // BLOCK) * BLOCK
        part: Formula = _quotient(loop, size)
    else:
        size = _written_out(script, nest.handle, loop)
        part = Multiplicative("%", _quotient(loop, size), Numeral(count))
    inputs = tuple(map(Symbol, nest.loops))
    value = Chain(((Symbol(PART),), (part,)), ("=",))
    return Step(ops.Affine(nest.handle, AffineMap(inputs, (Symbol(PART), *inputs), value)))


def _in_cache(plan: Plan, nest: NamedNest, loop: str, setting: SearchContext) -> int:
    """How many parts: one for each thread, and of rows more, until a part of a matrix stays in the cache."""
    count, values = setting.threads, extent(plan, nest, loop, setting.sizes)
    if loop == nest.loops[-1]:
        rows = max(extent(plan, nest, other, setting.sizes) for other in nest.loops[:-1])
        size, cache = rows * values * ELEMENT, setting.machine.caches[1].size
        while size > count * cache and values >= 2 * count * LEAST:
            count *= 2
    return count


def _quotient(loop: str, size: int) -> Formula:
    return FunctionCall("floor", (Multiplicative("/", Symbol(loop), Numeral(size)),))


def _written_out(script: Script, name: str, loop: str) -> int:
    """How many iterations of the loop are written out together."""
    for step in script:
        match step.operation:
            case ops.UnrollAndJam(target=target, factors=factors) if target == name:
                return max([BLOCK, *(one.number for one in factors if one.loop == loop)])
    return BLOCK


def _is_apart(plan: Plan, nest: NamedNest, loop: str) -> bool:
    """Whether no bound has this loop and another one."""
    depth, count = nest.loops.index(loop), len(nest.loops)
    return not any(
        not bound.get_coefficient_val(DIM, depth).is_zero() and _loops_in(bound, count) > 1
        for points in plan.iterations(nest.component, count)
        for part in points.remove_divs().get_basic_sets()
        for bound in part.get_constraints()
    )


def _loops_in(bound: isl.Constraint, count: int) -> int:
    return sum(not bound.get_coefficient_val(DIM, k).is_zero() for k in range(count))


def _inside(steps: Sequence[Step], name: str) -> Script | None:
    """The steps about a nest and what it is split into, with one loop more around it.

    None where it is joined with other nests, or its loops are turned into others.
    """
    mine, found = {name}, []
    for step in steps:
        operation = step.operation
        if mine.isdisjoint(operation.handles):
            found.append(step)
            continue
        match operation:
            case ops.Isplit(condition=condition, common=common):
                inputs = (Symbol(PART), *condition.inputs)
                operation = replace(operation, condition=replace(condition, inputs=inputs), common=common + 1)
            case ops.Affine(function=function):
                part = Symbol(PART)
                wider = replace(function, inputs=(part, *function.inputs), outputs=(part, *function.outputs))
                operation = replace(operation, function=wider)
            case ops.Lift(loop=loop):
                operation = replace(operation, loop=loop + 1 if loop else 0)
            case ops.Fuse() | ops.Distribute():
                return None
            case _:
                pass
        mine |= set(step.binds)
        found.append(replace(step, operation=operation))
    return tuple(found)


def _has_meaning(start: Plan, script: Script) -> bool:
    try:
        performed(start, *script)
    except BadInput:
        return False
    return True
