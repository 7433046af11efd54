"""Runs on doubles alone, and on ints, give the bits that arithmetic with all types of C gives."""

from __future__ import annotations

from functools import cached_property

import pytest

from loopwright.c.types import DOUBLE
from loopwright.prove.equivalence.arithmetic import Undefined, World, computed, differ
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.traces import runnable
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.kernel_programs import kernel_program


@pytest.mark.parametrize(
    "name", ("cholesky", "lu", "gemver", "jacobi-2d", "seidel-2d", "heat-3d", "floyd-warshall")
)
def test_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cholesky has roots, lu divides, gemver has scalars, jacobi-2d constants, the next two whole ones;
    floyd-warshall is of ints and has choices.
    """
    program = kernel_program(name)
    steps = runnable(program).run(dict.fromkeys(program.params, 6))
    assert steps is not None
    way = "in_integers" if name == "floyd-warshall" else "in_doubles"
    computations = [step.computation for step in steps]
    runs = [one.in_integers if way == "in_integers" else one.in_doubles for one in computations]
    assert all(run is not None for run in runs)
    worlds = [World(seed, DOUBLE, False, frozenset()) for seed in (2, 5)]
    fast = [computed(steps, world) for world in worlds]
    never = cached_property(lambda computation: None)
    never.__set_name__(Computation, way)
    for step in steps:
        step.computation.__dict__.pop(way, None)
    monkeypatch.setattr(Computation, way, never)
    for world, found in zip(worlds, fast, strict=True):
        slow = computed(steps, world)
        assert slow.keys() == found.keys() and len(slow) > 5
        assert not any(differ(found[place], slow[place]) for place in slow)


OVERFLOW = """
int a[4], b[4];
void f(void)
{
#pragma scop
  for (int i = 0; i < 4; i++)
    a[i] = b[i] * 2000000000;
#pragma endscop
}
"""


def test_an_int_that_overflows_shows_nothing() -> None:
    (program,) = read_source(Source("f.c", OVERFLOW))
    steps = runnable(program).run({})
    assert steps is not None and all(step.computation.in_integers is not None for step in steps)
    with pytest.raises(Undefined):
        computed(steps, World(2, DOUBLE, False, frozenset()))


CHOSEN = """
double x[9], y[9];
int p[9], q[9];
void f(void)
{
#pragma scop
  for (int i = 0; i < 9; i++)
    if (TEST)
      y[i] = x[i];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [("p[i] > 0", "p[i] >= 1"), ("p[i] - q[i] > 0", "p[i] > q[i]"), ("2 * p[i] == 1", "p[i] != p[i]")],
)
def test_ints_that_choose_doubles_are_ints(one: str, other: str) -> None:
    runs = []
    for test in (one, other):
        (program,) = read_source(Source("f.c", CHOSEN.replace("TEST", test)))
        steps = runnable(program).run({})
        assert steps is not None
        runs.append(steps)
    for seed in range(5):
        world = World(seed, DOUBLE, False, frozenset())
        found = [computed(steps, world) for steps in runs]
        assert found[0].keys() == found[1].keys() and len(found[0]) == 9
        assert not any(differ(found[0][place], found[1][place]) for place in found[0])
