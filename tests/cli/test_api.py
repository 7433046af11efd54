"""`import loopwright as lw`: the verbs as functions, though rooms have their names."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import loopwright as lw
from loopwright.errors import Illegal
from loopwright.prove.verdict import Proved


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
    assert not lw.prove(wrong).proved  # type: ignore[union-attr]
    with pytest.raises(Illegal):
        lw.to_c(wrong)
    right = lw.read(source).transform("distribute(Clear, Add)\ninterchange(Add, i, j)\n")
    assert lw.prove(right).proved  # type: ignore[union-attr]
    assert "x[c1] += A[c0][c1] * y[c0];" in lw.to_c(right)
