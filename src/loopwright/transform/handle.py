"""Operations as methods: `plan["Mult"].interchange("j", "k").tile(32, 32)`."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.transform.plan import Component, Plan


@dataclass(frozen=True)
class Handle:
    """A component of a plan; every method gives a new handle, on the new plan."""

    plan: Plan
    name: str
    component: Component
