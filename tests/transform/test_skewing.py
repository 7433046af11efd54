"""Skewed tiles: stencils of one and of several statements, and factorisations, each in one line."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.prove.legality.plans import prove_plan
from loopwright.transform import plan_of, transform
from loopwright.transform.library.skewing import TileCoordinates, tile_coordinates
from loopwright.transform.relations import vector
from tests.c.support import region
from tests.transform.appendix_b import KERNELS
from tests.transform.support import check, refused

BODIES = {kernel.name: kernel.body for kernel in KERNELS}

JACOBI_1D = """\
for (t = 0; t < m; t++) {
  for (i = 1; i < n - 1; i++) B: b[i] = a[i-1] + a[i] + a[i+1];
  for (i = 1; i < n - 1; i++) A: a[i] = b[i-1] + b[i] + b[i+1];
}"""

CHOLESKY = """\
for (i = 0; i < n; i++) {
  for (j = 0; j < i; j++) {
    for (k = 0; k < j; k++)
      A: A[i][j] -= A[i][k] * A[j][k];
    A[i][j] /= A[j][j];
  }
  for (k = 0; k < i; k++)
    A[i][i] -= A[i][k] * A[i][k];
  A[i][i] = sqrt(A[i][i]);
}"""


@pytest.mark.parametrize(
    ("body", "script"),
    [
        (BODIES["seidel-2d"], "tile(Loop, 3, 4, 5, skew)"),
        (JACOBI_1D, "T = lift(A, 1)\ntile(T, 3, 4, skew)"),
        (BODIES["jacobi-2d"], "T = lift(LoopA, 1)\ntile(T, 2, 3, 4, skew)"),
        (BODIES["jacobi-2d"], "T = lift(LoopA, 1)\ntile(T, t=2, i=3, skew)"),
        (BODIES["heat-3d"], "T = lift(LoopA, 1)\ntile(T, 2, 2, 2, 2, skew)"),
        (BODIES["fdtd-2d"], "T = lift(HZ, 1)\ntile(T, 2, 3, 4, skew)"),
        (BODIES["fdtd-2d"], "T = lift(HZ, 1)\ntile(T, t=2, i=3, skew)"),
        (BODIES["lu"], "T = lift(Left, 1)\ntile(T, 2, 2, 2, skew)"),
        (CHOLESKY, "T = lift(A, 1)\ntile(T, 2, 2, 2, skew)"),
    ],
)
def test_skewed_tiles_are_legal_and_run(body: str, script: str) -> None:
    plan = transform(region(body, pure=("sqrt",)), script, "s.lw")
    verdict = prove_plan(plan)
    assert not verdict.violations and not verdict.defects
    check(plan)


def test_the_same_tiles_without_skew_are_illegal() -> None:
    plan = transform(region(BODIES["seidel-2d"]), "tile(Loop, 3, 4, 5)", "s.lw")
    assert prove_plan(plan).violations


def test_least_factors() -> None:
    """Seidel needs (t, t + i, 2t + i + j); Jacobi skews by 2 and moves the second statement by 1."""
    plan = plan_of(region(BODIES["seidel-2d"]))
    (found,) = tile_coordinates(plan, plan.components["Loop"], 0, 3).values()
    assert shown(found) == "{ [t, i, j] -> [(t), (t + i), (2t + i + j)] }"
    plan = transform(region(JACOBI_1D), "T = lift(A, 1)", "s.lw")
    first, second = tile_coordinates(plan, plan.components["T"], 0, 2).values()
    assert shown(first) == "{ [t, i] -> [(t), (2t + i)] }"
    assert shown(second) == "{ [t, i] -> [(t), (1 + 2t + i)] }"


def shown(coordinates: TileCoordinates) -> str:
    """As one function of the iterators t, i and j."""
    found = vector(coordinates)
    for k, name in enumerate("tij"[: found.dim(isl.dim_type.in_)]):
        found = found.set_dim_name(isl.dim_type.in_, k, name)
    return str(found)


def test_explicit_skew_does_the_same_by_hand() -> None:
    script = "skew(Loop, i, t, 1)\nskew(Loop, j, i, 1)\nskew(Loop, j, t, 1)\ntile(Loop, 4, 4, 4)"
    plan = transform(region(BODIES["seidel-2d"]), script, "s.lw")
    assert not prove_plan(plan).violations
    check(plan)


def test_a_dependence_that_no_skew_turns_forwards() -> None:
    body = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) L: a[0] = a[0] + A[i][j];"
    error = refused(body, "tile(L, 4, 4, skew)")
    assert error.message == "no skewing by outer loops makes all dependences go forwards along j"


def test_a_variable_of_the_body_does_not_prevent_tiles() -> None:
    """It is another one in each iteration; once its dependences forbade every skew."""
    body = """\
    for (int t = 0; t < m; t++)
      for (int i = 1; i < n - 1; i++) {
        double x = a[i - 1] + a[i + 1];
        a[i] = x / 2;
      }"""
    plan = transform(region(body), "tile(@4, 3, 4, skew)", "s.lw")
    assert prove_plan(plan).proved
    check(plan)
