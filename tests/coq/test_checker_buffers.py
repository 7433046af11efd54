"""The verified checker on buffers that hold products, and on buffers of which each block has its own."""

from __future__ import annotations

import os
import random
import shutil

import pytest

from loopwright.generate.program import generate
from loopwright.prove.certificates import checker
from loopwright.prove.certificates.checker import Checked, NotChecked
from loopwright.prove.certificates.stored import stored_problem
from loopwright.prove.verdict import CHECKED, NOT_CHECKED, SEQUENTIAL
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from loopwright.transform import Plan, to_schedule, transform
from tests.coq.support import assert_accepted, needs_coqc, proof_file, storage_status
from tests.coq.test_checker import with_other_numbers

pytestmark = [
    pytest.mark.skipif(shutil.which("ocamlopt") is None, reason="ocamlopt is missing: apt install ocaml"),
    pytest.mark.usefixtures("built"),
]
FUZZED = int(os.environ.get("LOOPWRIGHT_CERTIFICATES", "60"))

REGION = """
void region(int n, double a, double A[n][n], double B[n], double C[n]) {{
#pragma scop
{}
#pragma endscop
}}
"""
SCALED = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) S: C[i] += a * A[i][j] * B[j];"
WRITTEN = SCALED.replace("for (int j", "{ T: A[i][0] = 0; for (int j") + " }"
BLOCKS = "tile(S, 8, 4); Copies = pack(A, S, jT, scaled, shared); thread(S, i=8); thread(Copies, A_1=8)"
TILES = (
    "Tiles = lift(S, 1); (Full, Rest) = isplit(Tiles, {[iT] : 8 * iT + 8 <= n}, 0); "
    "block(Full, iT); block(Rest, iT)"
)


def planned(text: str, script: str) -> Plan:
    (program,) = read_source(Source("region.c", REGION.format(text)))
    return transform(program, script.replace("; ", "\n"), "script.lw")


def words(plan: Plan) -> str:
    return stored_problem(plan.storage, plan.program, generate(to_schedule(plan))).words


@pytest.mark.parametrize(
    ("text", "script", "status"),
    [
        (SCALED, "pack(A, S, scaled)", CHECKED),
        (SCALED, "interchange(S, i, j); pack(A, S, j, scaled)", CHECKED),
        (SCALED.replace("a * A[i][j]", "A[i][j] * a"), "pack(A, S, scaled)", CHECKED),
        (WRITTEN, "distribute(T, S); pack(A, S, scaled)", NOT_CHECKED),
        (SCALED, "pack(A, S, i, scaled); parallel(S, i)", SEQUENTIAL),
        (SCALED, f"{BLOCKS}; block(S, iT)", CHECKED),
        (SCALED, f"{BLOCKS}; {TILES}", CHECKED),
    ],
)
def test_products_are_values_and_blocks_have_their_own(text: str, script: str, status: str) -> None:
    """Of cells that nothing writes; blocks and threads in any order."""
    plan = planned(text, script)
    found = storage_status(plan)
    assert found.status == status, found


TAGS = "select <= sum 2 scaled 8 floor var 'i 8 int 8 var 'n floor var 'i 8 int 0"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("parts 2 entered 1 entered 0", "entered 1"),
        ("parts 2 entered 1 entered 0", "parts 1 entered 1"),
        ("parts 2 entered 1 entered 0", "parts 2 entered 1 entered 1"),
        ("parts 2 entered 1 entered 0", "parts 2 entered 2 entered 0"),
        (TAGS, "int 0"),
        (TAGS, TAGS.replace("int 8 var 'n", "int 9 var 'n")),
        (TAGS, TAGS.replace("floor var 'i 8 int 0", "floor var 'i 4 int 0")),
        ("1 'A_packed 2 3 int 1", "1 'C 2 3 int 1"),
        ("1 'A_packed 2 3 int 1", "2 'A_packed 'C 2 3 int 1"),
        ("1 'A_packed 2 3 int 1", "0 2 3 int 1"),
        ("1 'A_packed 2 3 int 1", "1 'A_packed 2 3 int 2"),
        ("2 'a 0 'A 2 var 'z0 var 'z1", "2 'a 0 'C 1 var 'z0"),
        ("2 'a 0 'A 2 var 'z0 var 'z1", "2 'a 0 'A_packed 2 var 'z0 var 'z1"),
        ("2 'a 0 'A 2 var 'z0 var 'z1", "2 'a 0 'a%20%2A%20A 2 var 'z0 var 'z1"),
        ("1 'a%20%2A%20A 2 'z0 'z1", "2 'C 0 0 'a%20%2A%20A 2 'z0 'z1"),
        ("from 'S2 4 floor var 'i 8 floor var 'j 4", "from 'S2 4 floor var 'i 8 floor var 'i 4"),
        ("'a%20%2A%20A 2 var 'A_1 var 'A_2 'A_packed", "'a%20%2A%20A 2 var 'A_2 var 'A_1 'A_packed"),
    ],
)
def test_wrong_buffers_are_refused(right: str, wrong: str) -> None:
    """Tags that are no iterations, buffers that are compared, products of what is written, other cells."""
    problem = words(planned(SCALED, f"{BLOCKS}; {TILES}"))
    assert right in problem, problem
    assert isinstance(checker.asked(problem.replace(right, wrong, 1)), NotChecked)


def test_no_certificate_makes_one_buffer_of_all_blocks_right() -> None:
    problem = words(planned(SCALED, f"{BLOCKS}; {TILES}"))
    given = checker.certificates(problem, 20)
    assert isinstance(given, str) and isinstance(checker.checked(problem, given), Checked)
    wrong = problem.replace(TAGS, "int 0").replace(TAGS.replace("floor var 'i 8", "var 'iT"), "int 0")
    chance = random.Random(17)
    for _ in range(FUZZED):
        answer = checker.checked(wrong, with_other_numbers(given, chance))
        assert isinstance(answer, NotChecked), answer


@needs_coqc
def test_coq_agrees_on_buffers() -> None:
    files: list[str] = []
    for script in ("pack(A, S, scaled)", f"{BLOCKS}; {TILES}"):
        problem = words(planned(SCALED, script))
        given = checker.certificates(problem, 20)
        assert isinstance(given, str)
        files.append(proof_file(problem, given))
    assert_accepted(files)
