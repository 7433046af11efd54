"""A C file as a value to rewrite from Python: what `loopwright transform` does, step by step.

    plan = lw.read("kernel.c")["Mult"].interchange("j", "k").tile(32, 32).plan
    print(lw.prove(plan))
    print(lw.to_c(plan))

The command line does one thing more: it reads the text it has made again and proves that too.
"""

from __future__ import annotations

from pathlib import Path

from loopwright.emit.region import Loops, file_text
from loopwright.errors import GaveUp, InternalError
from loopwright.generate import Options, generate
from loopwright.prove.legality.explain import refusal
from loopwright.prove.legality.plans import prove_plan, stages
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.reader import read_c
from loopwright.transform import Plan, flat_schedule, plan_of, to_schedule


def read_plans(path: str | Path) -> Plan | tuple[Plan, ...]:
    """The region of a C file, in the order its author wrote; several if there are several."""
    plans = tuple(plan_of(program) for program in read_c(str(path)))
    return plans[0] if len(plans) == 1 else plans


def plan_to_c(plan: Plan) -> str:
    """The file with the new loops, after the proof that they are legal and run the schedule."""
    error = refusal(prove_plan(plan), stages(plan))
    if error is not None:
        raise error
    node = generate(to_schedule(plan), Options())
    match prove_scan(flat_schedule(plan.program), node):
        case Proved():
            return file_text([Loops(plan.original, node, ())])
        case Refuted(message=message, witness=witness):
            raise InternalError(f"the loops do not run the schedule: {message} ({witness})")
        case Undecided(reason):
            raise GaveUp(f"could not decide that the loops run the schedule: {reason}")
