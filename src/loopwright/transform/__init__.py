"""Loop components, the four operators of [Namjoshi2016], and the named transformations made of them."""

from loopwright.transform.directives import DirectiveKind, LoopDirective
from loopwright.transform.handle import FluentPlan, plan_of, transform
from loopwright.transform.plan import Plan
from loopwright.transform.scheduling import flat_schedule, to_schedule
from loopwright.transform.script.steps import Step, parse_script, script_text

__all__ = [
    "DirectiveKind", "FluentPlan", "LoopDirective", "Plan", "Step", "flat_schedule", "parse_script",
    "plan_of", "script_text", "to_schedule", "transform",
]
