"""Loops that count 0, 1, 2, ..., as in [Namjoshi2016]."""

from __future__ import annotations

import islpy as isl

from loopwright.c.loops import first_value
from loopwright.c.syntax import Node
from loopwright.errors import Code
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import only
from loopwright.presburger.functions import coordinate
from loopwright.presburger.sets import IN, OUT, eliminate_inner
from loopwright.read.affine import FormulaScope, expressions
from loopwright.source import Span
from loopwright.transform.operators import affine
from loopwright.transform.plan import Component, Plan
from loopwright.transform.relations import function_of
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.vectors import iteration_numbers, pieces


def from_zero(plan: Plan, component: Component) -> Plan:
    """affine(L, {[..., i, ...] -> [..., (i - start)/step, ...]}) for every loop as it was written.

    An iterator that counts down has -i for its iteration number, so it is (start - i)/step.
    """
    names = plan.statements_at(component)
    for name in names:
        statement = plan.program.statement(name)
        if not statement.schedule.is_equal(plan.original.statement(name).schedule):
            raise Misuse(
                Code.LOOPS_DO_NOT_FIT,
                f"the loops of {name} are not as they were written any more",
                hint="from_zero comes before every other operation",
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
    """For each loop around the statement its first value as it is written, over all iterators.

    A domain forgets a start at which nothing runs, so the text is read again; `BadInput` at a start
    that is not an affine expression.
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


