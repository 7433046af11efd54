"""Reorders or renumbers the loops of one nest: each operation is an `affine`.

`from_zero` makes loops count 0, 1, 2, ..., as in [Namjoshi2016].

Loops can also be mapped to a GPU: a grid of blocks of threads, along three axes [Grosser2015, section 7.4].

The innermost named loop is along x, where adjacent threads access adjacent cells.  Only the annotations of
the loops change; their iterations are proved independent as for `parallel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import islpy as isl

from loopwright.c.loops import first_value
from loopwright.c.syntax import Node
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import AXES, GPU
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import only
from loopwright.presburger.functions import coordinate
from loopwright.presburger.sets import IN, OUT, eliminate_inner
from loopwright.read.affine import FormulaScope, expressions
from loopwright.source import Span
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.operators import affine
from loopwright.transform.plan import Component, Plan
from loopwright.transform.relations import function, function_of, iterators, tile_number
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import iteration_numbers, pieces

_MOST_NAMES = 8
"""The most statements listed in a message."""


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

    The named loops exchange their places; other loops stay in place.
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
    """Refuse new loops around a loop unless they contain all statements in it."""
    if loop >= plan.common_loops(component):
        raise Misuse(Code.LOOPS_DO_NOT_FIT, f"the statements share only {plan.common_loops(component)} loops")
    refuse_others(plan, component, loop)


def refuse_others(plan: Plan, component: Component, loop: int) -> None:
    """Refuse other statements in the component's loops at depth `loop`."""
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


def from_zero(plan: Plan, component: Component) -> Plan:
    """affine(L, {[..., i, ...] -> [..., (i - start)/step, ...]}) for every loop of the source.

    The iteration number of a decreasing iterator is -i, so it becomes (start - i)/step.
    """
    names = plan.statements_at(component)
    for name in names:
        statement = plan.program.statement(name)
        if not statement.schedule.is_equal(plan.original.statement(name).schedule):
            raise Misuse(
                Code.LOOPS_DO_NOT_FIT,
                f"an earlier operation changed the loops of {name}",
                hint="put from_zero before all other operations",
            )
    for name in names:
        statement = plan.program.statement(name)
        if statement.depth > 0:
            here = Component.of(position for position, _ in pieces(statement.schedule))
            plan = affine(plan, here, function_of(_counted(plan.original, statement)))
    return plan


def _counted(program: Program, statement: Statement) -> isl.Map:
    """{ iteration numbers -> (i - start)/step for each loop }."""
    numbers = iteration_numbers(statement.schedule, statement.depth)
    counts: isl.Map | None = None
    for loop, start in enumerate(_loop_starts(program, statement)):
        distance = isl.PwAff.from_aff(coordinate(start.get_domain_space(), loop)).sub(start)
        if _counts_down(numbers, loop):
            distance = distance.neg()
        step = eliminate_inner(statement.domain, loop).get_stride(loop)
        one = isl.Map.from_pw_aff(distance.scale_down_val(step).floor())
        counts = one if counts is None else counts.flat_range_product(one)
    assert counts is not None
    plain = numbers.reset_tuple_id(isl.dim_type.in_)
    return plain.reverse().apply_range(counts).coalesce()


def _counts_down(numbers: isl.Map, loop: int) -> bool:
    """Whether the iteration number of the loop is -i."""
    alone = only(numbers, OUT, loop)
    upwards = isl.Map.universe(alone.get_space()).equate(IN, loop, OUT, 0)
    return not alone.is_subset(upwards)


def _loop_starts(program: Program, statement: Statement) -> tuple[isl.PwAff, ...]:
    """The initial value of each loop around the statement as written in the source, over all iterators.

    A domain does not contain a start at which nothing executes, so the source is read again; raises
    `BadInput` for a start that is not affine.
    """
    heads = _heads(program.syntax, statement.body.place)[: statement.depth]
    scope = FormulaScope(program.params, statement.iterators)
    found = []
    for head in heads:
        where = first_value(head).span
        found.append(expressions(program.source, where.start, where.end, scope)[0])
    return tuple(found)


def _heads(node: Node, inside: Span) -> list[Node]:
    """The `for` statements around a place, outermost first."""
    found: list[Node] = []
    current: Node | None = node
    while current is not None:
        if current.type == "for_statement":
            found.append(current)
        current = next((child for child in current.named_children if child.span.contains(inside)), None)
    return found


def to_blocks(plan: Plan, component: Component, loops: Sequence[int]) -> Plan:
    """block(L, iT, jT): iT is along y, jT along x."""
    _check(plan, component, loops, DirectiveKind.BLOCK, "loops")
    for loop, axis in _along_axes(loops):
        plan = plan.directed(DirectiveKind.BLOCK, component, loop, axis=axis)
    return plan


def to_threads(plan: Plan, component: Component, counts: Sequence[SizedLoop]) -> Plan:
    """thread(L, i=8, j=32): 8 threads along y for i, 32 along x for j."""
    _check(plan, component, [one.loop for one in counts], DirectiveKind.THREAD, "counts")
    sizes = {one.loop: one.size for one in counts}
    total = prod(sizes.values())
    if total > GPU.most_threads:
        message = f"a block of {total} threads, where a GPU has at most {GPU.most_threads}"
        raise Misuse(Code.ARGUMENTS, message, argument="counts", hint="give fewer threads, or smaller tiles")
    for loop, axis in _along_axes(list(sizes)):
        if sizes[loop] > GPU.most_along[axis]:
            message = f"{sizes[loop]} threads along {axis}, where a GPU has at most {GPU.most_along[axis]}"
            raise Misuse(Code.ARGUMENTS, message, argument="counts")
        plan = plan.directed(DirectiveKind.THREAD, component, loop, factor=sizes[loop], axis=axis)
    return plan


def _along_axes(loops: Sequence[int]) -> list[tuple[int, str]]:
    """The loops, outermost first, with their axes."""
    inner_first = sorted(loops, reverse=True)
    return list(zip(inner_first, AXES, strict=False))[::-1]


def _check(
    plan: Plan, component: Component, loops: Sequence[int], kind: DirectiveKind, argument: str
) -> None:
    if len(loops) > len(AXES):
        message = f"{len(loops)} loops, where a grid and a block have three dimensions"
        raise Misuse(Code.ARGUMENTS, message, argument=argument, item=len(AXES))
    if len(set(loops)) != len(loops):
        raise Misuse(Code.LOOPS_DO_NOT_FIT, "a loop is named twice", argument=argument)
    for directive in plan.directives:
        if directive.kind not in (DirectiveKind.BLOCK, DirectiveKind.THREAD):
            continue
        if not set(directive.positions) & set(component.positions):
            continue
        if directive.kind is kind:
            message = f"loops of the component are mapped already by another '{kind.value}'"
            hint = f"name all of its loops in one '{kind.value}'"
            raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint=hint)
        if directive.loop in loops:
            message = f"the loop is mapped already by '{directive.kind.value}'"
            hint = "tile it, and map the loop over tiles to blocks and the loop inside to threads"
            item = list(loops).index(directive.loop)
            raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument=argument, item=item, hint=hint)
