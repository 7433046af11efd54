"""The iterations of loops that are proved parallel, run in other orders: they leave the same memory."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence

import pytest

from loopwright.generate.program import generate
from loopwright.loops.interpreter import execute
from loopwright.prove.legality.plans import prove_plan
from loopwright.transform import Plan, to_schedule
from tests.legality.oracle import Event, events, memory
from tests.transform.support import MATMUL, planned

WAVEFRONT = "for (i = 1; i < n; i++) for (j = 1; j < n; j++) L: A[i][j] = A[i - 1][j] + A[i][j - 1];"
PHASES = """
for (i = 0; i < n; i++) {
  for (j = 0; j < n; j++) One: B[i][j] = A[i][j];
  for (j = 1; j < n; j++) Two: A[i][j] = B[i][j - 1];
}
"""
SCRIPTS = {
    "rows": (MATMUL, "parallel(Mult, i)"),
    "vectors": (MATMUL, "distribute(Init, Mult)\nvectorize(Mult, j)\nparallel(Init, j)"),
    "tiles": (MATMUL, "distribute(Init, Mult)\ntile(Mult, 2, 2, 2)\nparallel(Mult, iT)\nparallel(Mult, jT)"),
    "threads": (
        MATMUL,
        "distribute(Init, Mult)\ntile(Mult, i=2, j=3)\nblock(Mult, iT, jT)\nthread(Mult, i=2, j=3)",
    ),
    "phases": (PHASES, "L = lift(One, 1)\nblock(L, i)\nthread(One, j=4)\nthread(Two, j=4)"),
    "wavefront": (WAVEFRONT, "skew(L, i, j)\nparallel(L, j)"),
}


def ran(plan: Plan, size: int, seed: int | None) -> list[Event]:
    """The instances as the loops run them, independent iterations shuffled."""
    known = {(event.statement, event.instance): event for event in events(plan.original, {"n": size})}
    chosen = random.Random(seed)

    def shuffle(values: Sequence[int]) -> list[int]:
        return chosen.sample(values, len(values))

    node = generate(to_schedule(plan))
    calls = execute(node, {"n": size}, shuffle=None if seed is None else shuffle)
    return [known[call] for call in calls]


@pytest.mark.parametrize("name", SCRIPTS)
def test_shuffled_iterations_compute_the_same(name: str) -> None:
    plan = planned(*SCRIPTS[name])
    assert prove_plan(plan).proved
    terms: dict[Hashable, int] = {}
    wanted = memory(ran(plan, 5, None), terms, {})
    orders = [ran(plan, 5, seed) for seed in range(8)]
    assert len({tuple(order) for order in orders}) > 1
    assert all(memory(order, terms, {}) == wanted for order in orders)


def test_iterations_that_are_not_independent_do_not() -> None:
    plan = planned(WAVEFRONT, "parallel(L, j)")
    assert not prove_plan(plan).proved
    terms: dict[Hashable, int] = {}
    wanted = memory(ran(plan, 5, None), terms, {})
    assert any(memory(ran(plan, 5, seed), terms, {}) != wanted for seed in range(8))
