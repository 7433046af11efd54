"""Runs on doubles alone give the bits that arithmetic with all types of C gives."""

from __future__ import annotations

from functools import cached_property

import pytest

from loopwright.c.types import DOUBLE
from loopwright.prove.equivalence.arithmetic import World, computed, differ
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.traces import runnable
from loopwright.read.c.reader import read_c
from tests.conftest import ROOT


@pytest.mark.parametrize("name", ("cholesky", "lu", "gemver", "jacobi-2d", "seidel-2d", "heat-3d"))
def test_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cholesky has roots, lu divides, gemver has scalars, jacobi-2d constants, the last two whole ones."""
    (program,) = read_c(ROOT / "kernels" / f"{name}.c")
    steps = runnable(program).run(dict.fromkeys(program.params, 6))
    assert steps is not None
    assert all(step.computation.in_doubles is not None for step in steps)
    worlds = [World(seed, DOUBLE, False, frozenset()) for seed in (2, 5)]
    fast = [computed(steps, world) for world in worlds]
    never = cached_property(lambda computation: None)
    never.__set_name__(Computation, "in_doubles")
    for step in steps:
        step.computation.__dict__.pop("in_doubles", None)
    monkeypatch.setattr(Computation, "in_doubles", never)
    for world, found in zip(worlds, fast, strict=True):
        slow = computed(steps, world)
        assert slow.keys() == found.keys() and len(slow) > 5
        assert not any(differ(found[place], slow[place]) for place in slow)
