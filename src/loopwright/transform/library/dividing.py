"""Splits a statement in the source, so that a part of its instances has its own text.

    for (i) for (j) S: x;                       for (i) for (j) { if (not c) x; }
                             -->
                                                for (i) for (j) if (c) S': x;

Operations on storage edit the source, so a change to only some instances requires a statement with only
these.  The order is preserved: S' has the schedule that its instances have in S.

A statement that adds a sum can be split into two statements, which add its two parts in sequence.

    S: x += a + b;   -->   S: x += a;   T: x += b;

Each takes one operation for a product and its addition, whereas `x + (a * b + c * d)` takes three for two.
x + (a + b) becomes (x + a) + b: legal only if reassociation is allowed.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from loopwright.c.loops import added_sum
from loopwright.errors import Code
from loopwright.model.program import Hole, Program, Statement
from loopwright.presburger.sets import union
from loopwright.transform.library.accesses import loops_over_box, membership
from loopwright.transform.operators import moved_from
from loopwright.transform.plan import Component, Plan, PlanLeaf
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import TextEdit, divided_program, with_storage
from loopwright.transform.vectors import moved, pieces, step_after


def divided(plan: Plan, component: Component) -> Plan:
    """The plan in which no statement has instances both in the component and elsewhere."""
    program = plan.program
    edits: list[TextEdit] = []
    copies: list[tuple[str, isl.Map]] = []
    parts: list[str] = []
    for statement in program.statements:
        found = pieces(statement.schedule)
        inside = [piece for position, piece in found if position in component.positions]
        if not inside or len(inside) == len(found):
            continue
        _refuse_directives(plan, statement)
        schedule = union(piece.intersect_domain(statement.domain) for piece in inside)
        mine = schedule.domain().compute_divs().coalesce()
        left = statement.domain.subtract(mine).compute_divs().coalesce().gist(statement.domain)
        kept, taken = (
            membership(program, one, statement.iterators, statement.domain) for one in (left, mine)
        )
        text = statement.body.place.text + statement.body.terminator
        edits.append(TextEdit(statement.body.place, f"{{ if ({kept}) {text} }}"))
        copies.append((f"{boxed_loops(program, statement)}if ({taken}) {text}", schedule))
        parts.append(statement.name)
    if not parts:
        return plan
    after = divided_program(program, edits, copies, parts)
    names = [one.name for one in after.statements[-len(parts) :]]
    return plan.stored(after, division=dict(zip(names, parts, strict=True)))


def _refuse_directives(plan: Plan, statement: Statement) -> None:
    if any(statement.name in one.statements for one in plan.directives):
        message = f"{statement.name} is split into several parts, and its loops are unrolled or marked"
        hint = "pack before unroll, vectorize, parallel and isolate"
        raise Misuse(Code.STORAGE, message, argument="target", hint=hint)
    if not all(isinstance(one, Hole) for one in statement.body.holes):
        message = f"{statement.name} is split into several parts, and has subscripts by a local variable"
        raise Misuse(Code.STORAGE, message, argument="target")


def boxed_loops(program: Program, statement: Statement) -> str:
    """Loops over a box that contains the instances; the test selects those that execute."""
    types = statement.iterator_types
    return loops_over_box(program, statement.domain, statement.iterators, types, "target")


def split_sum(plan: Plan, component: Component) -> tuple[Plan, Component, Component]:
    """Return the plan with both statements in the same loops, the old statement, and the new one after it."""
    statement = whole_statement(plan, component, "split the sum before")
    found = added_sum(statement.body.place.text)
    if found is None or statement.body.terminator:
        message = f"{statement.name} does not add a sum of two parts to a variable"
        raise Misuse(Code.STORAGE, message, argument="target", hint="x += a + b; can be split")
    (position,) = component.positions
    depth = plan.leaf(position).depth
    place = (*position[:depth], position[depth] + 1, *position[depth + 1 :])

    plan = moved_from(plan, place[: depth + 1], lambda other: step_after(other, place, depth))
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


def whole_statement(plan: Plan, component: Component, hint: str) -> Statement:
    """The only statement of a component, with all its instances; `hint` begins what to do before loops."""
    names = plan.statements_at(component)
    statement = plan.program.statement(names[0])
    if len(names) > 1 or len(component.positions) > 1 or len(pieces(statement.schedule)) > 1:
        message = "the component is not one statement as a whole"
        raise Misuse(Code.STORAGE, message, argument="target", hint=f"name one statement; {hint} isplit")
    if any(statement.name in one.statements for one in plan.directives):
        message = f"loops of {statement.name} are unrolled or marked"
        hint = f"{hint} unroll, vectorize, parallel and isolate"
        raise Misuse(Code.STORAGE, message, argument="target", hint=hint)
    if not all(isinstance(one, Hole) for one in statement.body.holes):
        message = f"{statement.name} has subscripts by a local variable"
        raise Misuse(Code.STORAGE, message, argument="target")
    return statement
