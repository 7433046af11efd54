"""`distribute()`: legal, and no loop is shared that need not be."""

from __future__ import annotations

from itertools import pairwise

import pytest

from loopwright.prove.legality.plans import prove_plan
from loopwright.transform import Plan, plan_of
from loopwright.transform.operators import realign
from loopwright.transform.plan import Component
from tests.kernel_programs import kernel_program
from tests.transform.support import FIGURE_4A, MATMUL, check, planned

CHAIN = """\
for (t = 0; t < n; t++)
  for (i = 1; i < n; i++) {
    A: a[i] = b[i - 1];
    B: b[i] = c[i];
    C: c[i] = a[i];
  }"""
"""A reads what B wrote an iteration of i before; C gives B, and C's t gives A, what they read."""


def shared(plan: Plan) -> list[int]:
    """How many loops neighbours have in common."""
    places = [leaf.position for leaf in plan.leaves]
    return [plan.common_loops(Component.of(pair)) for pair in pairwise(places)]


def assert_furthest(plan: Plan) -> None:
    """Legal; and at every cut, one loop less is not."""
    assert prove_plan(plan).proved
    places = [leaf.position for leaf in plan.leaves]
    for (p, q), common in zip(pairwise(places), shared(plan), strict=True):
        if common:
            apart = realign(plan, Component.of([p]), Component.of([q]), common - 1)
            assert not prove_plan(apart).proved, (p, q)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (MATMUL, [0]),
        (CHAIN, [2, 1]),
        (FIGURE_4A, [0, 0, 0, 0, 0]),
        ("for (i = 0; i < n; i++) { s = a[i]; b[i] = s; c[i] = b[i]; }", [1, 0]),
        ("for (i = 0; i < n; i++) { a[i] = 1; if (b[i] > 0) c[d[i]] = a[i]; b[i] = 2; }", [0, 0]),
        ("for (i = 0; i < n; i++) { a[i] = c[d[i]]; c[i] = 2; }", [1]),
        ("x = 1; for (i = n; i >= 0; i--) { a[i] = b[i + 1]; b[i] = x; }", [0, 1]),
        ("x = 1;", []),
    ],
)
def test_as_far_as_dependences_allow(body: str, expected: list[int]) -> None:
    plan = planned(body, "distribute()")
    assert shared(plan) == expected
    assert_furthest(plan)
    check(plan)


@pytest.mark.parametrize("name", ["atax", "cholesky", "durbin", "gramschmidt", "nussinov", "trisolv"])
def test_kernels_are_taken_apart_as_far_as_is_legal(name: str) -> None:
    program = kernel_program(name)
    assert_furthest(plan_of(program).transform("distribute()"))


def test_only_what_is_named_is_taken_apart() -> None:
    body = "for (i = 0; i < n; i++) { a[i] = 1; L: { b[i] = a[i]; c[i] = b[i]; } d[i] = c[i]; }"
    assert shared(planned(body, "L = distribute(L, legal)")) == [1, 0, 1]
    assert shared(planned(body, "distribute()\nfuse(S1, S2)\nfuse(S3, S4)")) == [1, 0, 1]


def test_a_component_called_legal_is_named_in_a_list() -> None:
    body = "for (i = 0; i < n; i++) { a[i] = b[i - 1]; legal: b[i] = a[i]; }"
    assert shared(planned(body, "distribute([S1, legal])")) == [0]
    assert shared(planned(body, "distribute(S1, legal)")) == [1]
    assert shared(planned(body, "distribute()")) == [1]


def test_from_python() -> None:
    body = "for (i = 0; i < n; i++) { L: { a[i] = b[i - 1]; b[i] = a[i]; c[i] = a[i]; } }"
    assert shared(plan_of(planned(body, "").program)["L"].distribute(legal=True).plan) == [1, 0]
