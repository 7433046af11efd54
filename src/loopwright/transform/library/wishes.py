"""Operations that only ask something of the generated loops: each is a directive."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.transform.directives import with_directive
from loopwright.transform.plan import Component, DirectiveKind, Plan


def parallel(plan: Plan, component: Component, loop: int) -> Plan:
    """The iterations of the loop may run at the same time."""
    return with_directive(plan, DirectiveKind.PARALLEL, component, loop)


def vectorize(plan: Plan, component: Component, loop: int) -> Plan:
    """The iterations of the loop may run at the same time, in the lanes of a vector."""
    return with_directive(plan, DirectiveKind.VECTORIZE, component, loop)


def separate(plan: Plan, component: Component, loop: int) -> Plan:
    """Where the statements have different bounds, the loop is cut so that it needs no guards."""
    return with_directive(plan, DirectiveKind.SEPARATE, component, loop)


def isolate(plan: Plan, component: Component, loop: int, points: Sequence[int]) -> Plan:
    """The iterations of the loops down to `loop` in which all `points` run over full tiles, apart."""
    return with_directive(plan, DirectiveKind.ISOLATE, component, loop, points=tuple(points))
