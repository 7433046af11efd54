"""A file about one program: every construct of schedules and loops, accepted by Coq."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.emit.c import printed_loops, to_c
from loopwright.generate.program import generate
from loopwright.model.schedule import LoopType, Schedule
from loopwright.prove.certificates.files import program_file
from loopwright.prove.certificates.status import PrintedLoops, certified, scan_tries
from loopwright.prove.coq.check import Accepted, Refused, check, library
from loopwright.prove.obligations.timetable import timetable
from loopwright.read.schedules import read_schedule
from tests.coq.support import SECONDS, assert_accepted, loops_file, needs_coqc
from tests.generate.support import flat, proved_program, tree
from tests.prove.test_mutants import FLAT as MUTATED
from tests.prove.test_mutants import TREE

pytestmark = pytest.mark.usefixtures("built")
EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.poly"))

FLAT = {
    **MUTATED,
    "nothing": "{ S[i] -> [i] : 0 <= i < 0 }",
    "one point": "{ S[] -> [0] }",
    "several times": "[n] -> { S[i] -> [t] : 0 <= i < n and 2i <= t <= 2i + 1 }",
    "in pieces": "[n] -> { S[i] -> [0, i] : 0 <= i < n and 2i >= n; S[i] -> [1, i] : 0 <= i and 2i < n }",
    "words of Coq": "[S, O] -> { for[p, x] -> [x, p] : 0 <= p < S and 0 <= x < O }",
    "two arities": "[n] -> { S[i] -> [0, i] : 0 <= i < n; S[i, j] -> [1, i + j] : 0 <= i, j < n }",
    "empty for small n": "[n] -> { S[i] -> [i] : 5 <= i <= n - 5 }",
}


@needs_coqc
def test_the_examples_are_accepted() -> None:
    schedules = [read_schedule(path) for path in EXAMPLES]
    assert len(schedules) >= 6
    assert_accepted([loops_file(one, generate(one)) for one in schedules])


@needs_coqc
def test_schedules_of_every_kind_are_accepted() -> None:
    schedules = [flat(text) for text in FLAT.values()] + [tree(TREE)]
    assert_accepted([loops_file(one, proved_program(one)) for one in schedules])


@needs_coqc
@pytest.mark.parametrize("loop_type", [LoopType.SEPARATE, LoopType.UNROLL])
def test_separated_and_unrolled_loops_are_accepted(loop_type: LoopType) -> None:
    texts = [
        "[n] -> { A[i] -> [i, 0] : 0 <= i < 12; B[i] -> [i, 1] : 5 <= i <= 16 }",
        "[n] -> { A[i, j] -> [i, j] : 0 <= j <= i < 4; B[i, j] -> [i, j] : i = 3 and 0 <= j < 3 }",
    ]
    schedules = [flat(text) for text in texts]
    assert_accepted([loops_file(one, proved_program(one, loop_type=loop_type)) for one in schedules])


def written(schedule: Schedule) -> str:
    node = generate(schedule)
    text = to_c(node)
    found = certified(scan_tries(schedule, node, PrintedLoops(text, printed_loops(node))), SECONDS)
    return program_file(found, timetable(schedule, node), text, 'A title with "(*" in it')


def test_a_file_says_in_words_and_in_coq_what_is_proved() -> None:
    """The text is part of the theorem."""
    text = written(flat(FLAT["triangle"], context="[n] -> { : n >= 1 }"))
    for part in (
        "the loops end, having run every instance of",
        'Definition known : test := (Compare LT (Int 0) (Var "n")).',
        'Definition loops : source := Printed "for (int c0 = 0; c0 < n; c0 += 1)\n',
        "Theorem loops_correct : exists n, given parameters loops = Some n",
        "Print Assumptions loops_correct.",
    ):
        assert part in text, part


@needs_coqc
def test_a_file_about_nothing_is_refused() -> None:
    """Every file has an instance of each statement as an example."""
    text = written(flat(FLAT["triangle"]))
    known = "Definition known : test := (And [])."
    assert known in text
    found = check(text.replace(known, known.replace("And", "Or")), SECONDS)
    assert isinstance(found, Refused) and found.lemma == "instance_1", found


def test_a_title_cannot_end_the_comment() -> None:
    text = written(flat(FLAT["triangle"]))
    heading = text[: text.index("From Loopwright")]
    assert heading.count("(*") == heading.count("*)") == 1
    assert heading.count('"') % 2 == 0


def test_the_same_input_gives_the_same_file() -> None:
    assert written(flat(FLAT["parity"])) == written(flat(FLAT["parity"]))


@needs_coqc
def test_progress_counts_the_theorems() -> None:
    told: list[tuple[int, int]] = []

    def report(doing: str, done: int = 0, total: int = 0) -> None:
        told.append((done, total))

    text = written(flat(FLAT["one point"]))
    library(report)
    told.clear()
    assert check(text, SECONDS, report) == Accepted()
    count = sum(text.count(f"\n{word} ") for word in ("Theorem", "Example"))
    assert told == [(done, count) for done in range(count + 1)]
