"""The command line, interrupted or told to end: no traceback, and nothing left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FINDER = """\
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
"""
LOOPS = """\
static double A[600][600];
int main(void)
{
  for (int k = 0; k < 20; k++) {
#pragma scop
    for (int j = 0; j < 600; j++)
      for (int i = 0; i < 600; i++)
        A[i][j] = 2.0 * A[i][j] + 1.0;
#pragma endscop
  }
  return A[3][5] > 1e9;
}
"""


@pytest.mark.parametrize("name", ["loopwright.check", "loopwright.display", "loopwright.cli.frame"])
def test_an_interrupt_while_modules_are_loaded_shows_no_traceback(tmp_path: Path, name: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(FINDER.format(name=name))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-m", "loopwright", "--version"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "loopwright: interrupted\n")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_a_search_that_is_told_to_end_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "loops.c").write_text(LOOPS)
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = [sys.executable, "-m", "loopwright", "optimise", str(tmp_path / "loops.c"), "--budget", "30"]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(folder)}) as running:
        end = time.monotonic() + 30
        while not list(folder.glob("loopwright-*")) and time.monotonic() < end:
            time.sleep(0.01)
        assert list(folder.glob("loopwright-*"))
        running.terminate()
        assert running.wait(60) == 128 + signal.SIGTERM
    assert not list(folder.iterdir())
