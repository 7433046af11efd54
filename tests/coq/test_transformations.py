"""Whole transformations: Coq accepts that the new loops leave the same memory, or refuses."""

from __future__ import annotations

import pytest

from loopwright.errors import Code, GaveUp
from loopwright.prove.legality.plans import prove_plan
from tests.coq.support import assert_accepted, needs_coqc, plan_file
from tests.transform.support import MATMUL, planned

pytestmark = pytest.mark.usefixtures("built")

TRIANGLE = """\
for (i = 0; i < n; i++) {
  Init: x[i] = 0;
  for (j = 0; j <= i; j++)
    Row: x[i] = x[i] + a[i][j] * y[j];
}"""
STENCIL = """\
for (t = 0; t < T; t++)
  for (i = 1; i < n - 1; i++)
    Loop: a[i] = a[i - 1] + a[i] + a[i + 1];"""
TWO_LOOPS = """\
for (i = 0; i < n; i++)
  P: a[i] = c[i];
for (i = 0; i < n; i++)
  Q: b[i] = a[i];"""
DOWN = """\
for (i = n; i >= 1; i--)
  L: a[i] = a[i - 1];"""
COPY = """\
for (i = 0; i < n; i++)
  Copy: a[i] = b[i];"""
SEIDEL = """\
for (t = 0; t <= T - 1; t++)
  for (i = 1; i <= n - 1; i++)
    for (j = 1; j <= n - 1; j++)
      S1: a[i][j] = a[i - 1][j] + a[i][j - 1];"""
SCALAR = """\
for (i = 0; i < n; i++) {
  s = 0;
  for (j = 0; j < n; j++)
    Dot: s += a[i][j];
  b[i] = s;
}"""
FULL_TILES = """\
(Copy, Rest) = isplit(Copy, {[i] : i < 32 * [n/32]}, 0)
tile(Copy, i=32)"""

LEGAL = {
    "as it is": (TRIANGLE, ""),
    "distribution and interchange": (TRIANGLE, "distribute(Init, Row)\ninterchange(Row, i, j)"),
    "tiling": (TRIANGLE, "distribute(Init, Row)\ntile(Row, i=32, j=32)"),
    "skewing": (STENCIL, "skew(Loop, i, t, 1)"),
    "skewed tiles": (STENCIL, "tile(Loop, t=8, i=16, skew)"),
    "fusion": (TWO_LOOPS, "fuse(P, Q)"),
    "a loop that counts down": (DOWN, ""),
    "a scalar": (SCALAR, "skew(Dot, j, i, 1)"),
    "parallel tiles": (
        MATMUL,
        "distribute(Init, Mult)\ntile(Mult, i=8)\nparallel(Mult, iT)\nvectorize(Init, j)",
    ),
    "[Bao2016, figure 1b]": (COPY, FULL_TILES),
    "[Bao2016, figure 2]": (SEIDEL, "tile(S1, i=2, j=2)"),
}
ILLEGAL = {
    "interchange of a stencil": (STENCIL, "interchange(Loop, t, i)"),
    "reversal of a fused reader": (TWO_LOOPS, "reverse(Q, i)\nfuse(P, Q)"),
    "a loop that counted down": (DOWN, "reverse(L, i)"),
    "iterations that share a sum": (SCALAR, "interchange(Dot, i, j)"),
}


@needs_coqc
def test_legal_transformations_are_accepted() -> None:
    plans = [planned(body, script) for body, script in LEGAL.values()]
    assert all(prove_plan(plan).proved for plan in plans)
    assert_accepted([plan_file(plan) for plan in plans])


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_transformations_have_no_proof(name: str) -> None:
    plan = planned(*ILLEGAL[name])
    assert not prove_plan(plan).proved
    with pytest.raises(GaveUp) as refused:
        plan_file(plan)
    assert refused.value.code is Code.NO_PROOF


def test_a_subscript_that_is_not_a_function_makes_the_array_one_cell() -> None:
    text = plan_file(planned("for (i = 0; i < n; i++)\n  L: a[b[i]] = c[i];", ""))
    assert '("a", [])' in text
