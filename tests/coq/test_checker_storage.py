"""The verified checker on other storage: every read sees the value that it saw."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

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
from tests.kernel_programs import kernel_program

pytestmark = [
    pytest.mark.skipif(shutil.which("ocamlopt") is None, reason="ocamlopt is missing: apt install ocaml"),
    pytest.mark.usefixtures("built"),
]
KERNELS = Path(__file__).resolve().parents[2] / "kernels"
FUZZED = int(os.environ.get("LOOPWRIGHT_CERTIFICATES", "60"))

REGION = """
void region(int n, double A[n][n], double B[n][n], double *C) {{
  double x, y, u[100];
#pragma scop
{}
#pragma endscop
}}
"""
OWN = "for (int i = 0; i < n; i++) { S: x = A[i][i]; T: C[i] = x * x; }"
SUM = """for (int i = 0; i < n; i++) {
  S: x = 0;
  for (int j = 0; j < n; j++) T: x += A[i][j];
  U: C[i] = x;
}"""
CARRIED = "S: x = 0; for (int i = 0; i < n; i++) { T: C[i] = x; U: x = A[i][i]; }"
TWICE = """for (int i = 0; i < n; i++) { S: x = A[i][i]; T: C[i] = x; }
for (int i = 0; i < n; i++) { U: x = B[i][i]; V: C[i] = C[i] + x; }"""
MADE = """for (int i = 0; i < 100; i++) S: u[i] = C[i];
for (int i = 0; i < 100; i++) T: C[i] = u[i] * u[i];"""
COLUMNS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) S: C[i] = C[i] + A[j][i];"
SHIFTED = "for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) S: A[i][j] = A[i][j - 1] + B[j][i];"

SQUARES = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
  S: B[i][j] += A[i][k] * A[k][j];"""
NEIGHBOURS = """for (int i = 1; i < n - 1; i++) S: B[0][i] = C[i - 1] + C[i + 1];
for (int i = 1; i < n - 1; i++) T: C[i] = B[0][i];"""
SUMMED = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
  S: A[i][j] += C[i] * B[j][i] + C[j] * B[i][j];
  T: C[n + i] += A[i][j];
}"""
SPLIT = "(P, Q) = split_sum(S); reorder(Q, P)"
PARTLY = "(P, Q) = isplit(S, {[i, j] : j < 8}, 1); pack(A, P, transposed)"
"""Of a part of a statement only."""
PART_BY_PART = f"{PARTLY}; (R, Q) = isplit(Q, {{[i, j] : j < 16}}, 1); pack(A, R, transposed)"
"""The second part comes after what copies for the first one."""


def planned(text: str, script: str) -> Plan:
    (program,) = read_source(Source("region.c", REGION.format(text)))
    return transform(program, script, "script.lw")


def words(plan: Plan) -> str:
    return stored_problem(plan.storage, plan.program, generate(to_schedule(plan))).words


@pytest.mark.parametrize(
    ("text", "script", "status"),
    [
        (OWN, "expand(x, i); distribute(S, T)", CHECKED),
        (OWN, "expand(x, i); parallel(S, i)", CHECKED),
        (OWN, "distribute(S, T); expand(x, i)", NOT_CHECKED),
        (SUM, "expand(x, i); distribute(S, T, U); interchange(T, i, j)", CHECKED),
        (SUM, "expand(x, i); parallel(T, j)", SEQUENTIAL),
        (SUM, "expand(x, i); reorder(U, T)", NOT_CHECKED),
        (CARRIED, "expand(x, i); distribute(S, U, T)", NOT_CHECKED),
        (CARRIED, "expand(x, i)", CHECKED),
        (TWICE, "C = fuse(U, V); rename(x, C); fuse(S, T, C)", CHECKED),
        (TWICE, "rename(x, V)", NOT_CHECKED),
        (MADE, "fuse(S, T); contract(u)", CHECKED),
        (MADE, "contract(u)", NOT_CHECKED),
        (COLUMNS, "pack(A, S, transposed)", CHECKED),
        (COLUMNS, "pack(A, S, transposed); interchange(S, i, j); parallel(S, i)", CHECKED),
        (COLUMNS, "strip_mine(S, j, 8); pack(A, S, jT)", CHECKED),
        (SHIFTED, "pack(B, S, transposed)", CHECKED),
        (SHIFTED, "pack(A, S, i, written)", CHECKED),
        (COLUMNS, "pack(C, S, i, written)", CHECKED),
        (SQUARES, "tile(S, i=4, j=4); pack(B, S, jT, written)", CHECKED),
        (NEIGHBOURS, "pack(C, S)", CHECKED),
        (SUMMED, SPLIT, CHECKED),
        (SUMMED, f"distribute(S, T); interchange(S, i, j); {SPLIT}; parallel(P, i)", CHECKED),
        (SUMMED, f"{SPLIT}; reorder(T, P)", NOT_CHECKED),
        (SUMMED, f"{SPLIT}; pack(B, P, transposed)", NOT_CHECKED),
        (COLUMNS, PARTLY, CHECKED),
        (COLUMNS, PART_BY_PART, CHECKED),
        (COLUMNS, PARTLY.replace("1)", "0)") + "; interchange(Q, i, j)", CHECKED),
        (COLUMNS, PARTLY + "; interchange(Q, i, j)", NOT_CHECKED),
    ],
)
def test_storage_is_compared_by_values(text: str, script: str, status: str) -> None:
    """In the order that the plan had, and from there to the new one; parallel loops in any order."""
    plan = planned(text, script.replace("; ", "\n"))
    assert plan.storage
    found = storage_status(plan)
    assert found.status == status, found


def test_a_shipped_script_with_other_storage_is_checked() -> None:
    program = kernel_program("syrk")
    plan = transform(program, (KERNELS / "syrk.lw").read_text(), "syrk.lw")
    assert isinstance(checker.asked(words(plan), 20), Checked)


RETURNED = REGION.format(OWN).replace("void", "double").replace("endscop", "endscop\n  return x;")


def test_what_is_looked_at_later_is_compared() -> None:
    """A variable that is returned is copied back; without that copy, or of another cell, there is no yes."""
    (program,) = read_source(Source("region.c", RETURNED))
    plan = transform(program, "expand(x, i)\ndistribute(S, T)", "script.lw")
    problem = stored_problem(plan.storage, plan.program, generate(to_schedule(plan)))
    assert "x" not in problem.unlike and isinstance(checker.asked(problem.words, 20), Checked)
    copied = "'x_i 1 sum 2 var 'n int -1 'x 0"
    assert copied in problem.words
    for other in ("'x_i 1 int 0 'x 0", "'x_i 1 var 'n 'x 0", "'x_i 1 sum 2 var 'n int -2 'x 0"):
        assert isinstance(checker.asked(problem.words.replace(copied, other)), NotChecked)


def test_no_certificate_makes_wrong_storage_right() -> None:
    """One cell for all iterations, whose statements run apart: certificates and origins changed at random."""
    problem = words(planned(SUM, "expand(x, i)\ndistribute(S, T, U)"))
    given = checker.certificates(problem, 20)
    assert isinstance(given, str) and isinstance(checker.checked(problem, given), Checked)
    wrong = problem.replace("'x_i 1 var 'i", "'x_i 1 int 0")
    origins = ("from 'S1 1 var 'i 0", "from 'S2 2 var 'i sum 2 var 'n int -1 0")
    assert wrong.count("'x_i 1 int 0") == 4 and all(wrong.count(one) == 1 for one in origins)
    chance = random.Random(5)
    for _ in range(FUZZED):
        answer = checker.checked(wrong, with_other_numbers(given, chance))
        assert isinstance(answer, NotChecked), answer
    for _ in range(FUZZED // 5):
        tried = wrong
        for origin in origins:
            other = chance.choice(["'S1 1 var 'i", "'S1 1 int 0", "'S2 2 var 'i int 0", "'S3 1 var 'i"])
            tried = tried.replace(origin, f"from {other} {chance.choice((0, 0, 1))}")
        answer = checker.asked(tried)
        assert isinstance(answer, NotChecked), answer


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("from 'S1 1 var 'i 0", "from 'S1 1 int 0 0"),
        ("from 'S1 1 var 'i 0", "from 'S1 1 var 'i 1"),
        ("from 'S1 1 var 'i 0", "from 'S2 2 var 'i int 0 0"),
        ("from 'S1 1 var 'i 0", "from 'S4 1 var 'i 0"),
        ("from 'S1 1 var 'i 0", "from 'S1 0 0"),
        ("from 'S1 1 var 'i 0", "kept"),
        ("from 'S1 1 var 'i 0", "begun"),
        ("1 and 0 from 'S1 1 var 'i 0", "0"),
        ("1 and 0 from 'S1 1 var 'i 0", "1 < var 'i int 3 from 'S1 1 var 'i 0"),
        ("2 'x 'x_i", "1 'x_i"),
        ("2 'x 'x_i", "1 'x"),
        ("2 'x 'x_i", "0"),
    ],
)
def test_wrong_origins_are_refused(right: str, wrong: str) -> None:
    """And arrays that are said to be kept, which are not."""
    problem = words(planned(SUM, "expand(x, i)"))
    assert isinstance(checker.asked(problem, 20), Checked)
    assert right in problem
    assert isinstance(checker.asked(problem.replace(right, wrong)), NotChecked)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("1 'S2 'S1", "0"),
        ("1 'S2 'S1", "1 'S1 'S2"),
        ("1 'S2 'S1", "2 'S2 'S1 'S3 'S1"),
        ("call 'S1 2 var 'i var 'j 0 for", "call 'S1 2 var 'j var 'i 0 for"),
        ("call 'S2 2 var 'i var 'j 0 call", "call 'S2 2 var 'j var 'i 0 call"),
    ],
)
def test_wrong_parts_are_refused(right: str, wrong: str) -> None:
    """Parts of other statements, or of a program that is not the one that is written."""
    problem = words(planned(COLUMNS, PARTLY.replace("; ", "\n")))
    given = checker.certificates(problem, 20)
    assert isinstance(given, str) and problem.count(right) == 1, problem
    assert isinstance(checker.checked(problem, given), Checked)
    assert isinstance(checker.checked(problem.replace(right, wrong), given), NotChecked)


@needs_coqc
def test_coq_agrees_on_storage() -> None:
    parts = PARTLY.replace("; ", "\n")
    files: list[str] = []
    for text, script in ((SUM, "expand(x, i)"), (COLUMNS, "pack(A, S, transposed)"), (COLUMNS, parts)):
        problem = words(planned(text, script))
        given = checker.certificates(problem, 20)
        assert isinstance(given, str)
        files.append(proof_file(problem, given))
    assert_accepted(files)
