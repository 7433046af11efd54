"""`loopwright tune` on programs that run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.model.dependences import memory_based
from loopwright.read.c.reader import read_c
from loopwright.transform import plan_of, script_text
from loopwright.optimise.moves import moves
from tests.conftest import ROOT

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

COLUMNS = """\
#include <stdio.h>
#ifndef N
#define N 2000
#endif
double A[N][N], x[N], y[N];
int main(void)
{
  for (int i = 0; i < N * N; i++)
    A[i / N][i % N] = i;
  for (int r = 0; r < 6; r++) {
#pragma scop
    for (int i = 0; i < N; i++) {
      x[i] = 0;
      for (int j = 0; j < N; j++)
        x[i] += A[j][i] * y[j];
    }
#pragma endscop
  }
  printf("%f\\n", x[N / 2]);
  return x[0] > 0;
}
"""


def tune(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "loopwright", "tune", str(file), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["gemm", "jacobi-2d", "gesummv"])
def test_every_move_is_a_line_that_scripts_understand(name: str) -> None:
    (program,) = read_c(ROOT / "kernels" / f"{name}.c")
    plan = plan_of(program)
    found = list(moves(plan, tuple(memory_based(program))))
    assert len(found) == len(set(found)) > 2
    for script in found:
        assert [one.step for one in plan.transform(script_text(script)).history] == list(script)


def test_tiles_come_in_several_shapes() -> None:
    (program,) = read_c(ROOT / "kernels" / "gemm.c")
    found = [script_text(script).strip() for script in moves(plan_of(program), ())]
    assert "tile(Mult, k=32, j=32)" in found and "tile(Mult, k=32, j=256)" in found


@needs_gcc
def test_the_walk_along_the_rows_is_found_and_proved(tmp_path: Path) -> None:
    file, script, code = tmp_path / "columns.c", tmp_path / "best.lw", tmp_path / "new.c"
    file.write_text(COLUMNS)
    done = tune(file, "--budget", "4", "-o", str(script), "--code", str(code))
    assert done.returncode == 0, done.stderr
    assert "times as fast" in done.stderr and "proved" in done.stderr
    assert script.read_text().startswith("# ")
    again = subprocess.run(
        [sys.executable, "-m", "loopwright", "transform", str(file), str(script)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0 and again.stdout == code.read_text()


@needs_gcc
def test_what_cannot_be_tuned_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "columns.c"
    file.write_text(COLUMNS)
    short = tune(file, "-D", "N=30")
    assert short.returncode == 2 and "too short to tell" in short.stderr
    file.write_text(COLUMNS.replace("int main(void)", "int run(void)"))
    alone = tune(file, "--json")
    assert alone.returncode == 2 and "there is no program to run" in alone.stderr
    assert json.loads(alone.stdout)["script"] is None
    file.write_text(COLUMNS.replace("return x[0] > 0", "return 3"))
    failing = tune(file, "-D", "N=200")
    assert failing.returncode == 2 and "exit status 3" in failing.stderr
