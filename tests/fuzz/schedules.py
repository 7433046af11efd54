"""Tests `codegen` on random schedules, and the proof of loops on its results with one mistake; all are run.

The schedules are those of `tests.generate`, which enumerates what they mean.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from loopwright.errors import BadInput, Code, GaveUp
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Node
from loopwright.model.schedule import Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved, Refuted, Verdict
from loopwright.read.isl_flat import parse as parse_flat
from loopwright.read.isl_tree import parse as parse_tree
from tests.fuzz.findings import Finding
from tests.fuzz.limits import Late, limited
from tests.generate.brute_force import Timed, allowed, expected, mistake
from tests.generate.strategies import flat_texts, generation_options, tree_texts
from tests.prove.mutation import mutants

TOGETHER = 25
"""Schedules that are drawn at a time."""
MISTAKES = 3
"""Programs with a mistake for each schedule."""
VALUES = ((0, 0), (1, 3), (3, 4), (4, 2), (-1, 2))
LIMIT = 20_000
LONG = 700
"""Characters of schedules of which one in four is taken: they are slow to decide."""
_SMALL = 20
_Executions: TypeAlias = dict[tuple[int, int], list[Timed]]


@dataclass(frozen=True)
class _Drawn:
    text: str
    options: GenerationOptions
    picks: list[int]

    @property
    def schedule(self) -> Schedule:
        is_tree = self.text.startswith("{ domain")
        return parse_tree(self.text, "k.st") if is_tree else parse_flat(self.text, "k.in")


@lru_cache(maxsize=2)
def _drawn(number: int) -> tuple[_Drawn, ...]:
    """The schedules of a number."""
    found: list[_Drawn] = []
    texts = st.one_of(flat_texts(), tree_texts())
    picks = st.lists(st.integers(0, 10_000), min_size=MISTAKES, max_size=MISTAKES)
    no_checks = list(HealthCheck)

    @seed(number)
    @settings(
        max_examples=TOGETHER,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=no_checks,
    )
    @given(texts, generation_options, picks)
    def draw(text: str, options: GenerationOptions, picks: list[int]) -> None:
        if len(text) < LONG or picks[0] % 4 == 0:
            found.append(_Drawn(text, options, picks))

    draw()
    return tuple(found[2:])  # the first ones are the simplest that there are, whatever the number


def schedule_case(number: int, outcomes: Counter[str]) -> list[Finding]:
    """What is wrong with the loops of a schedule, or with what is said of loops with a mistake."""
    drawn = _drawn(number // TOGETHER)
    if number % TOGETHER >= len(drawn):
        return []
    one = drawn[number % TOGETHER]
    try:
        with limited():
            return _judged(number, one, outcomes)
    except Late:
        outcomes["codegen: late"] += 1
        return []
    except BadInput as refusal:
        outcomes["codegen: BadInput"] += 1
        return [] if refusal.code is Code.UNBOUNDED else [_finding(number, one, f"refused: {refusal}")]
    except GaveUp:
        outcomes["codegen: GaveUp"] += 1
        return []
    except Exception as failure:
        return [_finding(number, one, f"{type(failure).__name__}: {failure}")]


def _judged(number: int, one: _Drawn, outcomes: Counter[str]) -> list[Finding]:
    schedule = one.schedule
    program = generate(schedule, one.options)
    there = [sizes for sizes in VALUES if allowed(schedule, _named(sizes))]
    wanted: _Executions = {sizes: expected(schedule, _named(sizes)) for sizes in there}
    found = []
    verdict = prove_scan(schedule, program)
    outcomes[f"codegen: {type(verdict).__name__}"] += 1
    wrong = _wrong(program, wanted)
    if not isinstance(verdict, Proved) or wrong is not None:
        found.append(_finding(number, one, f"codegen: {wrong or verdict}", program))
    others = [other for what, other in mutants(program) if what != "make it parallel"]
    for pick in one.picks if others else []:
        other = others[pick % len(others)]
        said = prove_scan(schedule, other)
        outcomes[f"scan: {type(said).__name__}"] += 1
        told = _denied(schedule, other, said, wanted)
        found += [] if told is None else [_finding(number, one, told, other)]
    return found


def _named(sizes: tuple[int, int]) -> dict[str, int]:
    return dict(zip("nm", sizes, strict=True))


def _wrong(program: Node, wanted: _Executions) -> str | None:
    """The first of the sizes at which a program does not do what is wanted."""
    for sizes, executions in wanted.items():
        told = _run(program, executions, _named(sizes))
        if told is not None:
            return f"{_named(sizes)}: {told}"
    return None


def _run(program: Node, wanted: list[Timed], values: dict[str, int]) -> str | None:
    try:
        return mistake(wanted, islice(execute(program, values, LIMIT), LIMIT))
    except GaveUp:
        return "it does not end"


def _denied(schedule: Schedule, other: Node, said: Verdict, wanted: _Executions) -> str | None:
    """What running says against a verdict."""
    match said:
        case Proved():
            told = _wrong(other, wanted)
            return None if told is None else f"proved, but {told}"
        case Refuted(parameters=values) if all(abs(value) < _SMALL for value in values.values()):
            at = {"n": 0, "m": 0} | values
            if allowed(schedule, at) and _run(other, expected(schedule, at), at) is None:
                return f"a no that no run confirms: {said}"
    return None


def _finding(number: int, one: _Drawn, what: str, program: Node | None = None) -> Finding:
    texts = (("schedule", one.text), ("options", str(one.options)), ("loops", str(program)))
    return Finding("codegen", number, what, texts)
