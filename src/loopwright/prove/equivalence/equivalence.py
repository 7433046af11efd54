"""Two affine programs do the same, up to the order of the same statement instances.

    matching    every instance of NEW is an instance of OLD: the same operation on the same cells
    bijection   every instance of OLD is exactly one of NEW
    order       two instances that touch a cell, one of them writing, keep the order of OLD

The last two are the legality of a schedule, θ'(o) = θ_NEW(n) for the n that is o (001, 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.model.program import Program
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import PARAM
from loopwright.prove.equivalence.definitions import differing_names
from loopwright.prove.equivalence.matching import Match, Preference, Unmatched, candidates, match
from loopwright.prove.equivalence.symbolic import first_difference
from loopwright.prove.legality.explain import explain, headline, witness
from loopwright.prove.legality.legality import LegalityVerdict, Status, prove_legal
from loopwright.prove.text.annotations import prove_annotations
from loopwright.prove.text.c_expressions import Unreadable
from loopwright.prove.text.correspondence import prove_model
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict


@dataclass(frozen=True)
class Equivalence:
    """The answer; `explanation` is the long form of a no, where there is one."""

    verdict: Verdict
    explanation: str = ""


def prove_equivalent(old: Program, new: Program) -> Equivalence:
    """Whether `new` runs the statement instances of `old` in an order that changes nothing."""
    try:
        return _prove(old, new)
    except Unreadable as failure:
        return Equivalence(Undecided(f"the loops could not be read a second time: {failure}"))
    except isl.Error as failure:
        raise InternalError(Code.ISL, f"isl could not compare two programs: {failure}") from failure


def _prove(old: Program, new: Program) -> Equivalence:
    different = differing_names(old, new)
    if different:
        return Equivalence(Undecided(f"the files define differently: {', '.join(different)}"))
    old, new = _common_parameters(old, new)
    obligations = 0
    for program in (old, new):
        model = prove_model(program)
        if not isinstance(model, Proved):
            return Equivalence(model)
        obligations += model.obligations
    promised = prove_annotations(new)
    if not isinstance(promised, Proved):
        return Equivalence(promised)
    obligations += promised.obligations
    found = candidates(old, new, old.context)
    reason = ""
    for preference in Preference:
        matched = match(old, new, found, old.context, preference)
        if isinstance(matched, Unmatched):
            reason = _unmatched(new, matched)
            continue
        verdict = prove_legal(old, _schedules(old, new, matched))
        if verdict.status is Status.PROVED:
            return Equivalence(Proved(obligations + verdict.obligations + len(new.statements)))
        failure = verdict.failures[0]
        if matched.forced and verdict.status is Status.ILLEGAL:
            return _illegal(verdict)
        if matched.forced:
            return _by_running(old, new, f"{headline(failure)}: {witness(failure)}")
        reason = f"not with the instances that were matched: {headline(failure)}"
    return _by_running(old, new, reason)


def _common_parameters(old: Program, new: Program) -> tuple[Program, Program]:
    """Both with the parameters of both, and both contexts."""
    space = old.context.get_space().align_params(new.context.get_space())
    context = old.context.align_params(space).intersect(new.context.align_params(space))
    names = tuple(str(space.get_dim_name(PARAM, k)) for k in range(space.dim(PARAM)))
    known = {parameter.name: parameter for parameter in (*new.parameters, *old.parameters)}
    parameters = tuple(known[name] for name in names)
    found = []
    for program in (old, new):
        statements = tuple(
            replace(
                statement,
                domain=statement.domain.align_params(space),
                schedule=statement.schedule.align_params(space),
                accesses=tuple(
                    replace(access, relation=access.relation.align_params(space))
                    for access in statement.accesses
                ),
            )
            for statement in program.statements
        )
        found.append(replace(program, parameters=parameters, context=context, statements=statements))
    return found[0], found[1]


def _schedules(old: Program, new: Program, matched: Match) -> dict[str, isl.Map]:
    """θ'(o) = θ_NEW(n), for every n that is o."""
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


def _illegal(verdict: LegalityVerdict) -> Equivalence:
    found = verdict.failures[0]
    refuted = Refuted("equivalence", headline(found), witness(found), found.parameters)
    return Equivalence(refuted, "\n".join(explain(one) for one in verdict.failures))


def _unmatched(new: Program, wrong: Unmatched) -> str:
    """Which line has no partner, and an example."""
    statement = new.statement(wrong.statement)
    line = new.source.line_of(statement.body.place.start)
    example = ""
    if wrong.instances is not None:
        point = smallest_point(wrong.instances)
        if point is not None:
            sizes = [f"{name} = {value}" for name, value in point.parameters.items()]
            own = [f"{n} = {v}" for n, v in zip(statement.iterators, point.coordinates, strict=True)]
            example = f", for example for {', '.join([*sizes, *own])}" if sizes or own else ""
    return f"line {line} of {new.source.path}: {wrong.reason}{example}"


def _by_running(old: Program, new: Program, reason: str) -> Equivalence:
    """A no, if small runs of both differ whatever the operations compute; else nothing is known."""
    difference = first_difference(old, new)
    return Equivalence(Undecided(reason) if difference is None else difference)
