"""Compares a source with what it should execute: its model, or the schedule it was generated from.

`prove_model`: the model that was read defines the instances and when each one runs; so do the loops of the
source. The loops are translated from the syntax tree into LOOP, independently of the reader, and proved to
execute exactly the model's schedule [Namjoshi2016, section 4.2]: here with isl, every instance once, no
others, in the order of the times; in `ranking` with cvc5, step by step, by the conditions of that section.

`prove_text`: reads the loops and the operations of the statements of an emitted source again.  Which instance
of the original a statement executes is a claim, `Call(S, arguments)`, and claims are proved like everything
else:

    operation   the statement has the text of S, up to integer expressions, and those have the
                values they have at the claimed instance of S: so it is the same operation on the
                same cells;
    scanning    the loops execute every instance of the schedule, once, in its order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.syntax import Node as SyntaxNode
from loopwright.errors import Code, InternalError
from loopwright.loops.expressions import Expr
from loopwright.loops.nodes import Call, Node
from loopwright.loops.traverse import variables
from loopwright.model.annotations import Independent, IndependentLoops
from loopwright.model.program import Array, Program, Statement
from loopwright.presburger.dimensions import selection
from loopwright.presburger.points import smallest_point, values_text
from loopwright.presburger.sets import IN, OUT, isl_failures
from loopwright.prove.reading.c_expressions import Unreadable, Words
from loopwright.prove.reading.loops import NOTHING, sides, text_loops, values_at
from loopwright.prove.reading.operation import (
    Different,
    Equation,
    StatementSyntax,
    Uncompared,
    same_operation,
)
from loopwright.prove.scanning.scan import ScannedLoops, prove_scan
from loopwright.prove.text.text_model import converted_bound, typed_like
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from loopwright.transform.scheduling import flat_schedule


def prove_model(program: Program) -> Verdict:
    """Proves that the model describes what the source of the region does, for all parameters."""
    try:
        loops = text_loops(program)
    except Unreadable as failure:
        return Undecided(str(failure))
    return prove_scan(flat_schedule(program), loops)


def prove_text(
    intended: Program,
    new: Program,
    claims: Sequence[Call],
    independent: Sequence[IndependentLoops] = (),
    marked: Mapping[SyntaxNode, Independent] = NOTHING,
    scanned: ScannedLoops | None = None,
) -> Verdict:
    """Proves that the source `new` executes the statements of `intended` by its schedule.

    `claims` gives, for each statement of `new` in source order, the instance of `intended` that it executes,
    in terms of the names in the source.  The `marked` loops, and no others, scan `independent` dimensions in
    the stated way. `scanned` are loops proved to execute the schedule of `intended`: if those of the source
    are identical and none is marked, the proof is not repeated.
    """
    claimed = prove_claims(intended, new, claims)
    if not isinstance(claimed, Proved):
        return claimed
    converted = converted_bound(new)
    if converted is not None:
        return Undecided(f"'{converted.text}' may be another number in the unsigned type it is converted to")
    loops = claimed_loops(new, claims, marked)
    if scanned is not None and not independent and not marked and scanned.are(loops):
        return Proved(scanned.obligations + claimed.obligations)
    verdict = prove_scan(flat_schedule(intended), loops, independent)
    return Proved(verdict.obligations + claimed.obligations) if isinstance(verdict, Proved) else verdict


def claimed_loops(
    new: Program, claims: Sequence[Call], marked: Mapping[SyntaxNode, Independent] = NOTHING
) -> Node:
    """The loops of the source around the claimed instances, with the annotations of the `marked` ones."""
    by_name = {new.statements[k].name: claim for k, claim in enumerate(claims)}

    def call(statement: Statement, words: Words) -> Call:
        return by_name[statement.name]

    return text_loops(new, call, marked)


@isl_failures("isl could not decide about the text")
def prove_claims(old: Program, new: Program, claims: Sequence[Call]) -> Verdict:
    """Proves that each statement of `new` is the operation of the claimed instance, wherever it runs."""
    try:
        return _prove_claims(old, new, claims)
    except Unreadable as failure:
        return Undecided(f"the text cannot be read: {failure}")


def _prove_claims(old: Program, new: Program, claims: Sequence[Call]) -> Verdict:
    new = typed_like(new, old)
    wrong = _different_setting(old, new)
    if wrong is not None:
        return Undecided(wrong)
    after = sides(new)
    wrong = _misfit(old, new, after, claims)
    if wrong is not None:
        return Undecided(wrong)
    by_name = {new.statements[k].name: claim for k, claim in enumerate(claims)}
    try:
        before = sides(old)
        equations = {name: same_operation(before[one.name], after[name]) for name, one in by_name.items()}
    except Uncompared as failure:
        return Undecided(f"expressions in a statement of the text cannot be compared: {failure}")
    except Different as failure:
        return Refuted("operation", f"a statement of the text is another one: {failure}", "all sizes")
    mistaken = _false_claim(old, new, by_name, equations)
    return mistaken or Proved(len(claims) + sum(map(len, equations.values())))


def modelled(old: Program, new: Program, claims: Sequence[Call]) -> Program:
    """`new` with the domains from its source, and the accesses of the instances it executes.

    `prove_text` must have proved the claims.
    """
    by_name = {new.statements[k].name: claim for k, claim in enumerate(claims)}
    instances = values_at(new, {name: claim.arguments for name, claim in by_name.items()}, old.context)
    statements: list[Statement] = []
    for statement in new.statements:
        original = old.statement(by_name[statement.name].name)
        same = instances[statement.name].set_tuple_name(OUT, original.name)
        places = [mine.place for mine in statement.accesses]
        if len(places) != len(original.accesses):  # the memory that a call may access is not in its text
            places = [statement.body.place] * len(original.accesses)
        accesses = tuple(
            replace(theirs, relation=same.apply_range(theirs.relation), place=place)
            for place, theirs in zip(places, original.accesses, strict=True)
        )
        schedule = statement.schedule.align_params(same.get_space().params())
        domain = same.domain()
        statements.append(replace(statement, domain=domain, schedule=schedule, accesses=accesses))
    return replace(new, statements=tuple(statements))


def _different_setting(old: Program, new: Program) -> str | None:
    """Returns how parameters or storage differ; they must agree for equal text to have an equal meaning.

    A parameter or array that the source only reads may occur in the original only in the value of a local
    that is substituted.
    """
    extra = [name for name in new.params if name not in old.params]
    if extra:
        return f"the text has parameters that the original lacks: {', '.join(extra)}"
    one, other = ({array.name: _declared(array) for array in p.arrays} for p in (old, new))
    written = {access.array for statement in new.statements for access in statement.writes}
    changed = [
        name
        for name, declared in other.items()
        if one.get(name, declared) != declared or (name not in one and (declared[2] or name in written))
    ]
    if changed:
        return f"declared differently in the text: {', '.join(changed)}"
    return None


def _misfit(
    old: Program, new: Program, after: Mapping[str, StatementSyntax], claims: Sequence[Call]
) -> str | None:
    """Returns why the claims cannot be about these programs."""
    if len(claims) != len(new.statements):
        return f"the text has {len(new.statements)} statements, not {len(claims)}"
    depths = {statement.name: statement.depth for statement in old.statements}
    for statement, claim in zip(new.statements, claims, strict=True):
        if depths.get(claim.name) != len(claim.arguments):
            return f"the original has no statement {claim.name} with {len(claim.arguments)} iterators"
        known = {*old.params, *after[statement.name].words.values}
        strange = sorted({name for one in claim.arguments for name in variables(one)} - known)
        if strange:
            return f"{strange[0]} is not a name of the text"
    return None


def _declared(array: Array) -> tuple[int, str | None, bool, tuple[str, ...]]:
    return array.rank, array.element_type, array.local, array.extents


def _false_claim(
    old: Program, new: Program, claims: dict[str, Call], equations: dict[str, tuple[Equation, ...]]
) -> Refuted | None:
    """{ N[n] -> [arguments, new values] } is inside { [o, old values at o] }, for every statement."""
    claimed = values_at(
        new,
        {name: (*claim.arguments, *(e.new for e in equations[name])) for name, claim in claims.items()},
        old.context,
    )
    columns: dict[str, dict[Expr, int]] = {}
    for name, claim in claims.items():
        own = columns.setdefault(claim.name, {})
        for equation in equations[name]:
            own.setdefault(equation.old, len(own))
    values = values_at(old, {name: tuple(own) for name, own in columns.items()}, old.context)
    for name, claim in claims.items():
        wanted = [columns[claim.name][equation.old] for equation in equations[name]]
        graph = _graph(values[claim.name], wanted)
        wrong = claimed[name].range().subtract(graph)
        if not wrong.is_empty():
            return _refuted(old.statement(claim.name), new.statement(name), wrong)
    return None


def _graph(values: isl.Map, wanted: list[int]) -> isl.Set:
    """{ [o, the wanted values at o] }."""
    chosen = selection(values.get_space().range(), wanted)
    return values.apply_range(chosen).reset_tuple_id(IN).wrap().flatten()


def _refuted(old: Statement, new: Statement, wrong: isl.Set) -> Refuted:
    point = smallest_point(wrong)
    if point is None:
        raise InternalError(Code.INTERNAL, "a claim about the text is false, but nowhere")
    instance = point.coordinates[: old.depth]
    sizes = values_text(point.parameters)
    line = new.body.place.line
    shown = f"{old.name}({', '.join(map(str, instance))})"
    message = f"line {line} of the new text does not do what {shown} does"
    return Refuted("operation", message, f"{sizes}: {shown}", point.parameters, ((old.name, instance),))
