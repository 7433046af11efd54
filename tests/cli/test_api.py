"""`import loopwright as lw`: the verbs as functions, though rooms have their names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import loopwright as lw
from loopwright.emit.region import Loops, file_text
from loopwright.errors import Illegal, InternalError
from loopwright.prove.verdict import Proved
from loopwright.rewrite import pipeline


def test_read_generate_prove_print(tmp_path: Path) -> None:
    path = tmp_path / "line.poly"
    path.write_text("param n\nstatement S(i)\n  domain 0 <= i < n\n  schedule -i\n")
    schedule = lw.read(path)
    program = lw.generate(schedule, single_upper_bound=False)
    assert isinstance(lw.prove(schedule, program), Proved)
    assert lw.to_c(program) == "for (int c0 = 1 - n; c0 <= 0; c0 += 1)\n  S(-c0);\n"


def test_the_rooms_stay_modules() -> None:
    poly = importlib.import_module("loopwright.read.poly")
    room: object = lw.read
    assert room is sys.modules["loopwright.read"]
    assert vars(lw.read)["poly"] is poly


def test_a_c_file_is_rewritten_from_python(tmp_path: Path) -> None:
    source = tmp_path / "sums.c"
    source.write_text(
        "double x[99], A[99][99], y[99];\nvoid f(int N)\n{\n#pragma scop\n"
        "  for (int i = 0; i < N; i++) {\n    Clear: x[i] = 0;\n"
        "    for (int j = 0; j < N; j++)\n      Add: x[i] += A[j][i] * y[j];\n  }\n#pragma endscop\n}\n"
    )
    wrong = lw.read(source)["Add"].interchange("i", "j").plan
    assert not lw.prove(wrong).proved
    with pytest.raises(Illegal):
        lw.to_c(wrong)
    right = lw.read(source).transform("distribute(Clear, Add)\ninterchange(Add, i, j)\n")
    assert lw.prove(right).proved
    assert "x[i] += A[j][i] * y[j];" in lw.to_c(right)


TWO = (
    "double x[99], y[99];\nvoid f(int N)\n{\n#pragma scop\n"
    "  for (int i = 0; i < N; i++)\n    One: x[i] = cost(i);\n#pragma endscop\n"
    "#pragma scop\n  for (int i = 0; i < N; i++)\n    Two: y[i] = 1;\n#pragma endscop\n}\n"
)


def test_a_plan_of_one_region_leaves_the_others_alone(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(TWO)
    one, two = lw.read(source, pure=["cost"])
    new = lw.to_c(two["Two"].reverse("i").plan)
    head, tail = TWO.split("#pragma endscop", 1)
    assert new.startswith(head + "#pragma endscop") and new != TWO
    assert lw.to_c((one["One"].reverse("i").plan, two)).endswith(tail)


def test_the_text_a_plan_gives_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A printer that misprints is found by `lw.to_c` as it is by the command line."""
    source = tmp_path / "two.c"
    source.write_text(TWO.replace("cost(i)", "2"))
    plan = lw.read(source)[1]["Two"].reverse("i").plan

    def misprinted(regions: Sequence[Loops], *, openmp: bool = False) -> str:
        return file_text(regions, openmp=openmp).replace("y[i]", "y[i + 1]")

    monkeypatch.setattr(pipeline, "file_text", misprinted)
    with pytest.raises(InternalError, match="does not do what S1"):
        lw.to_c(plan)
