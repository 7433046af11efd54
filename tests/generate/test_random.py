"""The law of code generation: whatever the schedule and the options, the program is proved, and
running it gives what enumerating the schedule gives."""

from __future__ import annotations

from hypothesis import given, note, settings

from loopwright.emit.c import to_c
from loopwright.errors import BadInput, Code, InternalError
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Node
from loopwright.model.schedule import Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved
from loopwright.read.isl_flat import parse as parse_flat
from loopwright.read.isl_tree import parse as parse_tree
from tests.conftest import examples
from tests.generate.brute_force import allowed, expected, mistake
from tests.generate.strategies import flat_texts, generation_options, tree_texts, unbounded_texts

VALUES = ((0, 0), (1, 3), (3, 4), (4, 2), (-1, 2), (2, 3))
LIMIT = 100_000


def check(schedule: Schedule, options: GenerationOptions) -> None:
    program = generated(schedule, options)
    note(to_c(program))
    for n, m in VALUES:
        values = {"n": n, "m": m}
        if not allowed(schedule, values):
            continue
        wrong = mistake(expected(schedule, values), execute(program, values, LIMIT))
        assert wrong is None, f"n = {n}, m = {m}: {wrong}"
    verdict = prove_scan(schedule, program)
    assert isinstance(verdict, Proved), verdict


def generated(schedule: Schedule, options: GenerationOptions) -> Node:
    """The program; a failure loses the isl error it comes from, which hypothesis cannot compare."""
    try:
        return generate(schedule, options)
    except InternalError as error:
        raise AssertionError(error.message) from None


@settings(max_examples=examples(100))
@given(flat_texts(), generation_options)
def test_flat_schedules(text: str, options: GenerationOptions) -> None:
    note(text)
    check(parse_flat(text, "random.in"), options)


@settings(max_examples=examples(50))
@given(unbounded_texts(), generation_options)
def test_schedules_without_an_end(text: str, options: GenerationOptions) -> None:
    """Loops that do not end run only where there is something to execute for ever."""
    note(text)
    schedule = parse_flat(text, "random.in")
    try:
        program = generated(schedule, options)
    except BadInput as refusal:
        assert refusal.code is Code.UNBOUNDED
        return
    note(to_c(program))
    verdict = prove_scan(schedule, program)
    assert isinstance(verdict, Proved), verdict


@settings(max_examples=examples(60))
@given(tree_texts(), generation_options)
def test_schedule_trees(text: str, options: GenerationOptions) -> None:
    note(text)
    check(parse_tree(text, "random.st"), options)
