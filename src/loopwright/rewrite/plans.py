"""A C file as a value to rewrite from Python: what `loopwright transform` does, step by step.

plan = lw.read("kernel.c")["Mult"].interchange("j", "k").tile(32, 32).plan
print(lw.prove(plan))
print(lw.to_c(plan))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import rewritten
from loopwright.rewrite.request import Wishes
from loopwright.say import silent
from loopwright.transform import Plan, plan_of


def read_plans(
    path: str | Path, *, pure: Iterable[str] = (), assume: Sequence[str] = ()
) -> Plan | tuple[Plan, ...]:
    """The region of a C file, in the order its author wrote; several if there are several."""
    plans = tuple(plan_of(program) for program in read_c(str(path), pure=pure, assume=assume))
    return plans[0] if len(plans) == 1 else plans


def plan_to_c(
    plans: Plan | Sequence[Plan], *, openmp: bool = False, allow_reassociation: bool = False
) -> str:
    """The file with new loops where the plans say so, proved as `loopwright transform` proves it.

    Several plans are those of regions of one file, in its order; a region without a plan keeps
    its text.
    """
    several = [plans] if isinstance(plans, Plan) else list(plans)
    wishes = Wishes(openmp=openmp, allow_reassociation=allow_reassociation)
    return rewritten(several, wishes, silent).source.text
