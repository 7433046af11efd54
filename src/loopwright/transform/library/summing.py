"""A statement that adds a sum becomes two statements, which add its two parts one after the other.

    S: x += a + b;   -->   S: x += a;   T: x += b;

Each takes one operation for a product and its addition, where `x + (a * b + c * d)` takes three for two.
x + (a + b) becomes (x + a) + b: legal only where values may be combined in any order.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.c.sums import added_sum
from loopwright.errors import Code
from loopwright.model.program import Hole, Statement
from loopwright.transform.library.copies import membership
from loopwright.transform.library.dividing import boxed_loops
from loopwright.transform.operators import moved_from
from loopwright.transform.plan import Component, Plan, PlanLeaf
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import TextEdit, with_storage
from loopwright.transform.vectors import moved, pieces, step_after


def split_sum(plan: Plan, component: Component) -> tuple[Plan, Component, Component]:
    """The plan with both statements in the loops of the one, the statement, and the new one after it."""
    statement = _only_statement(plan, component)
    found = added_sum(statement.body.place.text)
    if found is None or statement.body.terminator:
        message = f"{statement.name} does not add a sum of two parts to a variable"
        raise Misuse(Code.STORAGE, message, argument="target", hint="x += a + b; can be split")
    (position,) = component.positions
    depth = plan.leaf(position).depth
    place = (*position[:depth], position[depth] + 1, *position[depth + 1 :])

    plan = moved_from(plan, place, lambda other: step_after(other, place, depth))
    program = plan.program
    one, other = found.texts
    test = membership(program, statement.domain, statement.iterators, statement.domain)
    text = f"{boxed_loops(program, statement)}{f'if ({test}) ' if test else ''}{other}"
    step = tuple(int(k == depth) for k in range(len(position)))
    schedule = moved(program.statement(statement.name).schedule, step)
    after = with_storage(program, [TextEdit(statement.body.place, one)], (), [(text, schedule)])
    name = after.statements[-1].name
    leaves = sorted(
        (*plan.leaves, PlanLeaf(place, plan.leaf(position).loops)), key=lambda leaf: leaf.position
    )
    stored = replace(plan.stored(after, summands={name: statement.name}), leaves=tuple(leaves))
    return stored.named(name, Component.of([place])), component, Component.of([place])


def _only_statement(plan: Plan, component: Component) -> Statement:
    names = plan.statements_at(component)
    statement = plan.program.statement(names[0])
    if len(names) > 1 or len(component.positions) > 1 or len(pieces(statement.schedule)) > 1:
        message = "the component is not one statement as a whole"
        raise Misuse(Code.STORAGE, message, argument="target", hint="split the sum before isplit")
    if any(statement.name in one.statements for one in plan.directives):
        message = f"loops of {statement.name} are unrolled or marked"
        hint = "split the sum before unroll, vectorize, parallel and isolate"
        raise Misuse(Code.STORAGE, message, argument="target", hint=hint)
    if not all(isinstance(one, Hole) for one in statement.body.holes):
        message = f"{statement.name} has subscripts by a local variable"
        raise Misuse(Code.STORAGE, message, argument="target")
    return statement
