"""Applies a script to the regions of a file, each operation to the region it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopwright.emit.names import loop_names
from loopwright.emit.openmp import PrivateStorage, ReductionStep
from loopwright.emit.quotients import quotients_in
from loopwright.emit.region import Loops, region_text
from loopwright.errors import BadInput, Code
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Node
from loopwright.model.program import MemorySpace
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.privatisation import innermost_scope
from loopwright.transform import Plan, to_schedule
from loopwright.transform.perform import performed
from loopwright.transform.script.operations import Overlap, Pretest, SplitSum, StorageOperation, Stream
from loopwright.transform.script.steps import Step


@dataclass(frozen=True)
class AppliedScript:
    """The regions' plans after the script; `steps` are the operations and their results."""

    plans: tuple[Plan, ...]
    steps: tuple[tuple[str, str], ...] = ()


def applied(script: Sequence[Step], plans: Sequence[Plan], *, steps: bool = False) -> AppliedScript:
    """Apply each operation in the region of its handles, or in all regions if it names none."""
    now = list(plans)
    shown: list[tuple[str, str]] = []
    for step in script:
        for index in regions_of(step, now):
            now[index] = performed(now[index], step)
            if steps:
                shown.append((str(step), text_of_plan(now[index])))
    return AppliedScript(tuple(now), tuple(shown))


def text_of_plan(plan: Plan, verdict: LegalityVerdict | None = None, *, openmp: bool = False) -> str:
    """The unproved source of a plan's region; `verdict` is that on the plan, if known."""
    node = generate(to_schedule(plan), GenerationOptions())
    if verdict is None and openmp and plan.directives:
        verdict = prove_plan(plan)
    return region_text(loops_of(plan, node, verdict), openmp=openmp)


def loops_of(plan: Plan, node: Node, verdict: LegalityVerdict | None) -> Loops:
    """The loops with their names in scripts, and the storage facts of `verdict`."""
    made = Loops(
        plan.original,
        node,
        names=loop_names(plan),
        scopes=_scopes(plan),
        written=plan.written,
        quotients=quotients_in(plan),
        wide=plan.is_widened,
        fetched=plan.fetched,
    )
    if verdict is None:
        return made
    racing = [one for one in verdict.reassociations if one.loops]
    accumulations = tuple(ReductionStep(one.statement, one.operator, one.array) for one in racing)
    private = tuple(
        PrivateStorage(one.array, one.last, one.statements, one.dimension // 2) for one in verdict.private
    )
    return replace(made, accumulations=accumulations, private=private, lanes=verdict.lanes)


def _scopes(plan: Plan) -> dict[str, int]:
    """For variables of the region, the depth of the innermost loops they can be declared in."""
    local = [one for one in plan.program.arrays if one.local and one.space is not MemorySpace.HEAP]
    found = ((array.name, innermost_scope(plan.program, array)) for array in local)
    return {name: depth for name, depth in found if depth is not None}


def regions_of(step: Step, plans: Sequence[Plan]) -> Sequence[int]:
    """The only region with the step's handles; all if it names none."""
    named = step.operation.handles
    operation = step.operation
    if (
        isinstance(operation, StorageOperation)
        and not isinstance(operation, Overlap | Pretest | SplitSum | Stream)
        and not named
    ):
        variable = operation.variable
        using = [k for k, plan in enumerate(plans) if variable in {one.name for one in plan.program.arrays}]
        return using or range(1)
    if len(plans) == 1 or not named:
        return range(len(plans))
    handles = [name for name in named if any(name in plan.components for plan in plans)]
    fitting = [
        k for k, plan in enumerate(plans) if handles and all(name in plan.components for name in handles)
    ]
    if len(fitting) == 1:
        return fitting
    if not handles:
        names = ", ".join(dict.fromkeys(tag.name for plan in plans for tag in plan.program.tags))
        hint = f"the labels are {names}" if names else "name loops by their line, such as @12"
        message = "no region has a loop component with this name"
        raise BadInput(Code.NO_COMPONENT, message, span=step.span, hint=hint)
    what = "belongs to several regions" if fitting else "names loops of different regions"
    hint = "name loops by their line, such as @12, or by labels of their own"
    raise BadInput(Code.NO_COMPONENT, f"this operation {what}", span=step.span, hint=hint)
