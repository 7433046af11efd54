"""Random schedules, programs for them, and mistakes in these: the verdict is what runs show."""

from __future__ import annotations

from itertools import islice

from hypothesis import given, note, settings
from hypothesis import strategies as st

from loopwright.errors import GaveUp
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Node
from loopwright.model.schedule import Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved, Refuted
from loopwright.read.isl_flat import parse as parse_flat
from loopwright.read.isl_tree import parse as parse_tree
from tests.conftest import examples
from tests.generate.brute_force import allowed, expected, mistake
from tests.generate.strategies import flat_texts, tree_texts
from tests.prove.mutation import mutants

VALUES = ((0, 0), (1, 3), (3, 4), (4, 2), (-1, 2), (2, 3))
LIMIT = 20_000


def run_mistake(schedule: Schedule, program: Node, values: dict[str, int]) -> str | None:
    if not allowed(schedule, values):
        return None
    try:
        return mistake(expected(schedule, values), islice(execute(program, values, LIMIT), LIMIT))
    except GaveUp:
        return "it does not end"


def judge(schedule: Schedule, program: Node) -> None:
    """No wrong program is proved; one that is refuted goes wrong for the parameters of the witness."""
    verdict = prove_scan(schedule, program)
    note(str(verdict))
    match verdict:
        case Proved():
            for n, m in VALUES:
                assert run_mistake(schedule, program, {"n": n, "m": m}) is None
        case Refuted(parameters=values) if all(abs(value) < 20 for value in values.values()):
            assert run_mistake(schedule, program, {"n": 0, "m": 0} | values) is not None


def chosen(program: Node, seeds: list[int]) -> list[Node]:
    """A few of the mutants; making a loop parallel changes no run of the interpreter."""
    found = [mutant for what, mutant in mutants(program) if what != "make it parallel"]
    return [found[seed % len(found)] for seed in seeds] if found else []


seeds = st.lists(st.integers(0, 10_000), min_size=1, max_size=4)


@settings(max_examples=examples(60))
@given(flat_texts(), seeds)
def test_mutants_for_flat_schedules(text: str, picks: list[int]) -> None:
    note(text)
    schedule = parse_flat(text, "random.in")
    for mutant in chosen(generate(schedule, GenerationOptions()), picks):
        note(str(mutant))
        judge(schedule, mutant)


@settings(max_examples=examples(60))
@given(tree_texts(), seeds)
def test_mutants_for_schedule_trees(text: str, picks: list[int]) -> None:
    note(text)
    schedule = parse_tree(text, "random.st")
    for mutant in chosen(generate(schedule, GenerationOptions()), picks):
        note(str(mutant))
        judge(schedule, mutant)
