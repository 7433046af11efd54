"""The code for every file of the corpus compiles alone, without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from loopwright.emit.c import to_c
from loopwright.errors import BadInput
from loopwright.generate.program import generate
from loopwright.read.schedules import read_schedule

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc to compile with")

STRICT = ("-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror")


def test_standalone_code_compiles(corpus_file: Path) -> None:
    try:
        program = generate(read_schedule(corpus_file))
    except BadInput as refusal:
        assert "has no lower bound" in refusal.message
        pytest.skip(f"no program can run it: {refusal.message}")
    command = ["gcc", *STRICT, "-fsyntax-only", "-x", "c", "-"]
    text = to_c(program, standalone=True)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
