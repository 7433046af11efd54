"""Statements as functions of Python give the bits that walking over their terms gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from random import Random

import pytest

from loopwright.c.types import DOUBLE
from loopwright.prove.equivalence.arithmetic import World, computed, differ
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.numbers import Undefined
from loopwright.prove.equivalence.traces import StatementRun, runnable
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.fuzz.nests import assignment, lines, random_scope
from tests.fuzz.programs import FLOATING, INTEGERS, Array
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
    assert all(step.computation.in_numbers is not None for step in steps)
    worlds = [World(seed, DOUBLE, False, frozenset()) for seed in (2, 5)]
    fast = [computed(steps, world) for world in worlds]
    walk(steps, monkeypatch)
    for world, found in zip(worlds, fast, strict=True):
        slow = computed(steps, world)
        assert slow.keys() == found.keys() and len(slow) > 5
        assert not any(differ(found[place], slow[place]) for place in slow)


def walk(steps: Sequence[StatementRun], monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on terms are walked over."""
    never = cached_property(lambda computation: None)
    never.__set_name__(Computation, "in_numbers")
    for step in steps:
        step.computation.__dict__.pop("in_numbers", None)
    monkeypatch.setattr(Computation, "in_numbers", never)


MIXED = """
{declared}
void f(int n, int m, unsigned u, short h)
{{
#pragma scop
  for (int i = 1; i < n; i++) {{
{text}
  }}
#pragma endscop
}}
"""


@pytest.mark.parametrize("seed", range(3))
def test_all_types_of_c(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements of all types and operations: the same numbers and types, or undefined both times."""
    rng = Random(seed)
    arrays = tuple(Array(f"A{k}", kind, 1) for k, kind in enumerate(sorted({*INTEGERS, *FLOATING})))
    scope = replace(random_scope(rng, arrays, ()), loops=("i",))
    text = "\n".join(lines([assignment(scope) for _ in range(40)], "    "))
    declared = " ".join(f"{one.declaration};" for one in arrays)
    (program,) = read_source(Source("f.c", MIXED.format(declared=declared, text=text)))
    steps = runnable(program).run({"n": 4, "m": 3, "u": 2, "h": 5})
    assert steps is not None
    translated = [step for step in steps if step.computation.in_numbers is not None]
    assert len(translated) > 30 * 3
    worlds = [World(number, DOUBLE, False, frozenset()) for number in range(6)]
    fast = [[outcome([step], world) for world in worlds] for step in translated]
    walk(steps, monkeypatch)
    for step, found in zip(translated, fast, strict=True):
        assert [outcome([step], world) for world in worlds] == found


def outcome(steps: Sequence[StatementRun], world: World) -> str:
    try:
        found = computed(steps, world)
    except Undefined:
        return "undefined"
    return str(sorted((place, str(value)) for place, value in found.items()))


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
    assert steps is not None and all(step.computation.in_numbers is not None for step in steps)
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
