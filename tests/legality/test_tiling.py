"""Legality of kernels as written and tiled; benchmarks/latency.py has the time that it takes."""

from __future__ import annotations

import pytest

from benchmarks.latency import tiled
from loopwright.prove.legality.legality import Status, prove_legal
from loopwright.read.c.reader import read_c
from tests.c.support import KERNELS, region
from tests.legality.support import schedule

FILES = sorted(KERNELS.glob("*.c"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_as_written_and_tiled(path: object) -> None:
    """As written, a kernel is legal; with all its loops tiled and none skewed, it is not."""
    (program,) = read_c(str(path))
    assert prove_legal(program, program).proved
    assert prove_legal(program, tiled(program)).status is Status.ILLEGAL


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


def test_a_stencil_in_three_dimensions_skewed_and_tiled() -> None:
    own = region(HEAT)
    assert prove_legal(own, schedule(skewed("S1", 0), skewed("S2", 1))).proved
    lazy = prove_legal(own, schedule(skewed("S1", 0, slope=1), skewed("S2", 1, slope=1)))
    assert lazy.status is Status.ILLEGAL
