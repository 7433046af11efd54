"""Estimates the load balance of a parallel loop: the work of its iterations, and their threads.

    for jT, parallel:  for j in tile jT, j < n     the last tile is smaller than the others
    for i, parallel:   for j < i                   the last iterations are longer than the first ones

Loops inside are entered at the middle of their ranges, as in `touches`.

It also computes the trip count of a loop, given the values of all names around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import assert_never

from loopwright.loops.interpreter import evaluate, holds
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked

SAMPLES = 64
"""The number of sampled iterations of a longer loop."""


def weights(loop: For, trip: int, env: Mapping[str, int]) -> tuple[float, ...]:
    """How many statements run in each iteration of a loop, or in some of them at equal distances."""
    start = evaluate(loop.start, env)
    count = min(trip, SAMPLES)
    numbers = (trip * (2 * k + 1) // (2 * count) for k in range(count))
    return tuple(_runs(loop.body, {**env, loop.iterator: start + loop.step * number}) for number in numbers)


def largest_part(work: Sequence[float], threads: int, *, is_dealt: bool) -> float:
    """The part of the work that the thread with most of it has: every n-th iteration, or as many in a row."""
    count, more = divmod(len(work), threads)
    cuts = [count * k + min(k, more) for k in range(threads + 1)]
    parts = (
        [sum(work[first::threads]) for first in range(threads)]
        if is_dealt
        else [sum(work[first:last]) for first, last in pairwise(cuts)]
    )
    whole = sum(work)
    return max(parts) / whole if whole else 1 / threads


def _runs(node: Node, env: Mapping[str, int]) -> float:
    match node:
        case Call():
            return 1.0
        case Block(children):
            return sum(_runs(child, env) for child in children)
        case If(test, then, orelse):
            taken = then if holds(test, env) else orelse
            return 0.0 if taken is None else _runs(taken, env)
        case For():
            trip = trip_count(node, env)
            middle = evaluate(node.start, env) + node.step * (trip // 2)
            return trip * _runs(node.body, {**env, node.iterator: middle}) if trip else 0.0
        case Let(name, value, body):
            return _runs(body, {**env, name: evaluate(value, env)})
        case Remarked(_, body):
            return _runs(body, env)
        case _:
            assert_never(node)


LONGEST = 1 << 40
"""The assumed trip count of a loop whose end is not found."""


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
