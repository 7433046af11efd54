"""What would make a refused script legal: temporaries with a cell for each iteration, copies of old values.

A variable that is lost after the region is expanded along all the loops that its statements share.  Of
another array of which only anti-dependences are broken, the statements that read the old values read a copy:
the node is split.  Where that does not suffice, statements in one nest may hold each other back: they are
distributed as far as that is legal, in simple loops after neighbours have changed places if need be.  All in
front of the script; a cure is one only if the whole is proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from loopwright.errors import BadInput, GaveUp
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.violation import Violation
from loopwright.transform.perform import performed
from loopwright.transform.plan import Plan
from loopwright.transform.script.operations import DistributeLegally, Expand, Pack, Reorder
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import handle_at

MOST_NEIGHBOURS = 5
"""Statements of a region whose places are tried."""


def cure(plan: Plan, verdict: LegalityVerdict, *, allow_reassociation: bool = False) -> tuple[Step, ...]:
    """The steps with new storage to put before the plan's, or none; `verdict` is that on the plan."""
    steps = _storage(plan, verdict)
    return steps if steps and _helps(plan, steps, allow_reassociation=allow_reassociation) else ()


def cure_apart(
    plan: Plan, verdict: LegalityVerdict, *, allow_reassociation: bool = False
) -> tuple[Step, ...]:
    """The same, with statements distributed where storage alone does not help."""
    alone = cure(plan, verdict, allow_reassociation=allow_reassociation)
    steps = _storage(plan, verdict)
    if alone or steps is None:
        return alone
    more = dict.fromkeys((*steps, *_temporaries(plan)))
    for stored in dict.fromkeys((steps, tuple(more))):
        for exchange in ((), *_exchanges(plan)):
            apart = (*stored, *exchange, Step(DistributeLegally()))
            if _helps(plan, apart, allow_reassociation=allow_reassociation):
                return apart
    return ()


def _temporaries(plan: Plan) -> Iterator[Step]:
    """Variables without subscripts that are lost after the region, each iteration with its own."""
    for array in plan.written.arrays:
        loops = _shared(plan, array.name)
        if not array.rank and loops and plan.written.is_dead_after(array):
            yield Step(Expand(array.name, loops))


def _exchanges(plan: Plan) -> Iterator[tuple[Step]]:
    """Neighbours in the body of one loop that may change places; the last first, of a few without nests."""
    written = Plan.of(plan.written)
    pairs = list(pairwise(leaf for leaf in written.leaves if leaf.loops))
    simple = written.loops == 1 and len(pairs) < MOST_NEIGHBOURS
    for one, two in reversed(pairs if simple else []):
        names = [handle_at(written, leaf.position) for leaf in (one, two)]
        if one.loops == two.loops and one.position[: one.depth] == two.position[: two.depth] and all(names):
            yield (Step(Reorder(str(names[0]), str(names[1]))),)


def _storage(plan: Plan, verdict: LegalityVerdict) -> tuple[Step, ...] | None:
    """New storage for the arrays of which dependences are broken, as far as that is possible.

    None where the verdict is about other things, or the script changes storage by itself.
    """
    if not verdict.violations or verdict.wrong or verdict.defects or plan.storage:
        return None
    broken: dict[str, list[Violation]] = {}
    for one in verdict.violations:
        broken.setdefault(one.array, []).append(one)
    return tuple(dict.fromkeys(step for name in broken for step in _steps(plan, name, broken[name])))


def _helps(plan: Plan, steps: tuple[Step, ...], *, allow_reassociation: bool) -> bool:
    """Whether the plan's script is legal after the steps."""
    try:
        cured = performed(Plan.of(plan.written), *steps, *(one.step for one in plan.history))
        return prove_plan(cured, allow_reassociation=allow_reassociation).proved
    except (BadInput, GaveUp):
        return False


def _steps(plan: Plan, name: str, broken: list[Violation]) -> list[Step]:
    """What might help against broken dependences of one array."""
    array = next((one for one in plan.written.arrays if one.name == name), None)
    if array is None:
        return []
    loops = _shared(plan, name)
    if plan.written.is_dead_after(array):
        return [Step(Expand(name, loops))] if loops else []
    if any(one.kind != "anti" for one in broken):
        return []
    return [Step(Pack(name, one.first.statement)) for one in broken]


def reason(steps: tuple[Step, ...]) -> str:
    """What the steps do, as a clause."""
    owned = [one.operation.variable for one in steps if isinstance(one.operation, Expand)]
    copied = dict.fromkeys(one.operation.variable for one in steps if isinstance(one.operation, Pack))
    texts = [f"each iteration has its own {' and '.join(owned)}"] if owned else []
    texts += [f"old values of {' and '.join(copied)} are read from a copy"] if copied else []
    texts += ["neighbours change places"] if any(isinstance(one.operation, Reorder) for one in steps) else []
    texts += ["statements have loops of their own"] if Step(DistributeLegally()) in steps else []
    return " and ".join(texts)


def hint(steps: tuple[Step, ...]) -> str:
    """The cure in words."""
    return f"{', '.join(map(str, steps))} at the start of the script makes it legal: then {reason(steps)}"


def _shared(plan: Plan, name: str) -> tuple[str, ...]:
    """The loops, from the outermost, that all statements in loops that use the variable share."""
    users = [s.iterators for s in plan.written.statements if any(a.array == name for a in s.accesses)]
    users = [one for one in users if one] or users
    count = 0
    while all(len(one) > count and one[count] == users[0][count] for one in users):
        count += 1
    return users[0][:count]
