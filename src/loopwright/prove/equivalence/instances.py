"""By instances: proves that NEW executes the statement instances of OLD in an equivalent order.

    matching    every instance of NEW is an instance of OLD: the same operation on the same cells
    bijection   every instance of OLD is exactly one of NEW
    order       two instances that access a cell, one of them writing, keep the order of OLD

The last two are the legality of a schedule, θ'(o) = θ_NEW(n) for the n that is o [Namjoshi2016, section 4.1].
A failure here is not a refutation: the values may still be equal.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from loopwright.errors import Note
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call
from loopwright.model.program import Program
from loopwright.presburger.points import smallest_point
from loopwright.prove.equivalence.matching import Match, Preference, Unmatched, candidates, match
from loopwright.prove.legality.explain import explain, headline, witness
from loopwright.prove.legality.legality import KnownTimes, prove_legal
from loopwright.prove.obligations.formulas import exprs_of
from loopwright.prove.obligations.timetable import pieces_of
from loopwright.prove.verdict import Proved


@dataclass(frozen=True)
class NotMatched:
    """Why it was not proved; `sizes` are likely to show a difference, and `order` says what is wrong."""

    reason: str
    sizes: tuple[dict[str, int], ...] = ()
    order: tuple[Note, ...] = ()
    """What is wrong with the order, if only one matching of the instances is possible."""


@dataclass(frozen=True, eq=False)
class ComparedTexts:
    """Two sources with the same instances: `scheduled` is the original in the order of the new source."""

    original: Program
    scheduled: Program
    new: Program
    calls: tuple[Call, ...] | None
    """The instance that each statement of the new source executes; None if that is not one formula."""
    temporaries: tuple[str, ...]
    """Arrays that may hold other values in between."""
    reworded: bool = False
    """Whether one of them is a reworded file."""


@dataclass(frozen=True)
class Matched:
    """All of it was proved; `assumed` lists the assumptions, one sentence each."""

    proved: Proved
    assumed: tuple[str, ...]
    texts: ComparedTexts


def by_instances(old: Program, new: Program, *, allow_reassociation: bool = False) -> Matched | NotMatched:
    """Proves that `new` executes the statement instances of `old` in an equivalent order."""
    found = candidates(old, new, old.context)
    failure = NotMatched("there is nothing to compare")
    for preference in Preference:
        matched = match(old, new, found, old.context, preference)
        if isinstance(matched, Unmatched):
            failure = _unmatched(new, matched)
            continue
        schedules = _schedules(old, new, matched)
        verdict = prove_legal(
            old, schedules, allow_reassociation=allow_reassociation, times=KnownTimes(differ=True)
        )
        if verdict.proved:
            assumed = tuple(one.assumption for one in verdict.reassociations)
            texts = ComparedTexts(
                old, _scheduled(old, schedules), new, _calls(new, matched), verdict.temporaries
            )
            return Matched(Proved(verdict.obligations + len(new.statements)), assumed, texts)
        worst = verdict.failures[0]
        order = tuple(
            Note(headline(one), "because", notes=explain(one).notes)
            for one in verdict.failures
            if matched.forced
        )
        failure = NotMatched(f"{headline(worst)}: {witness(worst)}", (worst.parameters,), order)
        if matched.forced:
            break
    return failure


def _schedules(old: Program, new: Program, matched: Match) -> dict[str, isl.Map]:
    """θ'(o) = θ_NEW(n), for every n that is o.

    No two instances have the same time: θ_NEW is the order of a source, and each n is only one o.
    """
    length = new.statements[0].schedule.dim(isl.dim_type.out) if new.statements else 1
    found: dict[str, isl.Map] = {}
    for partners in matched.partners:
        times = partners.relation.reverse().apply_range(new.statement(partners.new).schedule)
        found[partners.old] = found[partners.old].union(times) if partners.old in found else times
    for statement in old.statements:
        if statement.name not in found:
            space = isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, statement.depth, length)
            nothing = isl.Map.empty(space.align_params(statement.domain.get_space().params()))
            found[statement.name] = nothing.set_tuple_name(isl.dim_type.in_, statement.name)
    return {statement.name: found[statement.name].coalesce() for statement in old.statements}


def _scheduled(old: Program, schedules: dict[str, isl.Map]) -> Program:
    statements = (replace(one, schedule=schedules[one.name]) for one in old.statements)
    return replace(old, statements=tuple(statements))


def _calls(new: Program, matched: Match) -> tuple[Call, ...] | None:
    """{ N[n] -> O[o] } as a formula for each statement of NEW."""
    found: list[Call] = []
    for statement in new.statements:
        own = [one for one in matched.partners if one.new == statement.name]
        pieces = [(one.old, part) for one in own for _, part in pieces_of(one.relation)]
        if len(pieces) != 1:
            return None
        ((name, function),) = pieces
        found.append(Call(name, exprs_of(function, statement.iterators)))
    return tuple(found)


def _unmatched(new: Program, wrong: Unmatched) -> NotMatched:
    """Names the line that has no partner, and an example."""
    statement = new.statement(wrong.statement)
    line = statement.body.place.line
    where = f"line {line} of {new.source.path}: {wrong.reason}"
    point = None if wrong.instances is None else smallest_point(wrong.instances)
    if point is None:
        return NotMatched(where)
    sizes = [f"{name} = {value}" for name, value in point.parameters.items()]
    own = [f"{n} = {v}" for n, v in zip(statement.iterators, point.coordinates, strict=True)]
    example = f", for example for {', '.join([*sizes, *own])}" if sizes or own else ""
    return NotMatched(f"{where}{example}", (point.parameters,))
