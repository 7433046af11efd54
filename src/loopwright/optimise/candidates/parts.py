"""A loop over parts around all blocks of a nest, some for each thread, made in the script of one thread.

    for iT:                             for p, one for each thread:
      for k:  for j                       for iT:
      for kT: for j        -->              for k:  for j in part p
                                            for kT: for j in part p

What blocks leave over stands beside them, and threads that share each of the loops wait after each.  Of a
loop that bounds others, or is bounded by them, every n-th block is in a part: all parts are as large.
The loop over parts comes first, before blocks are made; steps after it know one loop more.

Strips of another length in a script whose later steps tell what is in a strip from what is after it.

    strip_mine(L, k, 32);  isplit(S, {[kT, k, j] : j <= 32 * kT + 31}, 2)   -->   16, 16 * kT + 15

What is in a strip waits for each of its steps: with threads, less of it is less that one of them does alone.
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
            if attempted(start, *cut) is not None:
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
    mapping = AffineMap(symbols(nest.loops), symbols((PART, *nest.loops)), compared(PART, "=", part))
    return Step(ops.Affine(nest.handle, mapping))


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
    found = map(loops_in, bounds_of(plan, nest.component, len(nest.loops)))
    return not any(nest.loops.index(loop) in loops and len(loops) > 1 for loops in found)


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


SHORTEST, LONGEST = 8, 128
"""The strips that are tried."""


def with_other_strips(script: Script) -> Iterator[Script]:
    """The script with strips that are named later half as long, then twice as long."""
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
