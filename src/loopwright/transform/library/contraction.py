"""Contraction, renaming and padding: change the shape of an array, or give a component its own variable.

    contract(x, 1)   x[e][f]            -->   x_1[f]
    contract(x, 8, ring)   x[e][f]      -->   x_ring[e % 8][f]
    rename(x, L)     x in L             -->   x_S, an array of the same size
    pad(x, 4)        T x[n][m];         -->   T x_padded[n][m + 4];
"""

from __future__ import annotations

from collections.abc import Callable

from loopwright.c.syntax import Node, field, walk, without_parentheses
from loopwright.c.tokens import bracketed
from loopwright.errors import Code
from loopwright.model.program import Array, Program, Statement
from loopwright.source import Span
from loopwright.transform.library.accesses import (
    declared_values,
    in_space,
    moved,
    variable_called,
    without_declaration,
)
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import TextEdit, unused_name, with_storage


def contract(plan: Plan, name: str, count: int | None) -> Plan:
    """The plan with an array that has `count` subscripts fewer, or none."""
    array = variable_called(plan, name)
    dropped = array.rank if count is None else count
    if not 1 <= dropped <= array.rank:
        message = f"{name} has {array.rank} subscripts, of which {dropped} cannot be left out"
        raise Misuse(Code.STORAGE, message, argument="count" if count is not None else "variable")
    return _reshaped(plan, array, f"{name}_{dropped}", array.extents[dropped:], lambda found: found[dropped:])


def ring(plan: Plan, name: str, count: int | None) -> Plan:
    """The plan with an array of `count` rows, each in the storage of the one `count` before it."""
    array = variable_called(plan, name)
    if count is None:
        raise Misuse(Code.STORAGE, "a ring has a number of rows: contract(x, 8, ring)", argument="ring")
    if not array.rank:
        raise Misuse(Code.STORAGE, f"{name} has no rows", argument="variable")

    def turned(found: list[str]) -> list[str]:
        return [f"({found[0]}) % {count}", *found[1:]]

    return _reshaped(plan, array, f"{name}_ring", (str(count), *array.extents[1:]), turned)


def _reshaped(
    plan: Plan, array: Array, wanted: str, extents: tuple[str, ...], change: Callable[[list[str]], list[str]]
) -> Plan:
    """The plan with an array of these extents, whose subscripts are computed from those of the old one."""
    program = plan.program
    new = unused_name(program, wanted)
    made = Array(new, len(extents), array.element_type, local=True, extents=extents)
    edits = dict.fromkeys(without_declaration(program, array))
    for statement in program.statements:
        for access in statement.accesses:
            if access.array == array.name:
                found = [one.text for one in _subscripts(program, statement, access.place, array)]
                text = new + bracketed(change(found))
                edits[TextEdit(access.place, text)] = None
    return plan.stored(with_storage(program, tuple(edits), (in_space(made),)))


def _subscripts(program: Program, statement: Statement, place: Span, array: Array) -> list[Node]:
    """The subscripts of the access at `place`, in source order."""
    node = next((one for one in walk(program.syntax) if one.span == place), None)
    found: list[Node] = []
    while node is not None and node.type == "subscript_expression":
        found.insert(0, field(node, "index"))
        node = without_parentheses(field(node, "argument"))
    if node is None or node.text != array.name or len(found) != array.rank:
        message = f"'{' '.join(place.text.split())}' in {statement.name} is another way to write {array.name}"
        hint = f"write {array.name} and its subscripts"
        raise Misuse(Code.STORAGE, message, argument="variable", hint=hint)
    return found


def rename(plan: Plan, name: str, component: Component) -> Plan:
    """The plan in which the component has its own variable in place of `name`."""
    program, array = plan.program, variable_called(plan, name)
    inside = [program.statement(one) for one in plan.statements_at(component)]
    users = [one for one in inside if any(access.array == name for access in one.accesses)]
    if not users:
        names = ", ".join(one.name for one in inside)
        raise Misuse(Code.NO_VARIABLE, f"{names} does not use {name}", argument="target")
    new = unused_name(program, f"{name}_{users[0].name}")
    made = Array(new, array.rank, array.element_type, local=True, extents=array.extents)
    edits = {one: None for statement in users for one in moved(statement, name, new)}
    edits |= {one: None for statement in users for one in declared_values(program, array, statement)}
    return plan.stored(with_storage(program, tuple(edits), (in_space(made),)))


def pad(plan: Plan, name: str, amount: int) -> Plan:
    """The plan with an array whose rows are longer by unused elements."""
    program, array = plan.program, variable_called(plan, name)
    if not array.rank:
        raise Misuse(Code.STORAGE, f"{name} has no rows", argument="variable")
    last = array.extents[-1]
    longer = str(int(last) + amount) if last.isdigit() else f"{last} + {amount}"
    new = unused_name(program, f"{name}_padded")
    extents = (*array.extents[:-1], longer)
    made = Array(new, array.rank, array.element_type, local=True, extents=extents)
    edits = dict.fromkeys(without_declaration(program, array))
    edits |= {one: None for statement in program.statements for one in moved(statement, name, new)}
    return plan.stored(with_storage(program, tuple(edits), (in_space(made),)))
