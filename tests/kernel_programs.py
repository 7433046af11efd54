"""The kernels that tests take their programs from: each is read once in a process."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from loopwright.model.program import Program
from loopwright.read.c.reader import read_c

KERNELS = Path(__file__).parents[1] / "kernels"
NAMES = tuple(sorted(path.stem for path in KERNELS.glob("*.c")))


@cache
def kernel_program(name: str) -> Program:
    """The region of a kernel, as `loopwright transform` reads it."""
    (program,) = read_c(KERNELS / f"{name}.c")
    return program
