"""One script for the regions of a file, out of one for each: every step is done in its own region alone.

Handles that several regions have, such as S1, are left to those in which a line and a loop say the same, and
are defined by these before they are used:  S1_2 = lift(@17, 3).  Names that steps give have the number of the
region at their end.  What is said of a whole file, as `widen()`, is said once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from loopwright.errors import BadInput
from loopwright.optimise.candidates.nests import Script
from loopwright.rewrite.scripts import regions_of
from loopwright.transform import Plan
from loopwright.transform.perform import performed
from loopwright.transform.script.arguments import NAME
from loopwright.transform.script.operations import Lift, Widen
from loopwright.transform.script.steps import Step


def apart(plans: Sequence[Plan]) -> tuple[Plan, ...]:
    """The plans without handles that another region has too, unless they can be defined."""
    known = Counter(name for plan in plans for name in plan.components)
    shared = {name for name, count in known.items() if count > 1}
    return tuple(plan.without({name for name in shared if _definition(plan, name) is None}) for plan in plans)


def _definition(plan: Plan, name: str) -> Step | None:
    """The handle of statements that nothing else shares a loop with, by their line and their loop."""
    component = plan.components.get(name)
    if component is None or NAME.fullmatch(name) is None:
        return None
    depth = plan.leaf(component.first).depth
    if len(component.positions) > 1 or not depth or plan.sharing(component, depth - 1).positions:
        return None
    lines = (one for one, known in plan.components.items() if known == component)
    line = next((one for one in lines if NAME.fullmatch(one) is None), None)
    return None if line is None else Step(Lift(line, depth), (name,))


def together(parts: Sequence[Script], plans: Sequence[Plan]) -> Script | None:
    """The scripts of the regions as one; None where a step would not be done in its own region alone."""
    known = Counter(name for plan in plans for name in plan.components)
    now, done = list(plans), list[Step]()
    for number, part in enumerate(parts):
        used = dict.fromkeys(name for step in part for name in step.operation.handles if known[name] > 1)
        begun = [step for name in used if (step := _definition(plans[number], name)) is not None]
        for step in _named((*begun, *part), f"_{number + 1}"):
            try:
                if list(regions_of(step, now)) != [number]:
                    return None
                now[number] = performed(now[number], step)
            except BadInput:
                return None
            done.append(step)
    is_wide = any(isinstance(step.operation, Widen) for part in parts for step in part)
    return (*done, Step(Widen())) if is_wide else tuple(done)


def _named(part: Script, suffix: str) -> list[Step]:
    """The steps of one region, with its own names for the handles they give."""
    names: dict[str, str] = {}
    found = []
    for step in part:
        if not isinstance(step.operation, Widen):
            operation = step.operation.with_handles(names)
            names |= {name: f"{name}{suffix}" for name in step.binds}
            found.append(replace(step, operation=operation, binds=tuple(names[one] for one in step.binds)))
    return found
