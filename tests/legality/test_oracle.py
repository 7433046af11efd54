"""Legality against an oracle: random schedules of small programs, decided by running them.

What is proved computes the same for every small size; what is refused has a witness that is true.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest

from loopwright.model.program import Program
from loopwright.prove.legality.legality import Status, prove_legal
from loopwright.prove.legality.parallel import ParallelLoop
from loopwright.prove.legality.reductions import reductions
from tests.c.support import region
from tests.legality.oracle import Event, carries, collides, computes_the_same, events, is_true
from tests.legality.programs import TEXTS
from tests.legality.random_schedules import original, random_schedule, schedules, times

SIZES = (1, 2, 3, 5)
SEEDS = range(30)


@cache
def program(name: str) -> Program:
    return region(TEXTS[name])


@cache
def small(name: str, size: int) -> tuple[Event, ...]:
    return tuple(events(program(name), {"n": size}))


def decided(name: str, seed: int) -> Status:
    """The verdict on one random schedule, checked against the truth."""
    own = program(name)
    chosen = random_schedule(own, random.Random(f"{name} {seed}"))
    clock = times(own, chosen)
    verdict = prove_legal(own, schedules(own, chosen))
    right = all(computes_the_same(list(small(name, size)), clock, {"n": size}) for size in SIZES)
    assert verdict.status is not Status.UNDECIDED
    assert right or verdict.status is Status.ILLEGAL, f"accepted: {schedules(own, chosen)}"
    assert all(collides(own, found, clock) for found in verdict.defects)
    if not verdict.defects:
        assert all(is_true(own, found, clock) for found in verdict.violations[:3])
    return verdict.status


@pytest.mark.parametrize("name", TEXTS)
def test_no_illegal_schedule_is_accepted_and_every_refusal_has_a_true_witness(name: str) -> None:
    found = Counter(decided(name, seed) for seed in SEEDS)
    assert found[Status.PROVED] and found[Status.ILLEGAL], found


@pytest.mark.parametrize("name", ["product", "solve", "shared sum"])
def test_with_reassociation_the_same_up_to_the_order_in_sums(name: str) -> None:
    own = program(name)
    sums = {statement: found.operator for statement, found in reductions(own).items()}
    gained = 0
    for seed in range(60):
        chosen = random_schedule(own, random.Random(f"sums {name} {seed}"))
        clock = times(own, chosen)
        verdict = prove_legal(own, schedules(own, chosen), allow_reassociation=True)
        if not verdict.proved:
            continue
        assumed = {one.statement: sums[one.statement] for one in verdict.reassociations}
        gained += bool(assumed)
        for size in SIZES:
            assert computes_the_same(list(small(name, size)), clock, {"n": size}, assumed), chosen
    assert gained, "no schedule needed it"


@pytest.mark.parametrize("name", TEXTS)
def test_a_parallel_loop_is_accepted_only_if_its_iterations_do_not_meet(name: str) -> None:
    own = program(name)
    for seed in range(6):
        dice = random.Random(f"parallel {name} {seed}")
        chosen = original(own) if seed < 2 else random_schedule(own, dice)
        clock = times(own, chosen)
        dimension = 1 + 2 * seed if seed < 2 else dice.choice([1, 3])
        if dimension >= len(clock(own.statements[0].name, (1,) * own.statements[0].depth, {})):
            continue
        loop = ParallelLoop(dimension, tuple(chosen), "it")
        verdict = prove_legal(own, schedules(own, chosen), parallel=[loop])
        found = [item for item in verdict.violations if item.loop == "it"]
        meets = any(carries(list(small(name, size)), clock, {"n": size}, dimension) for size in SIZES)
        assert found or verdict.defects or not meets
        assert all(is_true(own, item, clock, dimension) for item in found)


def test_the_programs_as_written_are_legal() -> None:
    for name in TEXTS:
        own = program(name)
        assert prove_legal(own, own).proved
        assert prove_legal(own, schedules(own, original(own))).proved
