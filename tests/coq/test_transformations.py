"""Whole transformations: Coq accepts that the new loops leave the same memory, or refuses."""

from __future__ import annotations

import pytest

from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.prove.coq.check import Refused, check
from loopwright.prove.coq.transformation_file import transformation_file
from loopwright.prove.legality.plans import prove_plan
from loopwright.transform import Plan, to_schedule
from tests.coq.support import SECONDS, assert_accepted, needs_coqc
from tests.transform.support import planned

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
    "[Bao2016, figure 1b]": (COPY, FULL_TILES),
    "[Bao2016, figure 2]": (SEIDEL, "tile(S1, i=2, j=2)"),
}
ILLEGAL = {
    "interchange of a stencil": (STENCIL, "interchange(Loop, t, i)"),
    "reversal of a fused reader": (TWO_LOOPS, "reverse(Q, i)\nfuse(P, Q)"),
    "a loop that counted down": (DOWN, "reverse(L, i)"),
}


def written(plan: Plan) -> str:
    node = generate(to_schedule(plan), GenerationOptions())
    return transformation_file(plan.original, plan.program, node, "A transformation")


@needs_coqc
def test_legal_transformations_are_accepted() -> None:
    plans = [planned(body, script) for body, script in LEGAL.values()]
    assert all(prove_plan(plan).proved for plan in plans)
    assert_accepted([written(plan) for plan in plans])


@needs_coqc
@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_transformations_are_refused(name: str) -> None:
    plan = planned(*ILLEGAL[name])
    assert not prove_plan(plan).proved
    found = check(written(plan), SECONDS)
    assert isinstance(found, Refused), found
    assert found.lemma.startswith("kept_"), found


def test_a_subscript_that_is_not_a_function_makes_the_array_one_cell() -> None:
    text = written(planned("for (i = 0; i < n; i++)\n  L: a[b[i]] = c[i];", ""))
    assert "Of a the part touched is not known: all of it is one cell." in text
    assert '("a", [])' in text
