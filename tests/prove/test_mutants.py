"""Mutation: every mistake that changes the run is refuted, with a witness that shows it in a run.

What a run should be is enumerated from the schedule, and what it is, interpreted; neither knows
the prover.  A mutant that still runs the schedule must be proved.
"""

from __future__ import annotations

from itertools import islice, product

import islpy as isl
import pytest

from benchmarks.peer import peer_generate
from loopwright.errors import GaveUp
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Node
from loopwright.model.schedule import Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved, Refuted
from loopwright.read.schedules import read_schedule
from tests.generate.brute_force import Timed, expected, mistake
from tests.prove.mutation import mutants

FLAT = {
    "line": "[n] -> { S[i] -> [i] : 0 <= i < n }",
    "triangle": "[n] -> { S[i, j] -> [j, i] : 0 <= j <= i < n }",
    "stride": "[n] -> { S[i] -> [i] : 1 <= i <= n and i mod 3 = 1 }",
    "stride from a parameter": "[n, m] -> { S[i] -> [i] : m <= i <= n and (i - m) mod 2 = 0 }",
    "fused": "[n] -> { S[i] -> [i, 0] : 0 <= i < n; T[i] -> [i, 1] : 2 <= i < n }",
    "shifted": "[n] -> { S[i] -> [i] : 0 <= i <= n; T[i] -> [i + 2] : 0 <= i <= n }",
    "tiled": "[n] -> { S[i, j] -> [t, j, i] : t = floor(i/3) and 0 <= i < n and 0 <= j < 2 }",
    "if and else": "[n, m] -> { S[i] -> [i] : 0 <= i < n and m > 2; T[i] -> [i] : 0 <= i < n and m <= 2 }",
    "parity": "[n] -> { S[i] -> [i] : 0 < i < n and i mod 2 = 0; T[i] -> [i] : 0 < i < n and i mod 2 = 1 }",
    "not injective": "[n] -> { S[i, j] -> [i] : 0 <= i < n and 0 <= j < 2; T[] -> [0] : n >= 0 }",
    "division": "[n] -> { S[i] -> [i] : 0 <= 2i <= n; T[] -> [floor(n/2) + 1] : n >= 0 }",
}
TREE = """
domain: "[n] -> { S[i] : 0 <= i < n; T[i, j] : 0 <= i < n and i <= j < n; U[i] : 0 <= i < n }"
child:
  schedule: "[{ S[i] -> [i]; T[i, j] -> [i]; U[i] -> [i] }]"
  child:
    sequence:
    - filter: "{ S[i] }"
    - filter: "{ T[i, j]; U[i] : i > 0 }"
      child:
        set:
        - filter: "{ T[i, j] }"
          child:
            schedule: "[{ T[i, j] -> [-j] }]"
        - filter: "{ U[i] }"
    - filter: "{ U[i] : i <= 0 }"
"""
SMALL = range(-1, 6)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Schedule, Node]]:
    """The schedules, with programs for them that this project's generator had no part in."""
    folder = tmp_path_factory.mktemp("schedules")
    files = {name: (f"{name}.in", f"{text}\n{{ : }}\n{{ }}\n") for name, text in FLAT.items()}
    files["tree"] = ("tree.st", TREE)
    found = {}
    for name, (file, text) in files.items():
        path = folder / file
        path.write_text(text)
        found[name] = read_schedule(path), peer_generate(path)[0]
    return found


class Runs:
    """The judge: what a schedule asks of a run, enumerated once for each parameter value."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._wanted: dict[tuple[int, ...], list[Timed]] = {}
        self.names = [str(name) for name in schedule.domain.params().get_var_names(isl.dim_type.param)]

    def mistake(self, program: Node, values: dict[str, int]) -> str | None:
        key = tuple(values.values())
        if key not in self._wanted:
            self._wanted[key] = expected(self._schedule, values)
        try:
            return mistake(self._wanted[key], islice(execute(program, values, 3000), 1000))
        except GaveUp:
            return "it does not end"

    def any_mistake(self, program: Node) -> str | None:
        small = (
            dict(zip(self.names, values, strict=True)) for values in product(SMALL, repeat=len(self.names))
        )
        return next(filter(None, (self.mistake(program, values) for values in small)), None)


@pytest.mark.parametrize("name", [*FLAT, "tree"])
def test_mutants(name: str, programs: dict[str, tuple[Schedule, Node]]) -> None:
    schedule, program = programs[name]
    runs = Runs(schedule)
    assert runs.any_mistake(program) is None
    assert isinstance(prove_scan(schedule, program), Proved)
    killed = 0
    for what, mutant in mutants(program):
        if what == "make it parallel":
            continue
        verdict = prove_scan(schedule, mutant)
        seen = runs.any_mistake(mutant)
        match verdict:
            case Proved():
                assert seen is None, f"{what}: {mutant}"
            case Refuted():
                shown = runs.mistake(mutant, verdict.parameters)
                assert shown is not None, f"{what}: {verdict}: {mutant}"
                killed += 1
            case _:
                pytest.fail(f"{what}: {verdict}: {mutant}")
    assert killed > 5
