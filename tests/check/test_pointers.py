"""Arrays used through pointers: cells are known by their addresses [Bao2016, section 5, "Aliasing"]."""

from __future__ import annotations

import pytest

from loopwright.check.original.writers import writers
from loopwright.check.program.segment import parse_input
from loopwright.check.run.findings import ErrorClass
from loopwright.check.run.report import Answer
from loopwright.check.verify import CheckOptions, check_text, delayed, prepared, verdict
from loopwright.errors import BadInput
from loopwright.source import Source
from tests.check.support import QUICK
from tests.check.test_bad_input import text

PRODUCT = """\
#define N 6
double A[N][N], B[N][N], C[N][N];
static void product(double *c, double *a, double *b, int n)
{{
  if (n == {least}) {{
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
          c[i * N + j] += a[i * N + k] * b[k * N + j];
    return;
  }}
  int h = n / 2;
  for (int x = 0; x < 2; x++)
    for (int y = 0; y < 2; y++)
      for (int z = 0; z < 2; z++)
        product(c + x * h * N + y * h, &a[x * h * N + z * h], b + (z * N + y) * h, h);
}}
int main(void)
{{
  /*@ polycheck start spec
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++)
    C[i][j] += A[i][k] * B[k][j];
  */
  product(&C[0][0], A[0], (double *)B, N);
  /*@ polycheck end */
  return 0;
}}
"""


def check(source: str, **options: object) -> Answer:
    return check_text(source, options=CheckOptions(tools=QUICK, **options)).answer  # type: ignore[arg-type]


def test_recursion_over_blocks() -> None:
    for algorithm in ("a", "codes"):
        assert check(PRODUCT.format(least=3), algorithm=algorithm) is Answer.VALID
    assert check(PRODUCT.format(least=3).replace("b + (z", "b + (y")) is Answer.VIOLATION


FACTORS = """\
#define N 4
double A[N][N];
static void update(double (*m)[N], double (*v)[N], double (*w)[N], int r, int c)
{
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < r; i++)
      for (int j = 0; j < c; j++) m[i][j] -= v[i][k] * w[k][j];
}
static void factor(double (*m)[N], int n)
{
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      m[i][k] /= m[k][k];
      for (int j = k + 1; j < n; j++) m[i][j] -= m[i][k] * m[k][j];
    }
}
static void solve(double (*top)[N])
{
  double (*right)[N] = (double (*)[N])&top[0][2], (*left)[N] = top + 2;
  for (int j = 0; j < 2; j++) right[1][j] -= top[1][0] * right[0][j];
  for (int i = 0; i < 2; i++) {
    left[i][0] /= top[0][0];
    left[i][1] -= left[i][0] * top[0][1];
    left[i][1] /= top[1][1];
  }
}
int main(void)
{
  /*@ polycheck start spec
  for (int k = 0; k < N; k++)
    for (int i = k + 1; i < N; i++) {
      A[i][k] /= A[k][k];
      for (int j = k + 1; j < N; j++) A[i][j] -= A[i][k] * A[k][j];
    }
  */
  factor(A, 2);
  solve(A);
  update((double (*)[N])&A[2][2], A + 2, (double (*)[N])(&A[0][0] + 2), 2, 2);
  factor((double (*)[N])&A[2][2], 2);
  /*@ polycheck end */
  return 0;
}
"""


def test_several_pointers_into_one_array() -> None:
    """A factorisation by blocks, all of them given as pointers to their first rows."""
    assert check(FACTORS) is Answer.VALID
    assert check(FACTORS.replace("A + 2, (double", "A + 1, (double")) is Answer.VIOLATION


@pytest.mark.parametrize(
    ("program", "functions", "answer"),
    [
        ("double *p = A; for (i = 0; i < N; i++) { *p = B[i]; p++; }", "", Answer.VALID),
        ("double *p = A + 7, *q = &B[7]; for (; p >= A; p -= 1, q--) *p = *q;", "", Answer.VALID),
        ("for (i = 0; i < N; i++) *(A + i) = *(B + i);", "", Answer.VALID),
        ("double *p = A; for (i = 0; i < N; i++) { double *q = p + i; q[0] = B[i]; }", "", Answer.VALID),
        ("f(A, B, 8); ", "void f(double *a, double *b, int n) { if (n == 1) *a = *b; else {"
         " f(a, b, n / 2); f(a + n / 2, b + n / 2, n - n / 2); } }", Answer.VALID),
        ("f(A, B, 8); ", "void f(double *a, double *b, int n) { if (n == 1) *a = *b; else {"
         " f(a, b, n / 2); f(a + n / 2, b + 1, n - n / 2); } }", Answer.VIOLATION),
        ("double *p = A + 1; for (i = 0; i < N; i++) p[i] = B[i];", "double room[9];", Answer.VIOLATION),
    ],
)  # fmt: skip
def test_pointers_that_move(program: str, functions: str, answer: Answer) -> None:
    assert check(text(program, functions=functions)) is answer


def test_a_cell_that_is_found_by_its_address_is_named() -> None:
    source = text("double *p = &A[2]; for (i = 0; i < 4; i++) p[i] = B[i + 1];")
    finding = check_text(source, options=CheckOptions(tools=QUICK)).findings[0]
    assert (finding.kind, finding.seen) == (ErrorClass.WRONG_WRITE, (2, 1))


@pytest.mark.parametrize(
    ("program", "functions", "message"),
    [
        ("double *p = i ? A : B; p[0] = B[0];", "", "'p' points into 'A' and into 'B'"),
        ("double *p = i ? A : malloc(64); p[0] = B[0];", "", "'p' points into 'A' and elsewhere"),
        ("double *p = A; double *q[2] = {p, A}; q[0][0] = B[0]; A[0] = B[0];", "",
         "'p' gets another name here, which cannot be followed"),
        ("double *p = A; *p++ = B[0];", "", "'p' gets another name here, which cannot be followed"),
        ("*g() = B[0]; A[0] = B[0];", "double *g(void) { return A; }",
         "'A' gets another name here, which cannot be followed"),
        ("struct { double *p; } s; s.p = A; A[0] = B[0];", "",
         "'A' gets another name here, which cannot be followed"),
        ("free(A + 1); A[0] = B[0];", "", "'A' gets another name here, which cannot be followed"),
    ],
)  # fmt: skip
def test_pointers_that_are_not_followed(program: str, functions: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        check(text(program, functions=functions))
    assert caught.value.message == message


SHARED = """\
#include <stdlib.h>
static void copy(double *A, double *B, int n)
{
  /*@ polycheck start spec
  for (int i = 0; i < n; i++) A[i] = B[i];
  */
  for (int i = n - 1; i >= 0; i--) A[i] = B[i];
  /*@ polycheck end */
}
int main(void)
{
  double *room = malloc(20 * sizeof *room);
  copy(room + OFFSET, room, 8);
  return 0;
}
"""


def test_arrays_that_share_memory() -> None:
    assert check(SHARED.replace("OFFSET", "8")) is Answer.VALID
    for algorithm in ("a", "codes"):
        with pytest.raises(BadInput, match="'A' and 'B' share memory"):
            check(SHARED.replace("OFFSET", "7"), algorithm=algorithm)


ROWS = "double X[4][3], Y[4][3];"
PLAIN = "for (i = 0; i < 4; i++) for (int j = 0; j < 3; j++) X[i][j] = Y[i][j];"
BY_ROW = "for (i = 0; i < 4; i++) { double *r = X[i]; for (int j = 0; j < 3; j++) r[j] = Y[i][j]; }"


@pytest.mark.parametrize(
    ("program", "spec", "is_valid"),
    [
        (PLAIN, BY_ROW, True),
        (BY_ROW, PLAIN, True),
        (BY_ROW, BY_ROW, True),
        (PLAIN.replace("Y[i][j]", "Y[j][i]"), BY_ROW, False),
        (BY_ROW.replace("= X[i]", "= X[3 - i]"), PLAIN, False),
        (BY_ROW.replace("= X[i];", "= X[i]; r = X[0];"), PLAIN, False),
        (BY_ROW.replace("r[j] = Y[i][j];", "{ r[j] = Y[i][j]; r++; }"), PLAIN, False),
        (BY_ROW.replace("j < 3", "j < 4"), PLAIN, False),
        (BY_ROW.replace("= X[i]", "= i ? X[i] : X[1]"), PLAIN, False),
        (BY_ROW.replace("= X[i]", "= i ? X[i] : X[0]"), PLAIN, True),
        ("double *r = X[0]; for (i = 0; i < 12; i++) r[i] = Y[i / 3][i % 3];", PLAIN, True),
    ],
)
def test_pointers_to_rows(program: str, spec: str, is_valid: bool) -> None:
    """In the original, in the program, and in both."""
    answer = check(text(program, spec, functions=ROWS))
    assert answer is (Answer.VALID if is_valid else Answer.VIOLATION)


@pytest.mark.parametrize(
    ("program", "spec", "before"),
    [
        (BY_ROW, PLAIN, ROWS),
        (
            "for (i = 0; i < n; i++) { double *r = X + i * m;"
            " for (int j = 0; j < m; j++) r[j] = Y[i * m + j]; }",
            "for (i = 0; i < n; i++) for (int j = 0; j < m; j++) X[i * m + j] = Y[i * m + j];",
            "int n = 4, m = 3; double *X = malloc(96), *Y = malloc(96);",
        ),
    ],
)
def test_nests_with_pointers_to_rows_are_checked_as_wholes(program: str, spec: str, before: str) -> None:
    options = CheckOptions(tools=QUICK)
    job = prepared(parse_input(Source("p.c", text(program, spec, before=before))), options)
    assert "lw_site_" not in delayed(job, writers(job.spec), options).program
    assert verdict(job, writers(job.spec), options).answer is Answer.VALID


MADE = (
    "static double **made(void) { double **p = malloc(32);"
    " for (int k = 0; k < 4; k++) p[k] = malloc(24); return p; }"
)


@pytest.mark.parametrize(
    ("before", "message"),
    [("", ""), ("X[1] = X[0];", "rows of 'X' share memory"), ("X[1] = Y[3];", "'X' and 'Y' share memory")],
)
def test_rows_that_share_memory(before: str, message: str) -> None:
    source = text(PLAIN, PLAIN, functions=MADE, before=f"double **X = made(), **Y = made(); {before}")
    if not message:
        assert check(source) is Answer.VALID
        return
    with pytest.raises(BadInput) as caught:
        check(source)
    assert caught.value.message == message
