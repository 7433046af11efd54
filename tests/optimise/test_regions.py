"""Files with several regions, data for functions, and runs that take long."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.errors import BadInput, GaveUp
from loopwright.optimise.candidates.nests import is_single, targets
from loopwright.optimise.candidates.reasons import apart, together
from loopwright.optimise.model.machine import USUAL
from loopwright.optimise.optimising import Optimised
from loopwright.optimise.timing.driver import driver_for
from loopwright.optimise.timing.runner import TrialRunner, with_clock
from loopwright.optimise.timing.trials import Trial
from loopwright.optimise.timing.workshop import TrialsHere, Workshop
from loopwright.read.c.reader import read_c
from loopwright.report.results import optimised_text
from loopwright.rewrite.request import Request
from loopwright.rewrite.scripts import applied
from loopwright.run.compiler import find_compiler
from loopwright.run.timing import Times
from loopwright.transform import plan_of, script_text
from loopwright.transform.script.steps import parse_script

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

LOOPS = """\
#pragma scop
  for (int i = 0; i < 90; i++)
    for (int j = 0; j < 90; j++)
      {}[i][j] = B[j][i];
#pragma endscop
"""


def test_two_regions_have_one_script(tmp_path: Path) -> None:
    """Both have a statement S1: it is defined by its line, and each region has its own part."""
    file = tmp_path / "k.c"
    file.write_text(
        "double A[90][90], B[90][90], C[90][90];\n"
        + "".join(f"void f{name}(void)\n{{\n{LOOPS.format(name)}}}\n" for name in "AC")
    )
    plans = apart([plan_of(one) for one in read_c(file)])
    assert [[nest.handle for nest in targets(plan)] for plan in plans] == [["S1"], ["S1"]]
    assert all(is_single(nest) for plan in plans for nest in targets(plan))
    part = "(S1, M) = isplit(S1, {[i, j] : i < 8}, 0)\ninterchange(S1, i, j)\nwiden()"
    found = together([parse_script(part), parse_script(part)], plans)
    assert found is not None and script_text(found).splitlines() == [
        "S1_1 = lift(@5, 2)",
        "(S1_1, M_1) = isplit(S1_1, {[i, j] : i < 8}, 0)",
        "interchange(S1_1, i, j)",
        "S1_2 = lift(@13, 2)",
        "(S1_2, M_2) = isplit(S1_2, {[i, j] : i < 8}, 0)",
        "interchange(S1_2, i, j)",
        "widen()",
    ]
    assert all(plan.is_widened for plan in applied(found, [plan_of(one) for one in read_c(file)]).plans)


def test_statements_that_share_a_loop_have_no_name_in_two_regions(tmp_path: Path) -> None:
    file = tmp_path / "k.c"
    body = LOOPS.replace("{}[i][j] = B[j][i];", "{{ {0}[i][j] = B[j][i]; {0}[i][j] += 1; }}")
    file.write_text(
        "double A[90][90], B[90][90], C[90][90];\n"
        + "".join(f"void f{name}(void)\n{{\n{body.format(name)}}}\n" for name in "AC")
    )
    plans = apart([plan_of(one) for one in read_c(file)])
    assert not any(name == "S1" for plan in plans for name in plan.components)
    parts = [parse_script(f"(L, M) = isplit(@{line}, {{[i, j] : i < 8}}, 0)") for line in (5, 13)]
    found = together(parts, plans)
    assert found is not None and "(L_2, M_2) = isplit(@13, {[i, j] : i < 8}, 0)" in script_text(found)


@pytest.mark.parametrize(
    ("kind", "field", "filled"),
    [("struct cell", ".x", "memset(lw_data_p, 0,"), ("double", "", "lw_data_p[lw_k] = 1 +")],
)
def test_structs_are_filled_with_zeros(tmp_path: Path, kind: str, field: str, filled: str) -> None:
    file = tmp_path / "k.c"
    file.write_text(
        f"struct cell {{ double x, y; }};\nvoid f({kind} p[90], double m[90])\n{{\n#pragma scop\n"
        f"for (int i = 0; i < 90; i++)\n  m[i] = p[i]{field};\n#pragma endscop\n}}\n"
    )
    assert filled in driver_for(read_c(file), [{}], (), 1)


def test_no_data_for_a_head_that_is_not_understood(tmp_path: Path) -> None:
    file = tmp_path / "k.c"
    file.write_text(
        "void f(double a[90], double b[90], int (*g)(int))\n{\n#pragma scop\n"
        "for (int i = 0; i < 90; i++)\n  a[i] = b[i];\n#pragma endscop\n}\n"
    )
    with pytest.raises(BadInput):
        driver_for(read_c(file), [{}], (), 1)


@needs_gcc
def test_an_original_that_does_not_end_in_time_is_not_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "k.c"
    region = LOOPS.format("A")
    text = f"#include <unistd.h>\ndouble A[90][90], B[90][90];\nint main(void)\n{{\nsleep(30);\n{region}}}\n"
    file.write_text(text)
    plans = tuple(plan_of(one) for one in read_c(file))
    runner = with_clock(TrialRunner(file, tmp_path, find_compiler(), ()), text)
    shop = Workshop(plans, Request(file=str(file), script_file="<none>"), runner)
    begun = time.monotonic()
    with pytest.raises(GaveUp):
        TrialsHere(shop).original(begun)
    assert time.monotonic() - begun < 25


def test_a_script_that_was_faster_and_is_not_proved_is_told_of() -> None:
    script = parse_script("tile(S, 32, 32)")
    tried = (Trial(script, 1.0, "", 0.5), Trial((), 9.0, "as written", 2.0))
    found = Optimised((), None, USUAL, tried, 2, 0, 1.0, Times((2.0,)), Times((2.0,)), is_unproved=True)
    assert "4.00 times as fast was found, but not proved in the time left: try a larger --budget" in (
        optimised_text("a.c", found)
    )
    in_turns = replace(found, is_unproved=False)  # it was proved, and no faster when both ran in turns
    assert "nothing faster was found" in optimised_text("k.c", in_turns)
    untimed = replace(found, original=None, new=None)
    assert "9.00 times as fast by the model was found, but not proved" in optimised_text("a.c", untimed)
    slower = replace(found, tried=(replace(tried[0], seconds=1.95), tried[1]))
    assert "nothing faster was found" in optimised_text("a.c", slower)
