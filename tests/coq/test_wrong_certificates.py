"""Wrong claims of every kind, with the certificates of the right ones, changed in ways of every kind."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable

import pytest

from loopwright.generate.program import generate
from loopwright.prove.certificates import checker
from loopwright.prove.certificates.checker import Checked, NotChecked
from loopwright.prove.certificates.problems import change_problem, range_problem, scan_problem
from loopwright.prove.obligations.timetable import timetable
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from loopwright.transform import to_schedule, transform
from tests.coq import test_checker_buffers as buffers
from tests.coq import test_checker_storage as storage
from tests.coq.certificate_mutations import mutated, read, written
from tests.coq.test_program_file import FLAT
from tests.generate.support import flat

pytestmark = [
    pytest.mark.skipif(shutil.which("ocamlopt") is None, reason="ocamlopt is missing: apt install ocaml"),
    pytest.mark.usefixtures("built"),
]
FUZZED = int(os.environ.get("LOOPWRIGHT_CERTIFICATES", "60"))
"""Wrong certificates that are tried in all; `make fuzz-certificates` tries a thousand."""


def scan() -> str:
    schedule = flat(FLAT["fused"])
    node = generate(schedule)
    return scan_problem(timetable(schedule, node), node)


def change() -> str:
    text = "for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) S: A[i][j] = A[i - 1][j] + C[j];"
    (program,) = read_source(Source("region.c", storage.REGION.format(text)))
    plan = transform(program, "interchange(S, i, j)\nparallel(S, j)", "script.lw")
    return change_problem(plan.original, plan.program, generate(to_schedule(plan))).terms


def ranges() -> str:
    (program,) = read_source(Source("region.c", storage.REGION.format(storage.COLUMNS)))
    return range_problem(program).words


def known() -> str:
    """The loops are right where n is large enough."""
    domain = "[n] -> { S[i] -> [i, 0] : 0 <= i < n; T[] -> [0, 1] : n >= 5 }"
    schedule = flat(domain, context="[n] -> { : n >= 5 }")
    node = generate(schedule)
    return scan_problem(timetable(schedule, node), node)


def divided() -> str:
    return storage.words(storage.planned(storage.COLUMNS, storage.PARTLY.replace("; ", "\n")))


def stored() -> str:
    return storage.words(storage.planned(storage.SUM, "expand(x, i)\ndistribute(S, T, U)"))


def buffered() -> str:
    return buffers.words(buffers.planned(buffers.SCALED, f"{buffers.BLOCKS}; {buffers.TILES}"))


WRONG: list[tuple[Callable[[], str], str, str]] = [
    (scan, "term for 'c0 int 0 < var 'c0 var 'n", "term for 'c0 int 0 <= var 'c0 var 'n"),
    (scan, "call 'S 1 var 'c0", "call 'S 1 sum 2 var 'c0 int 1"),
    (scan, "< var 'i var 'n 2 var 'i int 1", "< var 'i var 'n 2 var 'i int -1"),
    (known, "'n <= int 5 var 'n", "'n <= int 0 var 'n"),
    (change, "'A 2 sum 2 var 'i int -1 var 'j", "'A 2 var 'j sum 2 var 'i int -1"),
    (change, "'A 2 sum 2 var 'i int -1 var 'j", "'A 2 sum 2 var 'i int -1 sum 2 var 'j int 1"),
    (change, "call 'S1 2 var 'c1 var 'c0", "call 'S1 2 var 'c0 var 'c1"),
    (ranges, "<= var 'n int 2147483647", "<= var 'n int 2147483648"),
    (stored, "'x_i 1 var 'i", "'x_i 1 int 0"),
    (divided, "call 'S1 2 var 'i var 'j 0 for", "call 'S1 2 var 'j var 'i 0 for"),
    (buffered, buffers.TAGS, "int 0"),
    (buffered, "scaled -8 floor var 'i 8", "scaled -4 floor var 'i 8"),
]
"""A right problem, and what is put in the place of something in it: program, domain, time, context, cells."""


@pytest.mark.parametrize(("right", "old", "new"), WRONG, ids=[one[0].__name__ + one[2] for one in WRONG])
def test_wrong_claims_are_refused(right: Callable[[], str], old: str, new: str) -> None:
    problem = right()
    given = checker.certificates(problem, 20)
    assert isinstance(given, str) and old in problem, problem
    assert written(read(given)).split() == given.split()
    assert isinstance(checker.checked(problem, given), Checked)
    wrong = problem.replace(old, new)
    assert isinstance(checker.asked(wrong), NotChecked)
    chance = random.Random(f"{old} {new}")
    for _ in range(1 + FUZZED // len(WRONG)):
        words = mutated(given, chance)
        answer = checker.checked(wrong, words)
        assert isinstance(answer, NotChecked), (answer, words)
