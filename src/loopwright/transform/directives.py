"""Directives belong to loops; when an operation changes a loop, they go with it or are in the way."""

from __future__ import annotations

from dataclasses import replace

from loopwright.errors import Code
from loopwright.transform.plan import Component, Directive, DirectiveKind, Plan
from loopwright.transform.relations import Function
from loopwright.transform.script.arguments import Misuse


def with_directive(
    plan: Plan,
    kind: DirectiveKind,
    component: Component,
    loop: int,
    *,
    factor: int | None = None,
    points: tuple[int, ...] = (),
) -> Plan:
    """The plan with one more directive on the loop at depth `loop` around the component."""
    statements = plan.statements_at(component)
    directive = Directive(kind, statements, component.positions, loop, factor, points)
    return replace(plan, directives=(*plan.directives, directive))


def carried_through(plan: Plan, component: Component, function: Function) -> Plan:
    """The directives after `affine`, positions not yet changed: each follows the iterator it names."""
    inside = set(component.positions)
    directives: list[Directive] = []
    for directive in plan.directives:
        here = tuple(position for position in directive.positions if position in inside)
        elsewhere = tuple(position for position in directive.positions if position not in inside)
        if elsewhere:
            directives.append(replace(directive, positions=elsewhere))
        if here:
            directives.append(_followed(replace(directive, positions=here), function))
    return replace(plan, directives=tuple(directives))


def _followed(directive: Directive, function: Function) -> Directive:
    loops = [function.moved_loop(loop) for loop in (directive.loop, *directive.points)]
    if any(loop is None for loop in loops):
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"this changes a loop that was marked '{directive.kind.value}'",
            hint=f"put '{directive.kind.value}' after the operations that make its loop",
        )
    known = [loop for loop in loops if loop is not None]
    return replace(directive, loop=known[0], points=tuple(known[1:]))
