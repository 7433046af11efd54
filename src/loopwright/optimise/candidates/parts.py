"""Adds a loop over parts, one or more per thread, around all blocks of a nest to a script for one thread.

    for iT:                             for p, one per thread:
      for k:  for j                       for iT:
      for kT: for j        -->              for k:  for j in part p
                                            for kT: for j in part p

The remainder of blocks has loops of its own, and threads that share each of the loops synchronise after each.
For a loop that bounds others, or is bounded by them, a part has every n-th block, so that all parts have the
same size. The loop over parts is created before the blocks; later steps are adjusted to one additional loop.

It also changes the length of strips in a script whose later steps separate a strip from the iterations after
it.

    strip_mine(L, k, 32);  isplit(S, {[kT, k, j] : j <= 32 * kT + 31}, 2)   -->   16, 16 * kT + 15

The iterations of a strip depend on each of its steps: with threads, a shorter strip means less sequential
work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import (
    MANY,
    Script,
    SearchContext,
    bounds_of,
    extent,
    is_perfect,
    is_single,
    is_tiled,
    loops_in,
    moves_writes,
    targets,
)
from loopwright.read.formula import (
    Addition,
    Chain,
    Formula,
    FunctionCall,
    Junction,
    Multiplicative,
    Numeral,
    Symbol,
)
from loopwright.transform.perform import attempted, performed
from loopwright.transform.plan import Plan
from loopwright.transform.script import operations as ops
from loopwright.transform.script.formulas import AffineMap, compared, symbols
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import NamedNest

PART = "p"
"""The name of the loop over parts."""

LEAST = 64
"""The least iterations of a part."""

ELEMENT = 8
"""The size of an element in bytes."""

BLOCK = 8
"""Consecutive iterations of a part if parts are cyclic, unless more are unrolled together."""


def parted(start: Plan, script: Script, name: str, setting: SearchContext) -> Iterator[Script]:
    """The script with a loop over parts around the nest of a statement, for each loop that can be divided.

    A loop that adds to the same cells cannot: threads cannot share its parts.  This applies only if the nest
    is blocked, and was perfect with only this statement before.
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
            if attempted(start, *cut) is not None:
                yield cut


def _first_block(start: Plan, script: Script, name: str) -> tuple[int, Plan, NamedNest] | None:
    """The first step that blocks a statement's nest, the plan before it, and the nest."""
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
    """The loop over parts of a loop, around all others; None if parts would be too small."""
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
    mapping = AffineMap(symbols(nest.loops), symbols((PART, *nest.loops)), compared(PART, "=", part))
    return Step(ops.Affine(nest.handle, mapping))


def _in_cache(plan: Plan, nest: NamedNest, loop: str, setting: SearchContext) -> int:
    """The number of parts: one per thread, and more for rows, until a part of a matrix fits into cache."""
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
    """The unroll factor of the loop."""
    for step in script:
        match step.operation:
            case ops.UnrollAndJam(target=target, factors=factors) if target == name:
                return max([BLOCK, *(one.number for one in factors if one.loop == loop)])
    return BLOCK


def _is_apart(plan: Plan, nest: NamedNest, loop: str) -> bool:
    """Whether no bound involves this loop and another one."""
    found = map(loops_in, bounds_of(plan, nest.component, len(nest.loops)))
    return not any(nest.loops.index(loop) in loops and len(loops) > 1 for loops in found)


def _inside(steps: Sequence[Step], name: str) -> Script | None:
    """The steps on a nest and its parts, with one more loop around it.

    None if it is fused with other nests, or its loops are replaced.
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


SHORTEST, LONGEST = 8, 128
"""The strips that are tried."""


def with_other_strips(script: Script) -> Iterator[Script]:
    """The script with strips that later steps refer to half as long, then twice as long."""
    for place, step in enumerate(script):
        match step.operation:
            case ops.StripMine(loop=str(loop), size=size):
                for other in (size // 2, 2 * size):
                    change = _Change(f"{loop}T", size, other)
                    after = tuple(change.of(one) for one in script[place + 1 :])
                    if SHORTEST <= other <= LONGEST and after != script[place + 1 :]:
                        strip = replace(step, operation=replace(step.operation, size=other))
                        yield (*script[:place], strip, *after)
            case _:
                pass


@dataclass(frozen=True)
class _Change:
    """The loop over strips, their length and another one."""

    strips: str
    before: int
    after: int

    def of(self, step: Step) -> Step:
        match step.operation:
            case ops.Isplit(condition=condition):
                changed = replace(condition, condition=self._changed(condition.condition))
                return replace(step, operation=replace(step.operation, condition=changed))
            case _:
                return step

    def _changed(self, formula: Formula) -> Formula:
        """The condition with `b kT`, `b kT + b` and `b kT + b - 1` for the new length b."""
        match formula:
            case Multiplicative("*", Numeral(self.before), Symbol(self.strips)):
                return replace(formula, left=Numeral(self.after))
            case Addition(terms) if (others := tuple(map(self._changed, terms))) != terms:
                ends = {self.before: self.after, self.before - 1: self.after - 1}
                return Addition(
                    tuple(
                        Numeral(ends.get(one.value, one.value)) if isinstance(one, Numeral) else one
                        for one in others
                    )
                )
            case Chain(operands, operators):
                return Chain(tuple(tuple(map(self._changed, some)) for some in operands), operators)
            case Junction(conjunction, arguments):
                return Junction(conjunction, tuple(map(self._changed, arguments)))
            case _:
                return formula
