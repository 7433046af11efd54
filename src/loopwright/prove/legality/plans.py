"""Proves a plan: its composed schedule, and the loops it marks parallel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import islpy as isl

from loopwright.model.annotations import IndependentLoops
from loopwright.model.dependences import Dependence, memory_based
from loopwright.model.program import Program
from loopwright.prove.legality.explain import Stage
from loopwright.prove.legality.legality import LegalityVerdict, is_legal, prove_legal
from loopwright.prove.legality.parallel import ParallelLoop
from loopwright.prove.legality.pretests import prove_pretests
from loopwright.prove.legality.reductions import Reassociation, reassociation, shared_steps
from loopwright.prove.legality.storage import prove_storage
from loopwright.prove.legality.summands import prove_summands
from loopwright.prove.legality.values import WrongValue
from loopwright.prove.legality.violation import Occurrence
from loopwright.source import Span
from loopwright.transform.directives import DirectiveKind, LoopDirective
from loopwright.transform.plan import Plan
from loopwright.transform.scheduling import annotation_of
from loopwright.transform.storage import StorageChange
from loopwright.transform.vectors import Position


def prove_plan(
    plan: Plan,
    *,
    allow_reassociation: bool = False,
    dependences: Iterable[Dependence] | None = None,
    lanes: bool = True,
    host: bool = True,
    known: Sequence[StorageChange] = (),
    distances: Mapping[Span, int] = MappingProxyType({}),
) -> LegalityVerdict:
    """Proves that the plan computes what the original program does.

    The proof has several steps: an order of the original program, other storage in that order, an order of
    the result, and so on.  `dependences` are those of the program, if known; if a plan changes storage, it
    has several programs, and their dependences are computed.  Without `lanes` nothing is assumed about the
    order in which the lanes of a vector run; on a device other than the `host`, storage is not allocated with
    tests of its sizes.  The `known` changes have been proved before.  Of parallel loops at these places,
    iterations with times that differ by `distances` or more are in order.
    """
    obligations = stored = 0
    assumed: tuple[Reassociation, ...] = ()
    for change in plan.storage:
        if any(change is one for one in known):
            continue
        found = _changed(plan, change, allow_reassociation=allow_reassociation, host=host)
        obligations += found.obligations
        if not found.proved:
            return replace(found, obligations=obligations)
        stored += found.storage
        assumed += found.reassociations
    given = None if plan.storage else dependences
    verdict = prove_order(
        plan,
        dependences=given,
        allow_reassociation=allow_reassociation,
        lanes=lanes,
        distances=distances,
    )
    return replace(
        verdict,
        obligations=verdict.obligations + obligations,
        storage=stored,
        reassociations=_once(assumed, verdict.reassociations),
    )


def _once(earlier: Sequence[Reassociation], last: Sequence[Reassociation]) -> tuple[Reassociation, ...]:
    """The assumptions of all steps; those of the last order name their parallel loops."""
    said = {one.assumption for one in last}
    return (*{one.assumption: one for one in earlier if one.assumption not in said}.values(), *last)


def _changed(plan: Plan, change: StorageChange, *, allow_reassociation: bool, host: bool) -> LegalityVerdict:
    """Checks the order in which a change of storage was made, and the change."""
    moved = _moved(change.original, change.before)
    order = prove_legal(
        change.original,
        change.before,
        allow_reassociation=allow_reassociation,
        dependences=memory_based(change.original, of=moved),
        temporaries=True,
    )
    if not order.proved:
        return _with_loops(plan, order)
    split: tuple[Reassociation, ...] = ()
    if change.summands:
        values, step = prove_summands(change, allow_reassociation=allow_reassociation)
        split = (replace(reassociation(change.before, step), parted=True),)
    elif change.tests:
        values = prove_pretests(change)
    else:
        values = prove_storage(change, host=host)
    asked = order.obligations + values.obligations
    if values.wrong:
        return LegalityVerdict(asked, wrong=tuple(_blamed(plan, change, one) for one in values.wrong))
    return LegalityVerdict(asked, storage=values.obligations, reassociations=(*order.reassociations, *split))


def prove_order(
    plan: Plan,
    *,
    dependences: Iterable[Dependence] | None = None,
    allow_reassociation: bool = False,
    lanes: bool = True,
    distances: Mapping[Span, int] = MappingProxyType({}),
) -> LegalityVerdict:
    """Proves the order of the program that the last change of storage produced.

    `dependences` are those of that program, if known.
    """
    given = [(one, None if one.span is None else distances.get(one.span)) for one in parallel_loops(plan)]
    verdict = prove_legal(
        plan.original,
        plan.program,
        parallel=[replace(one, lanes=one.lanes and lanes, near=near) for one, near in given],
        allow_reassociation=allow_reassociation,
        dependences=dependences,
        temporaries=True,
    )
    return _with_loops(plan, verdict)


def is_kept(
    plan: Plan, dependences: Iterable[Dependence], *, before: Plan | None, allow_reassociation: bool = False
) -> bool:
    """Whether `prove_order` would succeed, without examples; `dependences` are those of `ordering`.

    `before` is a plan with the same storage that is known to be legal: dependences between statements that
    keep their times are preserved, except those on temporaries, which depend on every access to them.
    """
    parallel, deps = parallel_loops(plan), tuple(dependences)
    if before is not None and before.original is plan.original and not parallel:
        moved = _moved(before.program, plan.program)
        moving = {one.name for one in plan.original.arrays if plan.original.is_private(one)}
        deps = tuple(one for one in deps if {one.source, one.sink} & moved or one.array in moving)
    if parallel:
        deps += shared_steps(plan.original)
    return is_legal(
        plan.original,
        plan.program,
        parallel=parallel,
        allow_reassociation=allow_reassociation,
        dependences=deps,
    )


def _moved(before: Program, after: Program) -> frozenset[str]:
    """The statements with new times; between two others every dependence is preserved."""
    known = {one.name: one.schedule for one in before.statements}
    return frozenset(one.name for one in after.statements if not _is_same(one.schedule, known[one.name]))


def _is_same(one: isl.Map, other: isl.Map) -> bool:
    return bool(one.get_space().is_equal(other.get_space()) and one.plain_is_equal(other))


def _blamed(plan: Plan, change: StorageChange, wrong: WrongValue) -> WrongValue:
    step = plan.history[change.step].step
    return replace(wrong, operation=step.span, text=str(step))


def _with_loops(plan: Plan, verdict: LegalityVerdict) -> LegalityVerdict:
    return replace(
        verdict,
        defects=tuple(
            replace(one, instances=tuple(_placed(plan, instance) for instance in one.instances))
            for one in verdict.defects
        ),
        violations=tuple(
            replace(one, first=_placed(plan, one.first), second=_placed(plan, one.second))
            for one in verdict.violations
        ),
    )


def _placed(plan: Plan, occurrence: Occurrence) -> Occurrence:
    """The occurrence with the names of the loops around it, as in scripts."""
    leaf = next((leaf for leaf in plan.leaves if leaf.position == occurrence.after[::2]), None)
    return occurrence if leaf is None else replace(occurrence, loops=leaf.loops)


def parallel_loops(plan: Plan) -> tuple[ParallelLoop, ...]:
    """The parallel loops of the plan, with everything inside them."""
    everything = tuple(statement.name for statement in plan.program.statements)
    return tuple(
        ParallelLoop(
            dimension=directive.dimension,
            statements=everything,
            name=f"the loop over {_iterator(plan, directive, path)}{_mapped(directive)}",
            positions=path,
            span=directive.span,
            combines=directive.kind in (DirectiveKind.PARALLEL, DirectiveKind.VECTORIZE),
            privatises=True,
            lanes=directive.kind is DirectiveKind.VECTORIZE,
            blocks=directive.kind is DirectiveKind.BLOCK,
        )
        for directive in plan.directives
        if annotation_of(directive) is not None
        for path in directive.paths
    )


def _mapped(directive: LoopDirective) -> str:
    """What executes the iterations of a GPU loop."""
    return f" ({directive.kind.value}s along {directive.axis})" if directive.axis else ""


def independent_loops(plan: Plan) -> tuple[IndependentLoops, ...]:
    """The same loops for the scanning proof: those to be marked independent, and how."""
    return tuple(
        IndependentLoops(type(annotation), directive.dimension, path)
        for directive in plan.directives
        if (annotation := annotation_of(directive)) is not None
        for path in directive.paths
    )


def _iterator(plan: Plan, directive: LoopDirective, path: Position) -> str:
    inside = next(position for position in directive.positions if position[: len(path)] == path)
    return plan.leaf(inside).loops[directive.loop]


def stages(plan: Plan) -> tuple[Stage, ...]:
    """The operations of the plan, for explanations."""
    return tuple(
        Stage(str(one.step), one.step.span, {item.name: item.schedule for item in one.program.statements})
        for one in plan.history
    )
