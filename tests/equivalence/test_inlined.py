"""Functions that one file calls, and the other has the text of."""

from pathlib import Path

import pytest

from tests.equivalence.test_phrasings import LOOP, file, verdict

PLUS = "for (i = 0; i < n; i++) A[i] = plus(B[i]);"
SQUARE = "static double square(double x) { return x * x + 1; }"
ONE = "static void one(int k, double *a, const double *b) { a[k] = b[k] + 1; }"
ALL = "static void all(int n, double *A, double *B) { for (int i = 0; i < n; i++) A[i] = B[i] + 1; }"

EQUAL = [
    (
        SQUARE,
        "for (i = 0; i < n; i++) A[i] = square(B[i]);",
        "for (i = 0; i < n; i++) A[i] = B[i] * B[i] + 1;",
    ),
    ("static double plus(double x) { double y = x + 1; return y; }", PLUS, LOOP),
    ("static double plus(double i) { i += 1; return i; }", PLUS, LOOP),
    (
        "static double plus(double x) { return x + 1; }",
        "i = 0; while (i < n) { A[i] = plus(B[i]); i++; }",
        LOOP,
    ),
    (
        "static double half(int x) { return x; }",
        "for (i = 0; i < n; i++) A[i] = half(B[i]);",
        "for (i = 0; i < n; i++) A[i] = (int)B[i];",
    ),
    (ONE, "for (i = 0; i < n; i++) one(i, A, B);", LOOP),
    (ALL, "all(n, A, B);", LOOP),
    (
        "static void all(int k, double *a, double *b) { int i = 0; while (i < k) { a[i] = b[i] + 1; i++; } }",
        "all(n, A, B);",
        LOOP,
    ),
    (
        f"{ONE} static void two(int n, double *A, double *B) {{ for (int i = 0; i < n; i++) one(i, A, B); }}",
        "two(n, A, B);",
        LOOP,
    ),
]

DIFFERENT = [
    ("static double plus(double x) { return x + 2; }", PLUS),
    ("static double plus(int x) { return x + 1; }", PLUS),
    ("static int plus(double x) { return x + 1; }", PLUS),
    ("static float plus(double x) { float y = x + 1; return y; }", PLUS),
    ("static double plus(double x) { if (x > 9) return 0; return x + 1; }", PLUS),
    ("static double plus(double x) { static int k; k++; return x + k; }", PLUS),
    ("static double plus(double x) { return x + 1; }\n#define plus(x) (x)", PLUS),
    ("#define ONE i\nstatic double plus(double x) { int i = 1; return x + ONE; }", PLUS),
    ("__attribute__((weak)) double plus(double x) { return x + 1; }", PLUS),
    ("inline double plus(double x) { return x + 1; }", PLUS),
    (
        "static double first(double x, int k) { return x + 1; }",
        "for (i = 0; i < n; i++) A[i] = first(B[i], 1 / m);",
    ),
    (
        "static double first(double x, int k) { return x > 0 ? x + 1 + k - k : x + 1; }",
        "for (i = 0; i < n; i++) A[i] = first(B[i], 1 / m);",
    ),
    (
        "int n; static double plus(double x) { return x + n; }",
        "n = 1; for (i = 0; i < 9; i++) A[i] = plus(B[i]);",
    ),
    (
        "static void all(int k, double *a, double *b) { for (int i = 0; i < k; i++) *a++ = b[i] +"
        " 1; a[0] = 0; }",
        "all(n, A, B);",
    ),
    (
        "static void all(int k, double *a, double *b) { for (int i = 0; i < k; i++) a[i] = b[i] +"
        " 1; a[0] = 0; }",
        "all(n, A, B);",
    ),
    (
        "static void all(char k, double *a, double *b) { for (int i = 0; i < k; i++) a[i] = b[i] + 1; }",
        "all(n, A, B);",
    ),
    (
        "static void all(int k, double *restrict a, double *restrict b) { for (int i = 0; i < k;"
        " i++) a[i] = b[i] + 1; }",
        "all(n, A, B); all(n, A, A);",
    ),
    (
        "static void all(int k, float *a, float *b) { for (int i = 0; i < k; i++) a[i] = b[i] + 1; }",
        "all(n, (float *)A, (float *)B);",
    ),
]
"""No text that can be put in place of the call is what LOOP does, or none is known."""


@pytest.mark.parametrize(("function", "calls", "text"), EQUAL)
def test_functions_that_are_inlined(tmp_path: Path, function: str, calls: str, text: str) -> None:
    assert verdict(tmp_path, file(text), file(calls, function)) == "yes"


def test_functions_that_the_old_file_calls(tmp_path: Path) -> None:
    for function, calls, text in EQUAL[::4]:
        assert verdict(tmp_path, file(calls, function), file(text)) == "yes"


@pytest.mark.parametrize(("function", "calls"), DIFFERENT)
def test_functions_that_do_something_else(tmp_path: Path, function: str, calls: str) -> None:
    assert verdict(tmp_path, file(LOOP), file(calls, function)) != "yes"
