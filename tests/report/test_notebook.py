"""Programs, plans, schedules and violations in a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.legality.plans import prove_plan
from loopwright.report.notebook import plan_html, program_html, schedule_html, violation_html
from loopwright.transform import to_schedule
from tests.show.support import DIAGONAL, TRIANGLE, planned

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'loopwright[show]'")

def test_values_display_themselves(tmp_path: Path) -> None:
    """A notebook asks a value for `_repr_html_`."""
    plan = planned(tmp_path, TRIANGLE, "interchange(S, i, j)")
    assert "<svg" in plan.original._repr_html_()
    assert "<strong>Proved</strong>" in plan._repr_html_()
    assert plan["S"]._repr_html_() == plan._repr_html_()
    assert "<strong>Proved</strong>" in prove_plan(plan)._repr_html_()
    refused = prove_plan(planned(tmp_path, DIAGONAL, "interchange(S, i, j)"))
    assert "a value is read before it is written" in refused._repr_html_()
    assert "a value is read before it is written" in refused.violations[0]._repr_html_()
    assert "<pre>for (" in to_schedule(plan)._repr_html_()


def test_a_program_and_a_plan(tmp_path: Path) -> None:
    plan = planned(tmp_path, TRIANGLE, "interchange(S, i, j)")
    assert "A[i - 1][j] + b[j]" in program_html(plan.original)
    assert "<strong>Proved</strong>" in plan_html(plan) and "Order after the script" in plan_html(plan)


def test_a_violation(tmp_path: Path) -> None:
    plan = planned(tmp_path, DIAGONAL, "interchange(S, i, j)")
    (found, *_) = prove_plan(plan).violations
    assert "a value is read before it is written" in violation_html(found)
    assert "<strong>Refused</strong>: a value is read" in plan_html(plan)


def test_a_schedule(tmp_path: Path) -> None:
    assert "for (int c0 = 1; c0 &lt; n; c0 += 1)" in schedule_html(to_schedule(planned(tmp_path, TRIANGLE)))
