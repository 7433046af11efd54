"""What would make a refused script legal: temporaries with a cell for each iteration.

Where every dependence that a script breaks is one of variables that are lost after the region, they are
expanded along all the loops that their statements share, in front of the script.  That is a cure only if the
whole is then proved.
"""

from __future__ import annotations

from loopwright.errors import BadInput, GaveUp
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.plans import prove_plan
from loopwright.transform.plan import Plan, plan_of
from loopwright.transform.script.operations import Expand
from loopwright.transform.script.steps import Step


def cure(plan: Plan, verdict: LegalityVerdict, *, allow_reassociation: bool = False) -> tuple[Step, ...]:
    """The steps to put in front of the plan's, or none; `verdict` is that on the plan."""
    program = plan.written
    arrays = {array.name: array for array in program.arrays}
    names = dict.fromkeys(one.array for one in verdict.violations)
    lost = [name in arrays and program.is_dead_after(arrays[name]) for name in names]
    if not names or verdict.wrong or verdict.defects or not all(lost) or plan.storage:
        return ()
    loops = {name: _shared(plan, name) for name in names}
    if not all(loops.values()):
        return ()
    steps = tuple(Step(Expand(name, loops[name])) for name in names)
    try:
        cured = plan_of(program).perform(*steps, *(one.step for one in plan.history))
        found = prove_plan(cured, allow_reassociation=allow_reassociation)
    except (BadInput, GaveUp):
        return ()
    return steps if found.proved else ()


def hint(steps: tuple[Step, ...]) -> str:
    """The cure in words."""
    names = " and ".join(str(one.operation.variable) for one in steps if isinstance(one.operation, Expand))
    text = ", ".join(map(str, steps))
    return f"{text} at the start of the script makes it legal: each iteration then has its own {names}"


def _shared(plan: Plan, name: str) -> tuple[str, ...]:
    """The loops, from the outermost, that all statements with the variable share."""
    users = [s.iterators for s in plan.written.statements if any(a.array == name for a in s.accesses)]
    count = 0
    while all(len(one) > count and one[count] == users[0][count] for one in users):
        count += 1
    return users[0][:count]
