"""The CUDA target: mapped loops become kernels, and launches are read back as C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopwright.emit.cuda.launches import SHARED_TILE
from loopwright.emit.cuda.predication import predicated, register_lengths
from loopwright.emit.cuda.text import DeviceText, device_text, distributions, prelude
from loopwright.emit.cuda.uniform import with_uniform_tests
from loopwright.emit.region import Loops
from loopwright.errors import REPORT, BadInput, Code, InternalError
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.annotations import BlockLoop, ThreadLoop
from loopwright.model.program import MemorySpace, Program
from loopwright.model.schedule import LoopType
from loopwright.prove.legality.plans import independent_loops
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.inherited import prove_inherited
from loopwright.prove.text.launcher import read_launches
from loopwright.prove.verdict import Proved
from loopwright.rewrite.evidence import Evidence, proof
from loopwright.rewrite.request import INHERITED, KERNELS
from loopwright.rewrite.targets import RewriteTarget, TargetText
from loopwright.rewrite.versions import full_tile_loops, with_launches, with_versions
from loopwright.source import Source
from loopwright.transform import Plan, to_schedule
from loopwright.transform.directives import DirectiveKind


class CudaTarget(RewriteTarget):
    """Kernels, and the C file that launches them."""

    name = "cuda"
    refused = (DirectiveKind.PARALLEL, DirectiveKind.VECTORIZE)
    hint = "map loops by 'block' and 'thread'"
    on_host = False

    def generated(self, plan: Plan) -> Node:
        lengths = register_lengths(plan.program)
        node = full_tile_loops(plan, lengths)
        own = [array for array in plan.program.arrays if array.space is MemorySpace.PRIVATE]
        in_lanes, in_warps = bool(own), any(array.rank == SHARED_TILE for array in own)
        if node is None:
            kind = LoopType.ATOMIC if in_lanes else LoopType.DEFAULT
            node = generate(to_schedule(plan), GenerationOptions(loop_type=kind))
        node = predicated(with_versions(plan, node), lengths, tested=in_lanes)
        if in_warps:
            return with_uniform_tests(node)
        return with_launches(node) if in_lanes else node

    def printed(self, loops: Sequence[Loops], plans: Sequence[Plan], *, prove: bool) -> TargetText:
        originals, written = [plan.original for plan in plans], [plan.written for plan in plans]
        try:
            device = _device(loops, originals, written)
        except BadInput as error:
            raise _at_step(error, plans) from error
        if not prove:
            return TargetText(device.host, device.kernels, device.host)
        return TargetText(device.host, device.kernels, *of_launches(device, originals, written))

    def loops_of_text(self, loops: Loops) -> Node:
        return loops.named

    def inherited(self, plan: Plan, printed: Node, new: Program, calls: Sequence[Call]) -> Evidence | None:
        """The facts that kernel source inherits from the schedule; if that fails, its accesses are
        compared."""
        distributed = [
            one
            for loop in subprograms(printed)
            if isinstance(loop, For)
            for one in loop.annotations
            if isinstance(one, BlockLoop | ThreadLoop)
        ]
        verdict = prove_inherited(plan.program, new, calls, independent_loops(plan), distributed)
        return proof(INHERITED, verdict.obligations) if isinstance(verdict, Proved) else None


def _at_step(error: BadInput, plans: Sequence[Plan]) -> BadInput:
    """Move errors about source that an operation generated to the operation in the script."""
    span = error.diagnostic.span
    for plan in plans:
        for change in reversed(plan.storage):
            if span is not None and change.after.region.source is span.source:
                made = plan.history[change.step].step
                return BadInput.of(replace(error.diagnostic, span=made.span))
    return error


def _device(loops: Sequence[Loops], originals: Sequence[Program], written: Sequence[Program]) -> DeviceText:
    """Kernels with 32-bit integers if their numbers are proved to fit, else with 64 bits."""
    narrow = device_text(loops, narrow=True)
    try:
        read_launches(narrow.kernels, narrow.host, prelude(), originals, written)
    except Unreadable:
        return device_text(loops)
    return narrow


def of_launches(
    device: DeviceText, originals: Sequence[Program], written: Sequence[Program]
) -> tuple[Source, Evidence]:
    """The C source equivalent to the launches, read back from both files; loops are distributed as
    requested."""
    try:
        found = read_launches(device.kernels, device.host, prelude(), originals, written)
    except Unreadable as failure:
        message, hint = f"the kernels cannot be read back: {failure}", f"nothing was written; {REPORT}"
        raise InternalError(Code.OWN_MISTAKE, message, hint=hint) from None
    if tuple(one.distributed for one in found) != distributions(device):
        raise InternalError(Code.OWN_MISTAKE, "the loops of the kernels are not mapped as they say")
    text = device.emulated([one.text for one in found])
    sizes = "arrays that are copied to a device have the sizes that their declarations say"
    mapped = proof(KERNELS, sum(len(one.distributed) for one in found))
    return text, mapped + Evidence(trusted=(sizes,))
