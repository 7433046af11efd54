"""The moving picture as a widget of a notebook: the one of the page, with sliders that Python answers."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from loopwright.arguments import expected, one_of, problem_sizes
from loopwright.display import public
from loopwright.errors import BadInput, Code
from loopwright.prove.legality.plans import prove_plan
from loopwright.report.page import moving_style, widget_script
from loopwright.report.regions import drawn_regions
from loopwright.show.moving import moving_picture
from loopwright.show.palette import STYLE
from loopwright.transform.plan import Plan

WIDGET_STYLE = f"{STYLE}.lwm-widget {{ background: var(--lw-paper); padding: .5rem }}\n"


class MovingWidget(anywidget.AnyWidget):
    """Both orders of a plan, run step by step; `sizes` are the values of parameters that are drawn."""

    _esm = widget_script()
    _css = WIDGET_STYLE + moving_style()
    picture = traitlets.Dict().tag(sync=True)
    sizes = traitlets.Dict().tag(sync=True)

    def __init__(self, plan: Plan, *, allow_reassociation: bool = False) -> None:
        expected(plan, Plan, "a plan", "lw.widget(lw.read('file.c'))")
        program = plan.storage[0].original if plan.storage else plan.original
        (region,) = drawn_regions([one.step for one in plan.history], [program])
        verdict = prove_plan(
            region.plan, allow_reassociation=allow_reassociation, dependences=region.dependences
        )
        self._drawn = region.shown(verdict, reassociate=allow_reassociation)
        first = self._picture({})
        if first is None:
            raise BadInput(
                Code.OPTION, "there is nothing to draw: no statement is in a loop, or the loops are too large"
            )
        super().__init__(picture=first)
        self.observe(self._resized, "sizes")

    @traitlets.validate("sizes")
    @public
    def _numbers(self, proposed: dict[str, Any]) -> dict[str, int]:
        """Integers by names of parameters; of sliders too, whose numbers come from a page."""
        sizes = problem_sizes(proposed["value"], "widget.sizes = {'N': 5}")
        plan, _, _ = self._drawn
        for name in sizes:
            one_of(name, [one.name for one in plan.program.parameters], "parameter")
        return sizes

    def _picture(self, sizes: dict[str, int]) -> dict[str, Any] | None:
        plan, verdict, note = self._drawn
        found = moving_picture(plan, verdict, sizes or None, note)
        return None if found is None else found.data()

    def _resized(self, change: Any) -> None:
        """Another picture; if there is none of this size, the previous one stays."""
        self.picture = self._picture(dict(change["new"])) or self.picture
