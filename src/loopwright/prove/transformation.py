"""A plan proved: its composed schedule, and the loops it marks parallel."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.errors import Span
from loopwright.model.dependences import Dependence
from loopwright.prove.blame import Stage
from loopwright.prove.legality import LegalityVerdict, prove_legal
from loopwright.prove.parallel import ParallelLoop
from loopwright.transform.plan import Directive, DirectiveKind, Plan

IN_ANY_ORDER = (DirectiveKind.PARALLEL, DirectiveKind.VECTORIZE)


def prove_plan(
    plan: Plan, *, allow_reassociation: bool = False, dependences: Iterable[Dependence] | None = None
) -> LegalityVerdict:
    """Whether the plan computes what its original program does."""
    return prove_legal(
        plan.original,
        plan.program,
        parallel=parallel_loops(plan),
        allow_reassociation=allow_reassociation,
        dependences=dependences,
    )


def parallel_loops(plan: Plan) -> tuple[ParallelLoop, ...]:
    """The loops whose iterations the plan runs in any order."""
    return tuple(
        ParallelLoop(
            directive.dimension,
            directive.statements,
            f"the loop over {_iterator(plan, directive)}",
            path,
            _span(plan, directive),
        )
        for directive in plan.directives
        if directive.kind in IN_ANY_ORDER
        for path in directive.paths
    )


def _iterator(plan: Plan, directive: Directive) -> str:
    return plan.leaf(directive.positions[0]).loops[directive.loop]


def _span(plan: Plan, directive: Directive) -> Span | None:
    """The operation that asks for this, where only one in the script does."""
    asking = [step for step in plan.history if directive.kind.value in step.text]
    return asking[0].span if len(asking) == 1 else None


def stages(plan: Plan) -> tuple[Stage, ...]:
    """The operations of the plan, for explanations."""
    return tuple(
        Stage(step.text, step.span, {item.name: item.schedule for item in step.program.statements})
        for step in plan.history
    )
