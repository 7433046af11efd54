"""One script for the regions of a file, out of one for each: every step is done in its own region alone.

Handles that several regions have, such as S1, are left to none; names that steps give have the number of the
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
from loopwright.transform.script.operations import Widen
from loopwright.transform.script.steps import Step


def apart(plans: Sequence[Plan]) -> tuple[Plan, ...]:
    """The plans without handles that another region has too."""
    known = Counter(name for plan in plans for name in plan.components)
    shared = {name for name, count in known.items() if count > 1}
    return tuple(plan.without(shared) for plan in plans)


def together(parts: Sequence[Script], plans: Sequence[Plan]) -> Script | None:
    """The scripts of the regions as one; None where a step would not be done in its own region alone."""
    now, done = list(plans), list[Step]()
    for number, part in enumerate(parts):
        for step in _named(part, f"_{number + 1}"):
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
