"""One nest, its loops in another order or counted another way: every one is an `affine`."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.transform.operators import affine
from loopwright.transform.plan import Component, Plan
from loopwright.transform.relations import function, iterators, tile_number
from loopwright.transform.script.arguments import Misuse

_MOST_NAMES = 8
"""Of statements in a message."""


@dataclass(frozen=True)
class SizedLoop:
    """A loop, by its depth from 0, with the size of its tiles or another number."""

    loop: int
    size: int


def interchange(plan: Plan, component: Component, one: int, two: int) -> Plan:
    """affine(L, {[..., i, ..., j, ...] -> [..., j, ..., i, ...]})"""
    if one == two:
        raise Misuse(Code.LOOPS_DO_NOT_FIT, "a loop cannot be interchanged with itself", argument="second")
    order = list(range(max(one, two) + 1))
    order[one], order[two] = two, one
    return permute(plan, component, order)


def permute(plan: Plan, component: Component, order: Sequence[int]) -> Plan:
    """affine(L, {[i0, i1, ...] -> [i(order 0), i(order 1), ...]}), `order` a permutation of the loops.

    The loops named share the places they have now; a loop that is not named stays where it is.
    """
    if len(set(order)) != len(order):
        raise Misuse(Code.LOOPS_DO_NOT_FIT, "a loop is named twice", argument="order")
    count = max(order) + 1
    full = list(range(count))
    for place, loop in zip(sorted(order), order, strict=True):
        full[place] = loop
    x = iterators(count)
    return affine(plan, component, function([x[loop] for loop in full]))


def skew(plan: Plan, component: Component, loop: int, along: int, factor: int) -> Plan:
    """affine(L, {[..., t, ..., i, ...] -> [..., t, ..., i + factor t, ...]})"""
    if loop == along:
        raise Misuse(Code.LOOPS_DO_NOT_FIT, "a loop cannot be skewed along itself", argument="along")
    x = iterators(max(loop, along) + 1)
    x[loop] = x[loop].add(x[along].scale_val(isl.Val(factor)))
    return affine(plan, component, function(x))


def shift(plan: Plan, component: Component, loop: int, amount: int) -> Plan:
    """affine(L, {[..., i, ...] -> [..., i + amount, ...]})"""
    x = iterators(loop + 1)
    x[loop] = x[loop].add_constant_val(isl.Val(amount))
    return affine(plan, component, function(x))


def reverse(plan: Plan, component: Component, loop: int) -> Plan:
    """affine(L, {[..., i, ...] -> [..., -i, ...]})"""
    x = iterators(loop + 1)
    x[loop] = x[loop].neg()
    return affine(plan, component, function(x))


def check_whole(plan: Plan, component: Component, loop: int) -> None:
    """New loops around a loop are only made for all statements in it together."""
    if loop >= plan.common_loops(component):
        raise Misuse(Code.LOOPS_DO_NOT_FIT, f"the statements share only {plan.common_loops(component)} loops")
    refuse_others(plan, component, loop)


def refuse_others(plan: Plan, component: Component, loop: int) -> None:
    """Nothing but the component is in its loops at depth `loop`."""
    others = plan.sharing(component, loop)
    if others.positions:
        name = plan.leaf(component.first).loops[loop]
        names = plan.statements_at(others)
        listed = names if len(names) <= _MOST_NAMES else (*names[: _MOST_NAMES - 1], "...")
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"the loop over {name} has other statements in it: {', '.join(listed)}",
            argument="target",
            hint=f"distribute it first, or name all of it: "
            f"L = lift({plan.statements_at(component)[0]}, {loop + 1})",
        )


def strip_mine(plan: Plan, component: Component, loop: int, size: int) -> Plan:
    """affine(L, {[..., i, ...] -> [..., [i/size], i, ...]}); the new loop is called iT."""
    check_whole(plan, component, loop)
    x = iterators(loop + 1)
    x.insert(loop, tile_number(x[loop], size))
    names: list[str | None] = [None] * len(x)
    names[loop] = f"{plan.leaf(component.first).loops[loop]}T"
    return affine(plan, component, function(x, names))
