"""Stages of a pipeline row by row: each makes a row as soon as the rows that it reads are there.

for i: A(i);  for i: B(i) reads rows i - 1 to i + 1 of A;  for i: C(i)
    -->   for i: { A(i);  B(i - 1);  C(i - 1) }, and of what A makes three rows are kept
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopwright.errors import BadInput
from loopwright.model.dependences import Dependence
from loopwright.optimise.candidates.nests import Script, script_of
from loopwright.transform.library.statements import delays
from loopwright.transform.perform import performed
from loopwright.transform.plan import Component, Plan
from loopwright.transform.proposals import neighbours
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Fuse, Shift
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import handle_at, handle_of


def pipelines(plan: Plan, dependences: Sequence[Dependence]) -> Iterator[Script]:
    """All neighbours that share no loop joined row by row; then those in one loop that need no delay."""
    found = dict.fromkeys(_joined(plan, dependences, whole=whole) for whole in (False, True))
    yield from ((*script_of(plan), *steps) for steps in found if steps)


def _joined(plan: Plan, dependences: Sequence[Dependence], *, whole: bool) -> Script:
    """The steps that join each nest with the one before it, from the first pair on."""
    now, steps = plan, tuple[Step, ...]()
    tried: set[tuple[Component, Component]] = set()
    while (pair := next((one for one in neighbours(now) if one not in tried), None)) is not None:
        tried.add(pair)
        more = _pair(now, *pair, dependences, whole=whole)
        try:
            after = performed(now, *more) if more else now
        except BadInput:
            continue
        if after is not now:
            now, steps = after, (*steps, *more)
            tried = set()
    return steps


def _pair(
    plan: Plan, one: Component, two: Component, dependences: Sequence[Dependence], *, whole: bool
) -> Script:
    """Two neighbours in the same loops but for the innermost, the second one later where it has to wait."""
    first, second = handle_of(plan, one) or handle_at(plan, one.last), handle_of(plan, two)
    shared = plan.common_loops(Component.of((*one.positions, *two.positions)))
    most = min(plan.leaf(place).depth for place in (*one.positions, *two.positions))
    if first is None or second is None:
        return ()
    for common in range(most if whole else most - 1, shared, -1):
        delay = delays(plan, one, two, range(shared, common), dependences)
        if delay is None or (common == most and any(delay)):
            continue
        loops = plan.leaf(two.first).loops[shared:common]
        moved = tuple(LoopNumber(amount, loop) for loop, amount in zip(loops, delay, strict=True) if amount)
        return (*((Step(Shift(second, moved)),) if moved else ()), Step(Fuse((first, second), common)))
    return ()
