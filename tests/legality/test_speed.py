"""Legality of large kernels is a matter of a second, tiling included."""

from __future__ import annotations

import time

import islpy as isl
import pytest

from loopwright.model.program import Program
from loopwright.prove.legality.legality import Status, prove_legal
from loopwright.read.c.reader import read_c
from tests.c.support import KERNELS, region
from tests.legality.support import schedule

FILES = sorted(KERNELS.glob("*.c"))


def tiled(program: Program, size: int = 32) -> dict[str, isl.Map]:
    """Tiles of all loops: [p0, i1 / size, 0, i2 / size, 0, ..., i1, p1, i2, p2, ...]."""
    width = program.statements[0].schedule.dim(isl.dim_type.out)
    names = [f"t{k}" for k in range(width)]
    tiles = [part for name in names[1::2] for part in (f"floor({name}/{size})", "0")]
    step = isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join([names[0], *tiles, *names[1:]])}] }}")
    return {statement.name: statement.schedule.apply_range(step) for statement in program.statements}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_as_written_and_tiled(path: object) -> None:
    """The bound is on processor time, for reading, dependences and legality of both."""
    start = time.process_time()
    (program,) = read_c(str(path))
    assert prove_legal(program, program).proved
    verdict = prove_legal(program, tiled(program))
    assert time.process_time() - start < 3.0
    assert verdict.status is Status.ILLEGAL


HEAT = """
for (t = 1; t <= T; t++) {
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) for (k = 1; k < n - 1; k++)
    V[i][j][k] = U[i + 1][j][k] + U[i - 1][j][k] + U[i][j + 1][k]
      + U[i][j - 1][k] + U[i][j][k + 1] + U[i][j][k - 1] + U[i][j][k];
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) for (k = 1; k < n - 1; k++)
    U[i][j][k] = V[i + 1][j][k] + V[i - 1][j][k] + V[i][j + 1][k]
      + V[i][j - 1][k] + V[i][j][k + 1] + V[i][j][k - 1] + V[i][j][k];
}"""


def skewed(statement: str, delay: int, slope: int = 2) -> str:
    """Tiles of (t, 2 t + delay + i, ...), then the same point by point."""
    points = ["t", *(f"{slope} t + {delay} + {name}" for name in "ijk")]
    tiles = [f"floor(({point})/32)" for point in points]
    return f"{statement}[t, i, j, k] -> [0, {', 0, '.join([*tiles, *points])}, {delay}]"


def test_a_stencil_in_three_dimensions_tiled_in_time() -> None:
    own = region(HEAT)
    start = time.process_time()
    assert prove_legal(own, schedule(skewed("S1", 0), skewed("S2", 1))).proved
    assert time.process_time() - start < 1.0
    lazy = prove_legal(own, schedule(skewed("S1", 0, slope=1), skewed("S2", 1, slope=1)))
    assert lazy.status is Status.ILLEGAL
