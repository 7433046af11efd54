"""A statement that was split gets a text of its own for a part of its instances.

    for (i) for (j) S: x;                       for (i) for (j) { if (not c) x; }
                             -->
                                                for (i) for (j) if (c) S': x;

Operations on storage change what a text says, so what is only for some instances needs a text that only
these have.  The order stays: S' has the times that its instances have as instances of S.
"""

from __future__ import annotations

import islpy as isl

from loopwright.errors import Code
from loopwright.model.program import Hole, Program, Statement
from loopwright.presburger.dimensions import first
from loopwright.presburger.sets import DIM, union
from loopwright.transform.library.affine_text import affine_text
from loopwright.transform.library.copies import membership
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import TextEdit, divided_program
from loopwright.transform.vectors import pieces


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
    """Loops over a box that holds the instances; the test says which ones run."""
    heads: list[str] = []
    for k, iterator in enumerate(statement.iterators):
        low, rest = _range(statement, k)
        start, more = (affine_text(program, one, statement.iterators) for one in (low, rest))
        heads.append(f"for ({statement.iterator_types[k]} {iterator} = {start}; {more} >= 0; {iterator}++) ")
    return " " + "".join(heads)


def _range(statement: Statement, k: int) -> tuple[isl.Aff, isl.Aff]:
    """A lower bound of iterator k, and what is not negative up to its last value: without divisions."""
    low: isl.Aff | None = None
    rest: isl.Aff | None = None
    inner = first(statement.domain, DIM, k + 1).remove_divs()
    for constraint in inner.simple_hull().get_constraints():
        factor = constraint.get_coefficient_val(DIM, k)
        value = constraint.get_aff()
        if constraint.is_equality():
            continue
        if low is None and factor.is_one():
            low = constraint.get_bound(DIM, k)
        if rest is None and factor.is_neg():
            rest = value
    if low is None or rest is None:
        message = f"the values of {statement.iterators[k]} in {statement.name} have no affine bounds"
        raise Misuse(Code.STORAGE, message, argument="target")
    return low, rest
