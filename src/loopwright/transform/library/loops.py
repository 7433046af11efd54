"""One nest, its loops in another order or counted another way: every one is an `affine`."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from loopwright.presburger.sets import DIM, IN, OUT
from loopwright.transform.operators import affine
from loopwright.transform.plan import Component, Misuse, Plan
from loopwright.transform.relations import function_of, written
from loopwright.transform.vectors import iteration_numbers, pieces


def interchange(plan: Plan, component: Component, one: int, two: int) -> Plan:
    """affine(L, {[..., i, ..., j, ...] -> [..., j, ..., i, ...]})"""
    if one == two:
        raise Misuse("a loop cannot be interchanged with itself", argument=2)
    order = list(range(max(one, two) + 1))
    order[one], order[two] = two, one
    return permute(plan, component, order)


def permute(plan: Plan, component: Component, order: Sequence[int]) -> Plan:
    """affine(L, {[i0, i1, ...] -> [i(order 0), i(order 1), ...]}), `order` a permutation of the loops.

    The loops named share the places they have now; a loop that is not named stays where it is.
    """
    if len(set(order)) != len(order):
        raise Misuse("a loop is named twice", argument=1)
    count = max(order) + 1
    full = list(range(count))
    for place, loop in zip(sorted(order), order, strict=True):
        full[place] = loop
    return affine(plan, component, written(count, [f"x{loop}" for loop in full]))


def skew(plan: Plan, component: Component, loop: int, along: int, factor: int) -> Plan:
    """affine(L, {[..., t, ..., i, ...] -> [..., t, ..., i + factor t, ...]})"""
    if loop == along:
        raise Misuse("a loop cannot be skewed along itself", argument=2)
    return _changed(plan, component, loop, f"x{loop} + {factor} x{along}", max(loop, along) + 1)


def shift(plan: Plan, component: Component, loop: int, amount: int) -> Plan:
    """affine(L, {[..., i, ...] -> [..., i + amount, ...]})"""
    return _changed(plan, component, loop, f"x{loop} + {amount}", loop + 1)


def reverse(plan: Plan, component: Component, loop: int) -> Plan:
    """affine(L, {[..., i, ...] -> [..., -i, ...]})"""
    return _changed(plan, component, loop, f"-x{loop}", loop + 1)


def _changed(plan: Plan, component: Component, loop: int, value: str, count: int) -> Plan:
    """affine with `value` in place of one iterator; the loop keeps its name."""
    outputs = [value if k == loop else f"x{k}" for k in range(count)]
    return affine(plan, component, written(count, outputs))


def strip_mine(plan: Plan, component: Component, loop: int, size: int) -> Plan:
    """affine(L, {[..., i, ...] -> [..., [i/size], i, ...]}); the new loop is called iT."""
    outputs = [f"x{k}" for k in range(loop + 1)]
    outputs.insert(loop, f"floor(x{loop}/{size})")
    names: list[str | None] = [None] * len(outputs)
    names[loop] = f"{plan.leaf(component.first).loops[loop]}T"
    return affine(plan, component, written(loop + 1, outputs, names))


def from_zero(plan: Plan, component: Component) -> Plan:
    """Count every loop from 0 by 1: affine(L, {[..., i, ...] -> [..., (i - lower)/step, ...]}).

    `lower` is the least value of the loop for the loops around it, as a function of them.  This is
    what paper 001 assumes of its programs.
    """
    depth = max((plan.leaf(position).depth for position in component.positions), default=0)
    for loop in range(depth):
        paths = sorted(
            {p[: loop + 1] for p in component.positions if plan.leaf(p).depth > loop}
        )
        for path in paths:
            inside = Component.of(
                p for p in component.positions if p[: loop + 1] == path and plan.leaf(p).depth > loop
            )
            plan = _loop_from_zero(plan, inside, loop)
    return plan


def _loop_from_zero(plan: Plan, component: Component, loop: int) -> Plan:
    """One loop; the values of the loops outside it are those it has now."""
    values: isl.Set | None = None
    for statement in plan.program.statements:
        for position, piece in pieces(statement.schedule):
            if position in component.positions:
                domain = statement.domain.intersect_params(plan.program.context)
                here = domain.apply(iteration_numbers(piece, loop + 1))
                values = here if values is None else values.union(here)
    if values is None or values.is_empty():
        return plan
    step = values.get_stride(loop)
    outer = isl.Map.from_range(values).move_dims(IN, 0, OUT, 0, loop)
    lower = outer.lexmin()
    vectors = isl.Map.identity(values.get_space().map_from_set())
    numbers = vectors.project_out(OUT, loop, 1)
    offset = _difference(values, lower, loop)
    last = offset.scale_down_val(step).floor() if not step.is_one() else offset
    relation = numbers.intersect_domain(values).flat_range_product(isl.Map.from_pw_aff(last))
    return affine(plan, component, function_of(relation.coalesce()))


def _difference(values: isl.Set, lower: isl.Map, loop: int) -> isl.PwAff:
    """{ [..., i] -> i - lower(...) } on the iteration vectors in `values`."""
    outermost = isl.Map.identity(values.get_space().map_from_set()).project_out(OUT, loop, 1)
    bound = outermost.apply_range(lower).intersect_domain(values)
    local = isl.LocalSpace.from_space(values.get_space())
    here = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, DIM, loop))
    return here.sub(bound.as_pw_multi_aff().get_at(0))
