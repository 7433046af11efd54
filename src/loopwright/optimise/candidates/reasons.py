"""Explains scripts: gives the reason for each step in one line.

It also combines one script per region into one for the file, in which each step applies only to its region.

Handles of several regions, such as S1, are replaced where a line and a loop denote the same, and are defined
by these before use:  S1_2 = lift(@17, 3).  Names bound by steps get the number of the region as suffix.
Steps for a whole file, such as `widen()`, occur once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import Script, in_their_rows
from loopwright.optimise.candidates.tiles import ELEMENT
from loopwright.optimise.model.machine import Machine
from loopwright.rewrite.scripts import regions_of
from loopwright.transform.perform import performed
from loopwright.transform.plan import Plan
from loopwright.transform.script import operations
from loopwright.transform.script.arguments import NAME
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Lift, Widen
from loopwright.transform.script.steps import Step


@dataclass(frozen=True)
class Reasoned:
    """A step and the reason for it."""

    step: Step
    reason: str


def reasoned(script: Script, plans: Sequence[Plan], machine: Machine) -> tuple[Reasoned, ...]:
    """The steps of a script, each with its reason in the program that it changes."""
    now = list(plans)
    found: list[Reasoned] = []
    for step in script:
        regions = regions_of(step, now)
        for index in regions:
            now[index] = performed(now[index], step)
        found.append(Reasoned(step, _reason(step.operation, now[regions[0]], machine)))
    return tuple(found)


_APART = "separate loops for each statement, so that they can be reordered independently"
_FORWARDS = "moved so that every dependence goes forwards"
_REASONS: dict[type[operations.Operation], str] = {
    operations.DistributeLegally: _APART,
    operations.Distribute: _APART,
    operations.Fuse: "statements that use the same data run in the same loops",
    operations.Reorder: "makes statements adjacent, so that they can share loops",
    operations.Affine: "all statements on common coordinates, which every dependence follows forwards",
    operations.Skew: _FORWARDS,
    operations.Shift: _FORWARDS,
    operations.Isplit: "full register blocks first, without guards; the remainder follows",
    operations.Contract: "a small buffer that stays in a cache, for values read soon after they are written",
    operations.Hexagon: "tiles that grow and shrink over the steps: the tiles of a phase are independent",
    operations.Expand: "a separate cell for each iteration, so that iterations do not conflict",
    operations.Unroll: "unrolled, so that accumulators stay in registers",
    operations.Pad: "padded rows: cells of one column do not map to the same cache lines",
    operations.Rename: "a separate variable, not shared with other loops",
    operations.SplitSum: "so that each product and its addition are one operation",
    operations.Pretest: "the tests of a block are vector code, and few blocks have to run",
    operations.Isolate: "full blocks apart, in loops of constant length",
    operations.Lift: "a handle on the loop around",
    operations.Parallelize: "iterations that do not depend on each other, one part for each thread",
    operations.Vectorize: "iterations that do not depend on each other, in the lanes of a vector",
    operations.Widen: "64-byte vectors on processors that have them: gcc uses 32 bytes by default",
}


def _reason(operation: operations.Operation, after: Plan, machine: Machine) -> str:
    match operation:
        case operations.Permute(target=target) | operations.Interchange(target=target):
            return _order(after, target)
        case operations.Tile(sizes=sizes, skew=skew):
            return _tile(sizes, machine, is_skewed=skew)
        case operations.UnrollAndJam(factors=factors):
            copies = " x ".join(str(one.number) for one in factors)
            shared = "they share loads, and their latencies overlap"
            return f"{copies} iterations unrolled inside the innermost loop: {shared}"
        case operations.Pack(written=True):
            return "what is written has storage of its own, which no pointer to other data leads to"
        case operations.Pack(transposed=transposed):
            what = "a transposed copy, read along its rows" if transposed else "a copy without gaps"
            return f"{what}, made once and read often"
        case operations.StripMine(size=size):
            return f"{size} iterations at a time, with a place of their own for what follows"
        case _:
            return _REASONS.get(type(operation), "makes the steps after it possible")


def _order(plan: Plan, handle: str) -> str:
    component = plan.component(handle)
    loops = plan.leaf(component.first).loops
    smooth, every = in_their_rows(plan, component, len(loops) - 1)
    return f"{smooth} of {every} accesses go along rows in the innermost loop, {loops[-1]}"


def _tile(sizes: Sequence[LoopNumber], machine: Machine, *, is_skewed: bool) -> str:
    cells = 1
    for one in sizes:
        cells *= one.number
    size = cells * ELEMENT
    level = next((k for k, one in enumerate(machine.caches, 1) if size <= one.size), len(machine.caches))
    how = "slanted blocks" if is_skewed else "blocks"
    shape = " x ".join(str(one.number) for one in sizes)
    return f"{how} of {shape} iterations, for data that stay in the L{level} cache"


def apart(plans: Sequence[Plan]) -> tuple[Plan, ...]:
    """The plans without handles that another region has too, unless they can be defined."""
    known = Counter(name for plan in plans for name in plan.components)
    shared = {name for name, count in known.items() if count > 1}
    return tuple(plan.without({name for name in shared if _definition(plan, name) is None}) for plan in plans)


def _definition(plan: Plan, name: str) -> Step | None:
    """The handle of statements that share no loop with others, by their line and loop."""
    component = plan.components.get(name)
    if component is None or NAME.fullmatch(name) is None:
        return None
    depth = plan.leaf(component.first).depth
    if len(component.positions) > 1 or not depth or plan.sharing(component, depth - 1).positions:
        return None
    lines = (one for one, known in plan.components.items() if known == component)
    line = next((one for one in lines if NAME.fullmatch(one) is None), None)
    return None if line is None else Step(Lift(line, depth), (name,))


def together(parts: Sequence[Script], plans: Sequence[Plan]) -> Script | None:
    """The scripts of the regions as one; None if a step would also apply to another region."""
    known = Counter(name for plan in plans for name in plan.components)
    now, done = list(plans), list[Step]()
    for number, part in enumerate(parts):
        used = dict.fromkeys(name for step in part for name in step.operation.handles if known[name] > 1)
        begun = [step for name in used if (step := _definition(plans[number], name)) is not None]
        for step in _named((*begun, *part), f"_{number + 1}"):
            try:
                if list(regions_of(step, now)) != [number]:
                    return None
                now[number] = performed(now[number], step)
            except BadInput:
                return None
            done.append(step)
    is_wide = any(isinstance(step.operation, Widen) for part in parts for step in part)
    return (*done, Step(Widen())) if is_wide else tuple(done)


def _named(part: Script, suffix: str) -> list[Step]:
    """The steps of one region, with its own names for the handles they bind."""
    names: dict[str, str] = {}
    found = []
    for step in part:
        if not isinstance(step.operation, Widen):
            operation = step.operation.with_handles(names)
            names |= {name: f"{name}{suffix}" for name in step.binds}
            found.append(replace(step, operation=operation, binds=tuple(names[one] for one in step.binds)))
    return found
