"""`import loopwright as lw`: the verbs as functions, though rooms have their names."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import loopwright as lw
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
