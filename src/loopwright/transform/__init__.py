"""Loop components, the four operators of [Namjoshi2016], and the named transformations made of them."""

from loopwright.transform.directives import DirectiveKind, LoopDirective
from loopwright.transform.perform import transform
from loopwright.transform.plan import Plan, plan_of
from loopwright.transform.scheduling import flat_schedule, to_schedule
from loopwright.transform.script.steps import Step, parse_script, script_text

__all__ = [
    "DirectiveKind",
    "LoopDirective",
    "Plan",
    "Step",
    "flat_schedule",
    "parse_script",
    "plan_of",
    "script_text",
    "to_schedule",
    "transform",
]
