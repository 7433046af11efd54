"""Loops written out: `unroll` for one loop, `unroll_and_jam` for tiles that live in registers."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from loopwright.errors import Code
from loopwright.presburger.dimensions import beyond, equal_in
from loopwright.presburger.named import without_parameters
from loopwright.presburger.sets import DIM
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.library.loops import SizedLoop, check_whole, strip_mine
from loopwright.transform.operators import affine
from loopwright.transform.plan import Component, Plan
from loopwright.transform.relations import function, iterators, tile_number
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import Position


def unroll(plan: Plan, component: Component, loop: int, factor: int | None) -> Plan:
    """Write out a loop, or `factor` iterations of it at a time.

    With a factor: strip_mine(L, i, factor), the inner loop written out where it is complete.
    """
    if factor is None:
        _check_constant(plan, component, loop)
        return plan.directed(DirectiveKind.UNROLL, component, loop)
    check_whole(plan, component, loop)
    after = strip_mine(plan.named("unrolled here", component), component, loop, factor)
    strips = after.components["unrolled here"]
    after = after.directed(DirectiveKind.ISOLATE, strips, loop, points=(loop + 1,))
    after = after.directed(DirectiveKind.UNROLL, strips, loop + 1, factor=factor)
    return after.without({"unrolled here"})


def _check_constant(plan: Plan, component: Component, loop: int) -> None:
    """A loop can be written out where the distance of its iterations has a constant bound."""
    name = plan.leaf(component.first).loops[loop]
    inside = Component.of((*component.positions, *plan.sharing(component, loop).positions))
    for one in plan.iterations(inside, loop + 1):
        for other in plan.iterations(inside, loop + 1):
            if not _distance(one, other, loop).remove_divs().is_bounded():
                raise Misuse(
                    Code.UNBOUNDED,
                    f"the number of iterations of {name} is not a constant",
                    argument="loop",
                    hint=f"unroll(L, {name}, 4) writes out four at a time",
                )


def unroll_and_jam(plan: Plan, component: Component, tiles: Sequence[SizedLoop]) -> Plan:
    """Write out `size` iterations of outer loops inside the innermost one.

    [..., i, ..., k] --> [..., [i/size], ..., k, i], the last loop written out where it is complete.
    Statements of one innermost body are copied together; those of another body of their own.
    """
    loops = [one.loop for one in tiles]
    if len(set(loops)) != len(loops):
        raise Misuse(Code.LOOPS_DO_NOT_FIT, "a loop is named twice")
    for loop in loops:
        check_whole(plan, component, loop)
    bodies = _bodies(plan, component)
    names = [f"{k} jammed" for k in range(len(bodies))]
    for name, body in zip(names, bodies, strict=True):
        plan = plan.named(name, body)
    for name in names:
        plan = _jammed(plan, name, tiles)
    return plan.without(set(names))


def _bodies(plan: Plan, component: Component) -> list[Component]:
    """The component's statements by the innermost loop they stand in."""
    found: dict[tuple[int, Position], list[Position]] = {}
    for position in component.positions:
        depth = plan.leaf(position).depth
        found.setdefault((depth, position[:depth]), []).append(position)
    return [Component.of(positions) for positions in found.values()]


def _jammed(plan: Plan, name: str, tiles: Sequence[SizedLoop]) -> Plan:
    """One body: strips in place of the loops, the copies innermost."""
    component = plan.components[name]
    loops = plan.leaf(component.first).loops
    depth = len(loops)
    sizes = {one.loop: one.size for one in tiles}
    x = iterators(depth)
    outputs = [tile_number(value, sizes[k]) if k in sizes else value for k, value in enumerate(x)]
    outputs += [x[one.loop] for one in tiles]
    strips: list[str | None] = [f"{loops[k]}T" if k in sizes else None for k in range(depth)]
    plan = affine(plan, component, function(outputs, [*strips, *(None,) * len(tiles)]))
    inside = plan.components[name]
    copies = tuple(range(depth, depth + len(tiles)))
    plan = plan.directed(DirectiveKind.ISOLATE, inside, depth - 1, points=copies)
    for loop, one in zip(copies, tiles, strict=True):
        plan = plan.directed(DirectiveKind.UNROLL, inside, loop, factor=one.size)
    return plan


def _distance(one: isl.Set, other: isl.Set, loop: int) -> isl.Set:
    """{ [b - a] : (o, a) in one, (o, b) in other } for the values of the outer loops o."""
    pairs = equal_in(isl.Map.from_domain_and_range(one, other), range(loop))
    return without_parameters(beyond(pairs.deltas(), DIM, loop))
