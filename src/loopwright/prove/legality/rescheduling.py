"""Checks the order of a program that is described twice, in two orders.

    before.scop   statements with domains D, times θ, the cells they access
    after.scop    the same statements with domains D', times θ'; D' may have numbers of tiles in front

Statements are matched one by one, by their texts if they have them.  The new order is right if D' without the
tile numbers is D, and θ' preserves every dependence of `before` [Namjoshi2016, section 4.1]. Instances that
share a time execute in any order, which is right if they do not depend on each other.  The accesses of the
statements are those of `before`.
"""

from __future__ import annotations

import islpy as isl

from loopwright.errors import BadInput, Code, Illegal
from loopwright.model.program import Program, Statement, statement_text
from loopwright.presburger.dimensions import beyond
from loopwright.presburger.points import smallest_point, values_text
from loopwright.presburger.sets import DIM, IN
from loopwright.prove.legality.explain import long, witness
from loopwright.prove.legality.legality import KnownTimes, LegalityVerdict, prove_legal
from loopwright.prove.legality.times import Schedules
from loopwright.prove.legality.violation import WitnessContext, occurrence
from loopwright.source import Span


def prove_rescheduled(before: Program, after: Program) -> LegalityVerdict:
    """Proves that the statements of `before` may execute in the order of `after`."""
    _refuse_silence(before)
    _refuse_open_orders(before)
    schedules = _schedules(before, after)
    return prove_legal(before, schedules, times=KnownTimes(differ=True))


def _refuse_silence(before: Program) -> None:
    """Raises an error if no writes are given, as in code generator input: any order would be legal."""
    for statement in before.statements:
        if not statement.writes:
            raise BadInput(
                Code.ORDERS,
                f"{statement.name} writes nothing, so that no order of it would be wrong",
                span=statement.body.place,
                hint="give the READ and WRITE relations of every statement",
            )


def _refuse_open_orders(before: Program) -> None:
    """Raises an error if two instances are unordered: it is then undefined what the program computes."""
    same = prove_legal(before, before, dependences=())
    if not same.proved:
        raise BadInput(
            Code.ORDERS,
            f"{before.source.path} does not order two instances: {witness(same.failures[0])}",
            span=_span(before),
            hint="give every two instances different times, so that it is known what is computed",
        )


def _schedules(before: Program, after: Program) -> Schedules:
    if before.params != after.params:
        raise _differ(after, f"parameters {', '.join(after.params)} for {', '.join(before.params)}")
    if len(before.statements) != len(after.statements):
        raise _differ(after, f"{len(after.statements)} statements for {len(before.statements)}")
    if not before.context.is_subset(after.context):
        raise _differ(after, "the context is about fewer sizes")
    pairs = zip(before.statements, after.statements, strict=True)
    return {old.name: _times(before, old, after, new) for old, new in pairs}


def _times(before: Program, old: Statement, after: Program, new: Statement) -> isl.Map:
    """θ' as a relation on the instances of `old`; several times if tiles execute an instance twice."""
    tiles = new.depth - old.depth
    mine, theirs = _text(old, 0), _text(new, tiles)
    if tiles < 0 or (mine and theirs and mine != theirs):
        what = f"'{theirs}' for '{mine}'" if mine != theirs else f"{new.depth} dimensions for {old.depth}"
        raise _differ(after, f"statement {new.name} is another, {what}", new.body.place)
    domain = beyond(new.domain, DIM, tiles).set_tuple_id(old.domain.get_tuple_id())
    extra = domain.intersect_params(before.context).subtract(old.domain)
    if not extra.is_empty():
        raise _extra(before, old, extra, new)
    times = beyond(new.schedule.intersect_domain(new.domain), IN, tiles)
    return times.set_tuple_id(IN, old.domain.get_tuple_id())


def _text(statement: Statement, tiles: int) -> str:
    """The text of a statement, with its iterators numbered."""
    numbers = {name: f"_{k - tiles}" for k, name in enumerate(statement.iterators)}
    return " ".join(statement_text(statement, numbers).split())


def _differ(after: Program, what: str, place: Span | None = None) -> BadInput:
    return BadInput(
        Code.ORDERS,
        f"{after.source.path} is not the same program in another order: {what}",
        span=_span(after) if place is None else place,
        hint="both files must have the same parameters and statements, in the same order in the file",
    )


def _extra(before: Program, old: Statement, extra: isl.Set, new: Statement) -> Illegal:
    """The error for an instance that NEW executes and OLD does not."""
    point = smallest_point(extra)
    assert point is not None
    context = WitnessContext(before, {old.name: old.schedule})
    values = values_text(point.parameters)
    shown = long(occurrence(context, old.name, point.coordinates, point.parameters, ()))
    return Illegal(
        Code.NOT_EQUIVALENT,
        f"an instance is run that {before.source.path} lacks",
        witness=f"{values}: {shown}" if values else shown,
        span=new.body.place,
    )


def _span(program: Program) -> Span:
    return Span.start_of(program.source.path)
