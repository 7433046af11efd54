"""The same input gives the same bytes, whatever the hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

GENERATE_ALL = """
import sys
from loopwright.emit.c import to_c
from loopwright.generate.program import generate
from loopwright.read.schedules import read_schedule

for path in sys.argv[1:]:
    print(path)
    print(to_c(generate(read_schedule(path))))
"""

FILES = (
    "isl/cloog/classen.st",
    "isl/cloog/swim.st",
    "isl/cloog/vivien.st",
    "isl/cloog/reservoir-mg-interp.st",
    "isl/omega/wak2-1.in",
    "isl/isolate7.st",
    "isl/hoist.in",
    "cloog/gauss.cloog",
)


def _bytes(seed: int, files: list[str]) -> bytes:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", GENERATE_ALL, *files]
    return subprocess.run(command, env=environment, check=True, capture_output=True).stdout


def test_bytes_do_not_depend_on_the_hash_seed(corpus: Path) -> None:
    files = [str(corpus / name) for name in FILES]
    assert len({_bytes(seed, files) for seed in (0, 1, 2, 12345)}) == 1
