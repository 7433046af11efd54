"""Programs, plans, schedules and violations in a notebook."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.prove.legality.plans import prove_plan
from loopwright.show.notebook import plan_html, program_html, schedule_html, violation_html
from loopwright.transform import to_schedule
from tests.show.support import DIAGONAL, TRIANGLE, planned

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'loopwright[show]'")

PRETEND = """
import sys, types
class Formatter:
    known = {}
    def for_type_by_name(self, module, name, shown):
        self.known[module, name] = shown
class Shell:
    class display_formatter:
        formatters = {"text/html": Formatter()}
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: Shell)
import loopwright
del sys.modules["IPython"]
from pathlib import Path
from loopwright.read.c.reader import read_c
(program,) = read_c(sys.argv[1])
shown = Formatter.known["loopwright.model.program", "Program"](program)
print(len(Formatter.known), "<svg" in shown)
"""


def test_values_display_themselves(tmp_path: Path) -> None:
    """IPython asks for a type by its name; a stand-in shows what it would be given."""
    planned(tmp_path, TRIANGLE)
    command = [sys.executable, "-c", PRETEND, str(tmp_path / "k.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "4 True\n"


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
