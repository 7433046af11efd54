"""Whole functions, as people rewrite them: early returns, values returned, pointers to rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equivalence.test_phrasings import verdict

SCALED = "void f(int n, double a, const double *restrict x, double *restrict y) {\n"
LOOP = "  for (int i = 0; i < n; i++)\n    y[i] = y[i] + a * x[i];\n"
OUTER = (
    "void f(int n, int m, double A[restrict n][m], const double *restrict u, const double *restrict v) {\n"
)
NEST = "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n      A[i][j] += u[i] * v[j];\n"
MEAN = "double f(int n, const double *restrict x) {\n"
SUM = "  double s = 0.0;\n  for (int i = 0; i < n; i++)\n    s += x[i];\n"
ROW = "  for (int i = 0; i < n; i++) {\n    double *row = A[i];\n    for (int j = 0; j < m; j++)\n"
WALK = "  const double *p = x;\n  double *q = y;\n  for (int i = 0; i < n; i++) {\n"

HEAD = "#include <string.h>\n"
ZERO = f"{HEAD}void f(int n, double *restrict a, const double *restrict b) {{\n"
OWN = ZERO.replace(HEAD, f"{HEAD}#define memset(a, b, c) (a[0] = 1)\n")
CLEAR = "  for (int i = 0; i < n; i++)\n    a[i] = 0.0;\n"
COPY = CLEAR.replace("0.0", "b[i]")

YES = {
    "memset": (ZERO + CLEAR, f"{ZERO}  if (n > 0) memset(a, 0, n * sizeof(double));\n"),
    "memcpy": (ZERO + COPY, f"{ZERO}  if (n > 0) memcpy(a, b, (size_t)n * sizeof *a);\n"),
    "nothing to do": (SCALED + LOOP, f"{SCALED}  if (n <= 0)\n    return;\n{LOOP}"),
    "nothing to do, in braces": (SCALED + LOOP, f"{SCALED}  if (n < 1) {{ return; }} // none\n{LOOP}"),
    "two reasons": (SCALED + LOOP, f"{SCALED}  if (n < 0) return;\n  if (n == 0) return;\n{LOOP}"),
    "the last statement": (SCALED + LOOP, f"{SCALED}{LOOP}  return;\n"),
    "a value at once": (f"{MEAN}{SUM}  return s;\n", f"{MEAN}  if (n <= 0) return 0.0;\n{SUM}  return s;\n"),
    "another value": (
        f"{MEAN}{SUM}  return s / n;\n",
        f"{MEAN}{SUM.replace('s', 't')}  double r = t / n;\n  return r;\n",
    ),
    "a row": (OUTER + NEST, f"{OUTER}{ROW}      row[j] += u[i] * v[j];\n  }}\n"),
    "pointers that walk": (SCALED + LOOP, f"{SCALED}{WALK}    *q = *q + a * *p;\n    q++;\n    p++;\n  }}\n"),
}
NOT_YES = {
    "a negative size": (ZERO + CLEAR, f"{ZERO}  memset(a, 0, n * sizeof(double));\n"),
    "a half that is negative": (
        ZERO + CLEAR,
        f"{ZERO}  if (n) memset(a, 0, (size_t)n / 1 * sizeof(double));\n",
    ),
    "bytes that are ones": (ZERO + CLEAR, f"{ZERO}  if (n > 0) memset(a, 1, n * sizeof(double));\n"),
    "other elements": (ZERO + CLEAR, f"{ZERO}  if (n > 0) memset(a, 0, n * sizeof(float));\n"),
    "one element too many": (ZERO + COPY, f"{ZERO}  if (n > 0) memcpy(a, b, (n + 1) * sizeof *a);\n"),
    "a copy that overlaps": (
        ZERO + CLEAR.replace("a[i] = 0.0", "a[i + 1] = a[i]"),
        f"{ZERO}  if (n > 0) memcpy(a + 1, a, n * sizeof *a);\n",
    ),
    "a macro of the file": (ZERO + CLEAR, f"{OWN}  if (n > 0) memset(a, 0, n * sizeof(double));\n"),
    "one too many left out": (SCALED + LOOP, f"{SCALED}  if (n <= 1)\n    return;\n{LOOP}"),
    "another value at once": (
        f"{MEAN}{SUM}  return s;\n",
        f"{MEAN}  if (n <= 0) return 1.0;\n{SUM}  return s;\n",
    ),
    "a value that is not the sum": (f"{MEAN}{SUM}  return s;\n", f"{MEAN}{SUM}  return s + 1;\n"),
    "a comma": (f"{MEAN}{SUM}  return s;\n", f"{MEAN}{SUM}  return s, 1.0;\n"),
    "another row": (
        OUTER + NEST,
        f"{OUTER}{ROW.replace('A[i]', 'A[0]')}      row[j] += u[i] * v[j];\n  }}\n",
    ),
    "beyond the row": (OUTER + NEST, f"{OUTER}{ROW}      row[j + 1] += u[i] * v[j];\n  }}\n"),
    "a little more, rounded": (
        f"float f(int n, const double *restrict x) {{\n{SUM}  return s;\n",
        f"float f(int n, const double *restrict x) {{\n{SUM}  return s + 1e-300 * n;\n",
    ),
}


@pytest.mark.parametrize("name", YES)
def test_the_same(name: str, tmp_path: Path) -> None:
    old, new = YES[name]
    assert verdict(tmp_path, f"{old}}}\n", f"{new}}}\n") == "yes"


@pytest.mark.parametrize("name", NOT_YES)
def test_not_the_same(name: str, tmp_path: Path) -> None:
    old, new = NOT_YES[name]
    assert verdict(tmp_path, f"{old}}}\n", f"{new}}}\n") != "yes"
