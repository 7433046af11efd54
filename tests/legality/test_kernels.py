"""Random schedules of the thirty kernels against an oracle: none that is wrong is accepted."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from loopwright.model.dependences import Dependence, memory_based
from loopwright.model.program import Program
from loopwright.prove.legality.legality import Status, prove_legal
from loopwright.prove.legality.reductions import Reduction, reductions
from loopwright.read.c.reader import parse_c
from loopwright.read.text import load
from tests.conftest import ALL
from tests.legality.oracle import Event, collides, computes_the_same, events, is_true
from tests.legality.random_schedules import random_schedule, schedules, times

KERNELS = Path(__file__).parents[2] / "kernels"
FILES = sorted(KERNELS.glob("*.c"))
SEEDS = range(12 if ALL else 5)


@cache
def program(path: Path) -> Program:
    (found,) = parse_c(load(path))
    return found


@cache
def known(path: Path) -> tuple[tuple[Dependence, ...], dict[str, Reduction]]:
    """What all schedules of a program are judged by."""
    return tuple(memory_based(program(path))), reductions(program(path))


@cache
def runs(path: Path) -> tuple[tuple[dict[str, int], tuple[Event, ...]], ...]:
    """The instances for two small sizes, all parameters the same and all different."""
    own = program(path)
    sizes = (dict.fromkeys(own.params, 3), {name: 4 - k % 3 for k, name in enumerate(own.params)})
    return tuple((values, tuple(events(own, values))) for values in sizes)


@cache
def decided(path: Path, seed: int) -> Status:
    """The verdict on one random schedule, checked against the truth."""
    own = program(path)
    chosen = random_schedule(own, random.Random(f"{path.stem} {seed}"))
    clock = times(own, chosen)
    dependences, sums = known(path)
    verdict = prove_legal(own, schedules(own, chosen), dependences=dependences)
    exact = {name: sums[name].operator for name in verdict.exact}
    right = all(computes_the_same(list(order), clock, values, exact) for values, order in runs(path))
    assert right or not verdict.proved, f"accepted: {schedules(own, chosen)}"
    assert all(collides(own, found, clock) for found in verdict.defects[:1])
    if not verdict.defects:
        assert all(is_true(own, found, clock) for found in verdict.violations[:1])
    return verdict.status


@pytest.mark.skipif(not FILES, reason="the kernels are not there")
def test_random_schedules_of_all_kernels() -> None:
    found = Counter(decided(path, seed) for path in FILES for seed in SEEDS)
    assert found[Status.ILLEGAL] >= 16 * len(SEEDS), found
    assert found[Status.PROVED] >= len(SEEDS), found
