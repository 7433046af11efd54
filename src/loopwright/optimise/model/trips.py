"""How many iterations a loop has, where the values of all names around it are known."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.loops.interpreter import evaluate, holds
from loopwright.loops.nodes import For

LONGEST = 1 << 40
"""A loop whose end is not found takes as many iterations."""


def trip_count(loop: For, env: Mapping[str, int]) -> int:
    """How often the body runs: by the bound where the test is one, by doubling where it is not."""
    value = evaluate(loop.start, env)
    inside = {**env}

    def runs(count: int) -> bool:
        inside[loop.iterator] = value + count * loop.step
        return holds(loop.test, inside)

    if not runs(0):
        return 0
    high = 1
    while runs(high) and high < LONGEST:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if runs(middle) else (low, middle)
    return high
