"""Tests the conditions of many iterations at once, and runs these only if one of them holds.

    for (t) for (i) S: if (c) b;

    -->   for (t) { Z: hit = 0;
                    for (i) T: hit |= c;
                    for (i) S: if (hit) if (c) b; }

Where `x` is a maximum and k its place, `if (a[i] > x) { x = a[i]; k = i; }`, few iterations change anything,
and a compiler has no vector instructions for them.  The tests of an iteration of t all see the same x, so
they are vector code.  S runs in the original order on the original values: the result is that of the
original to the bit, whatever is compared.  `prove.legality.pretests` proves it.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.c.conditions import ConditionalStatement, conditional_statement
from loopwright.c.tokens import names_in
from loopwright.c.types import INT, Floating, Integer, named_type
from loopwright.errors import Code
from loopwright.model.program import Array, Program, Statement
from loopwright.transform.library.accesses import copy_schedule, in_space, loops_over, membership
from loopwright.transform.library.dividing import boxed_loops, whole_statement
from loopwright.transform.operators import moved_from
from loopwright.transform.plan import Component, Plan, PlanLeaf
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import TextEdit, unused_name, with_storage
from loopwright.transform.vectors import Position, iteration_numbers, moved, pieces, step_after


def pretest(plan: Plan, component: Component, depth: int) -> tuple[Plan, Component]:
    """The plan in which every iteration of the outer `depth` loops is tested first, and the test."""
    statement = whole_statement(plan, component, "test before")
    found = conditional_statement(statement.body.place.text)
    if found is None or statement.body.terminator:
        message = f"{statement.name} is not a statement under a comparison"
        hint = "if (a[i] > x) { x = a[i]; k = i; } can be tested first; an else cannot"
        raise Misuse(Code.STORAGE, message, argument="target", hint=hint)
    (cleared,) = component.positions
    leaf = plan.leaf(cleared)
    if leaf.depth <= depth:
        message = f"{statement.name} runs once in an iteration of {leaf.loops[-1]}"
        hint = f"strip_mine({statement.name}, {leaf.loops[-1]}, 64), then name the loop over strips"
        raise Misuse(Code.STORAGE, message, argument="loop", hint=hint)
    hidden = declared_inside(plan.program, statement, found)
    if hidden:
        message = f"{hidden[0]} is declared inside a loop, and the test stands outside of it"
        hint = f"expand({hidden[0]}, {statement.iterators[max(0, len(statement.iterators) - 2)]}) first"
        raise Misuse(Code.STORAGE, message, argument="target", hint=hint)

    plan = moved_from(plan, cleared[: depth + 1], lambda other: _step(other, cleared, depth))
    program = plan.program
    hit = unused_name(program, "hit")
    made = in_space(Array(hit, 0, _flag_type(program, statement), local=True))
    statement = program.statement(statement.name)
    ((_, schedule),) = pieces(statement.schedule)
    iterations = statement.domain.apply(iteration_numbers(schedule, depth))
    clear = f"{loops_over(program, iterations, leaf.loops[:depth])}{hit} = 0;"
    test = f"{_instances(plan, statement)}{hit} |= {found.condition.text};"
    back = tuple(-int(k == depth) for k in range(len(cleared)))
    first = (*cleared[: depth + 1], *(0,) * (len(cleared) - depth - 1))
    body = statement.body.place
    guard = TextEdit(body.source.at(body.start, 0), f"if ({hit}) ")
    copies = [(clear, copy_schedule(first, depth, 0)), (test, moved(schedule, back))]
    after = with_storage(program, [guard], (made,), copies)

    names = after.statements[-2].name, after.statements[-1].name
    place = (*cleared[:depth], cleared[depth] + 1, *cleared[depth + 1 :])
    added = PlanLeaf(first, leaf.loops[:depth]), PlanLeaf(place, leaf.loops)
    leaves = sorted((*plan.leaves, *added), key=lambda one: one.position)
    stored = replace(plan.stored(after, tests={statement.name: names}), leaves=tuple(leaves))
    for name, one in zip(names, added, strict=True):
        stored = stored.named(name, Component.of([one.position]))
    return stored, Component.of([place])


def declared_inside(program: Program, statement: Statement, tested: ConditionalStatement) -> list[str]:
    """The variables of a condition that are not visible at the end of the region, where tests are written."""
    found, end = program.file.declarations, program.syntax.named_children[-1].span
    names = [one for one in dict.fromkeys(names_in(tested.condition.text)) if one not in statement.iterators]
    scopes = {name: one.scope for name in names if (one := found.visible(name, statement.body.place))}
    return [name for name, scope in scopes.items() if not scope.contains(end)]


def _flag_type(program: Program, statement: Statement) -> str:
    """An integer type as wide as the numbers compared: vectors of tests are not converted then."""
    resolved = program.file.declarations.resolved
    used = {one.array for one in statement.accesses}
    kinds = [named_type(resolved(one.element_type or "")) for one in program.arrays if one.name in used]
    wide = any(isinstance(kind, Integer | Floating) and kind.bits > INT.bits for kind in kinds)
    return "long long" if wide else "int"


def _step(position: Position, place: Position, depth: int) -> Position:
    """Advance by two the positions from `place` on in the body of the loop at `depth`."""
    return tuple(2 * one for one in step_after(position, place, depth))


def _instances(plan: Plan, statement: Statement) -> str:
    """The loops over the instances of a statement."""
    test = membership(plan.program, statement.domain, statement.iterators, statement.domain)
    return f"{boxed_loops(plan.program, statement)}{f'if ({test}) ' if test else ''}"
