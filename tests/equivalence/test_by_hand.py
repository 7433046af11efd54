"""Functions that a person rewrote, without pragmas: what differs is found, whatever it is written with."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import Undecided
from tests.equivalence.test_phrasings import verdict

HEAD = """
#include <string.h>
double A[64], B[64], x[64], y[64];
#define PUT(i, v) A[i] = (v)
#define B_of(i) B[i]
#define CAT(a, b) a##b
#define EACH(i, n) for (int i = 0; i < (n); i++)
static void put(double *p, double v) { *p = v; }
static void twice(double *p, const double *q, int i) { p[i] = q[i] * 2.0; }
"""
MARKED = "#pragma scop\n{}\n#pragma endscop"
SCALE = "for (int i = 0; i < n; i++) A[i] = B[i] * 2.0;"
SMOOTH = """for (int i = 1; i < n - 1; i++) y[i] = (x[i-1] + x[i] + x[i+1]) / 3.0;
  for (int i = 1; i < n - 1; i++) x[i] = y[i];"""


def text(scale: str, smooth: str) -> str:
    return f"{HEAD}void scale(int n) {{\n  {scale}\n}}\nvoid smooth(int n) {{\n  {smooth}\n}}\n"


OLD = text(MARKED.format(SCALE), MARKED.format(SMOOTH))
SCALED = [
    ("for (int i = 0; i < n; i++) PUT(i, B[i] * {});", "2.0", "2.5"),
    ("for (int i = 0; i < n; i++) A[i] = CAT(B_, of)(i{}) * 2.0;", "", "+(i==3)"),
    ("EACH(k, n{}) PUT(k, B_of(k) * 2.0);", "", "-1"),
    ("double *q = {}; for (int i = n - 1; i >= 0; i--) put(q + i, B[i] * 2.0);", "A", "y"),
    ("double *q = A; for (int i = 0; i < n; i++) {{ double t = B[i] * 2.0; q[{}] = t; }}", "i", "n-1-i"),
    ("double *q = A; for (int i = 0; i < n; i++) twice(q, {}, i);", "B", "A"),
]
SMOOTHED = [
    (
        "double l = x[{}], c = x[1]; for (int i = 1; i < n - 1; i++) {{ double r = x[i + 1]; "
        "y[i] = (l + c + r) / 3.0; l = c; c = r; }} for (int i = 1; i < n - 1; i++) x[i] = y[i];",
        *("0", "1"),
    ),
    (
        "for (int i = 1; i < n - 1; i++) y[i] = (x[i-1] + x[i] + x[i+1]) / 3.0; "
        "if (n > 2) memcpy(x + 1, y + 1, (n - {}) * sizeof(double));",
        *("2", "1"),
    ),
]


@pytest.mark.parametrize(("way", "right", "wrong"), SCALED)
def test_one_function_of_two(tmp_path: Path, way: str, right: str, wrong: str) -> None:
    """The other one keeps its pragmas."""
    rest = MARKED.format(SMOOTH)
    assert verdict(tmp_path, OLD, text(way.format(right), rest)) == "yes"
    assert verdict(tmp_path, OLD, text(way.format(wrong), rest)) == "no"


@pytest.mark.parametrize(("way", "right", "wrong"), SMOOTHED)
def test_both_functions(tmp_path: Path, way: str, right: str, wrong: str) -> None:
    assert verdict(tmp_path, OLD, text(SCALE, way.format(right))) == "yes"
    assert verdict(tmp_path, OLD, text(SCALE, way.format(wrong))) == "no"


def test_a_file_and_itself(tmp_path: Path) -> None:
    """Macros that are statements, in both."""
    same = text(MARKED.format("EACH(i, n) PUT(i, B_of(i));"), MARKED.format(SMOOTH))
    assert verdict(tmp_path, same, same) == "yes"


BLOCK = "\n#pragma omp parallel {}\n{{\n#pragma omp for {}\n{}\n#pragma omp for\n{}\n}}\n"
TEMPORARY = "for (int i = 0; i < n; i++) { t = B[i]; A[i] = t * 2.0; }"
FIRST, SECOND = SMOOTH.split("\n")
SHARED = [
    (SCALE, f"\n#pragma omp parallel\n{{\n#pragma omp for simd nowait\n{SCALE}\n}}", "yes"),
    (SCALE, f"\n#pragma omp parallel num_threads(2)\n#pragma omp for\n{SCALE}", "yes"),
    (SCALE, f"double t;\n#pragma omp parallel private(t)\n{{\n#pragma omp for\n{TEMPORARY}\n}}", "yes"),
    (SCALE, f"double t;\n#pragma omp parallel\n{{\n#pragma omp for\n{TEMPORARY}\n}}", "no"),
    (SCALE, f"\n#pragma omp parallel\n{{\n{SCALE}\n}}", "unknown"),
    (SCALE, f"\n#pragma omp parallel firstprivate(n)\n{{\n#pragma omp for\n{SCALE}\n}}", "unknown"),
    (SMOOTH, BLOCK.format("", "schedule(static)", FIRST, SECOND), "yes"),
    (SMOOTH, BLOCK.format("", "", FIRST.replace("y[i]", "x[i]"), SECOND), "no"),
    (SMOOTH, BLOCK.format("", "nowait", FIRST, SECOND), "unknown"),
    (SMOOTH, BLOCK.format("", "", FIRST, "n = n;"), "unknown"),
    (
        "double t = 0; for (int i = 0; i < n; i++) t = A[i]; x[0] = t;",
        "double t = 0;\n#pragma omp parallel private(t)\n#pragma omp for lastprivate(t)\n"
        "for (int i = 0; i < n; i++) t = A[i]; x[0] = t;",
        "unknown",
    ),
]


@pytest.mark.parametrize(("old", "new", "answer"), SHARED)
def test_loops_that_the_threads_of_a_block_share(tmp_path: Path, old: str, new: str, answer: str) -> None:
    """What one thread keeps for itself between loops, and loops that others do not wait for, are not read."""
    whole = f"{HEAD}void f(int n) {{\n  %s\n}}\n"
    assert verdict(tmp_path, whole % old, whole % new) == answer


BODY = "for (size_t i = 0; i < (size_t)n{}; i++) A[i] = B[i] * 2.0;"
UNSIGNED = [
    ("if (n > 0) " + BODY.format(""), "yes"),
    ("if (n <= 0) return; size_t k = n; for (size_t i = 0; i < k; i++) A[i] = B[i] * 2.0;", "yes"),
    ("if (n > 1) " + BODY.format(""), "no"),
    ("if (n > -5) " + BODY.format(""), "unknown"),
    ("if (n > 0u) " + BODY.format(""), "unknown"),
    ("if (POSITIVE) " + BODY.format(""), "unknown"),
    ("if (n > 0) A[0] = B[0] * 2.0; " + BODY.format("").replace("i = 0", "i = 1"), "unknown"),
    ("if (n >= 0) { " + BODY.format(" - 1") + " if (n > 0) A[n - 1] = B[n - 1] * 2.0; }", "unknown"),
    ("if (n > 0) " + BODY.format("") + BODY.format(""), "unknown"),
]


@pytest.mark.parametrize(("new", "answer"), UNSIGNED)
def test_unsigned_iterators_under_a_test_of_the_size(tmp_path: Path, new: str, answer: str) -> None:
    """A size below 0 is a very large number then: what is tested before has to be a signed number."""
    whole = f"#include <stddef.h>\n#define POSITIVE (n > 0u)\n{HEAD}void f(int n) {{\n  %s\n}}\n"
    assert verdict(tmp_path, whole % SCALE, whole % new) == answer


WALK = "for (double *e = a + n; a != e; a++, b++) *a = *b * 2.0;"


@pytest.mark.parametrize(
    ("new", "reworded"),
    [
        (SCALE.replace("B[i] * 2.0", "(B[i] * 2.0)"), False),
        ("int i = 0; while (i < n) { A[i] = B[i] * 2.0; i++; }", True),
    ],
)
def test_whether_the_words_are_those_of_the_files(tmp_path: Path, new: str, reworded: bool) -> None:
    """What is said of the texts by another prover is said of these words."""
    for name, body in (("old", SCALE), ("new", new)):
        (tmp_path / f"{name}.c").write_text(
            f"{HEAD}void f(int n) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
        )
    options = ComparisonOptions(for_provers=10_000)
    (answer,) = compare_files(tmp_path / "old.c", tmp_path / "new.c", options).answers
    assert answer.texts is not None
    assert answer.texts.reworded is reworded


def test_no_calls_are_told_of_where_there_are_none(tmp_path: Path) -> None:
    for name, body in (("old", SCALE.lower()), ("new", WALK)):
        head = "void f(int n, double *restrict a, const double *restrict b)"
        (tmp_path / f"{name}.c").write_text(f"{head} {{\n{body}\n}}\n")
    found = compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict
    assert isinstance(found, Undecided)
    assert "pointers" in found.reason
    assert "the calls do" not in found.reason


DO = "if (n > 0) {{ int i = 0; do {{ {}A[i] = B[i] * 2.0; }} while ({}); }}"
STEPPED = [("", "++i < n", "yes"), ("A[i] = 0.0; ", "++i < n", "yes")]
STEPPED += [("", "++i < n - 1", "no"), ("", "i++ < n", "unknown"), ("int i = 1; ", "++i < n", "unknown")]
STEPPED += [("if (i == 3) continue; ", "++i < n", "unknown"), ("", "++i < n - i", "unknown")]


@pytest.mark.parametrize(("first", "test", "answer"), STEPPED)
def test_a_step_in_the_test_of_a_do_loop(tmp_path: Path, first: str, test: str, answer: str) -> None:
    whole = f"{HEAD}void f(int n) {{\n  %s\n}}\n"
    assert verdict(tmp_path, whole % SCALE, whole % DO.format(first, test)) == answer
