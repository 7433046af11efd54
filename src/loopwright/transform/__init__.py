"""Loop components, the four operators of [Namjoshi2016], and the named transformations made of them."""

from loopwright.transform.interpret import transform
from loopwright.transform.plan import Directive, DirectiveKind, Plan, Step, plan_of
from loopwright.transform.scheduling import flat_schedule, to_schedule

__all__ = [
    "Directive",
    "DirectiveKind",
    "Plan",
    "Step",
    "flat_schedule",
    "plan_of",
    "to_schedule",
    "transform",
]
