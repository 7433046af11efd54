"""Which statements share loops, and in what order they stand: every one is made of `realign`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from loopwright.errors import Code
from loopwright.transform.operators import affine, exchanged, realign
from loopwright.transform.plan import Component, Misuse, Plan
from loopwright.transform.relations import written


def fuse(plan: Plan, components: Sequence[Component], common: int | None = None) -> tuple[Plan, Component]:
    """realign(A, B, n), realign(B, C, n), ...: by default n is as large as can be."""
    if common is None:
        ends = [(one.last, two.first) for one, two in pairwise(components)]
        common = min(plan.leaf(position).depth for pair in ends for position in pair)
    return _realigned(plan, components, common)


def distribute(plan: Plan, components: Sequence[Component], common: int = 0) -> tuple[Plan, Component]:
    """realign(A, B, n), realign(B, C, n), ...: by default no loop is shared any more.

    A component alone is distributed into its statements.
    """
    if len(components) == 1:
        components = [Component.of([position]) for position in components[0].positions]
    return _realigned(plan, components, common)


def _realigned(plan: Plan, components: Sequence[Component], common: int) -> tuple[Plan, Component]:
    names = [f"{k} realigned" for k in range(len(components))]
    for name, component in zip(names, components, strict=True):
        plan = plan.named(name, component)
    for one, two in pairwise(names):
        plan = realign(plan, plan.components[one], plan.components[two], common)
    found = Component.of(p for name in names for p in plan.components[name].positions)
    return plan.without(set(names)), found


def reorder(plan: Plan, one: Component, two: Component) -> Plan:
    """Put `two` in front of `one`, its neighbour in the body of the same loop.

    (p, j) -> (p + d I(n), j) where p ∈ P(one), (p - e I(n), j) where p ∈ P(two): both are children
    of loop n; e is the number of children `one` spans and d that of `two`.
    """
    return exchanged(plan, one, two)


def sink(plan: Plan, component: Component, nest: Component, value: int) -> tuple[Plan, Component]:
    """Move statements into the loops of the neighbouring nest that they lack, at iteration `value`.

    affine(L, {[i, j] -> [i, j, value]}) and realign(L, nest, number of loops).
    """
    depth, wanted = plan.depth(component), plan.depth(nest)
    if depth >= wanted:
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"the statements have {depth} loops around them already, the nest has {wanted}",
            argument=1,
        )
    plan = plan.named("sunk here", component).named("sunk into", nest)
    outputs = [*(f"x{k}" for k in range(depth)), *(str(value),) * (wanted - depth)]
    loops = plan.leaf(nest.first).loops
    names: list[str | None] = [*(None,) * depth, *loops[depth:wanted]]
    plan = affine(plan, component, written(depth, outputs, names))
    one, two = plan.components["sunk here"], plan.components["sunk into"]
    first, second = (one, two) if one.last < two.first else (two, one)
    after, found = fuse(plan, [first, second], wanted)
    return after.without({"sunk here", "sunk into"}), found
