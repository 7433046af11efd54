"""Rewritings with pointers that walk, indices that are counted on, and buffers that change places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equivalence.test_phrasings import verdict

AXPY = """void f(int n, double a, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = y[i] + a * x[i];
}
"""
STEPS = """void f(int n, int t, double A[2][n]) {
  for (int s = 0; s < t; s++)
    for (int i = 1; i < n - 1; i++) A[(s + 1) % 2][i] = 0.5 * (A[s % 2][i - 1] + A[s % 2][i + 1]);
}
"""
TRANSPOSED = """void f(int n, double *restrict L, const double *restrict A) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) L[i * n + j] = A[j * n + i];
}
"""
WALK = """void f(int n, double a, const double *restrict x, double *restrict y) {
  const double *p = x, *end = x + n;
  double *q = y;
  while (p < end) *q++ += a * *p++;
}
"""
BY_FOUR = """void f(int n, double a, const double *restrict x, double *restrict y) {
  for (; n >= 4; n -= 4) {
    y[0] += a * x[0]; y[1] += a * x[1]; y[2] += a * x[2]; y[3] += a * x[3];
    x += 4;
    y += 4;
  }
  while (n-- > 0) *y++ += a * *x++;
}
"""
IN_TURN = """void f(int n, int t, double A[2][n]) {
  double *src = A[0], *dst = A[1];
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++) dst[i] = 0.5 * (src[i - 1] + src[i + 1]);
    double *tmp = src;
    src = dst;
    dst = tmp;
  }
}
"""
COLUMNS = """void f(int n, double *restrict L, const double *restrict A) {
  double *out = L;
  for (int i = 0; i < n; i++) {
    const double *col = A + i;
    for (int j = 0; j < n; j++, col += n) *out++ = *col;
  }
}
"""
BLOCKS = """#define MIN(a, b) ((a) < (b) ? (a) : (b))
void f(int n, double a, const double *restrict x, double *restrict y) {
  const int T = 8;
  for (int b = 0; b < n; b += T) {
    const int end = MIN(b + T, n);
    const double *p = x + b;
    for (int i = b; i < end; i++) y[i] = y[i] + a * *p++;
  }
}
"""
UNTIL = WALK.replace("while (p < end)", "if (n > 0) while (p != end)")
BACK = """void f(int n, double a, const double *restrict x, double *restrict y) {
  const double *p = x + n;
  double *q = y + n;
  if (n >= 0) while (p != x) { *--q += a * *--p; }
}
"""
RIGHT = [(AXPY, WALK), (AXPY, BY_FOUR), (STEPS, IN_TURN), (TRANSPOSED, COLUMNS), (AXPY, BLOCKS)]
RIGHT += [(AXPY, UNTIL), (AXPY, BACK)]
WRONG = [
    (AXPY, UNTIL.replace("n > 0", "n > 1")),
    (AXPY, BACK.replace("y + n", "y + n - 1")),
    (AXPY, WALK.replace("x + n;", "x + n - 1;")),
    (AXPY, BY_FOUR.replace("y += 4", "y += 3")),
    (AXPY, BY_FOUR.replace("n-- > 0", "--n > 0")),
    (STEPS, IN_TURN.replace("A[0], *dst = A[1]", "A[1], *dst = A[0]")),
    (AXPY, BLOCKS.replace("MIN(b + T, n)", "MIN(b + T - 1, n)")),
]


@pytest.mark.parametrize(("old", "new"), RIGHT)
def test_other_ways_through_arrays_are_proved(tmp_path: Path, old: str, new: str) -> None:
    assert verdict(tmp_path, old, new) == "yes"


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_wrong_ways_are_refuted(tmp_path: Path, old: str, new: str) -> None:
    assert verdict(tmp_path, old, new) == "no"


def test_a_loop_that_may_miss_its_end_is_not_proved(tmp_path: Path) -> None:
    """Below 0 the first loop does nothing, the second one does not end."""
    assert verdict(tmp_path, AXPY, WALK.replace("p < end", "p != end")) == "unknown"
    assert verdict(tmp_path, AXPY, BACK.replace("n >= 0", "n >= -1")) == "unknown"
    assert verdict(tmp_path, AXPY, UNTIL.replace("*p++", "p[0], p += 2")) == "unknown"


def test_a_constant_that_the_region_computes_is_no_unknown_number(tmp_path: Path) -> None:
    """A wrong first element, kept in a constant of the region."""
    new = """void f(int n, double a, const double *restrict x, double *restrict y) {
  const double first = x[0];
  for (int i = 0; i < n; i++) y[i] = y[i] + a * first;
}
"""
    assert verdict(tmp_path, AXPY, new) == "no"


UNSIGNED = """#include <stddef.h>
void f(size_t n, const double *restrict x, double *restrict y) {
  for (size_t i = 0; i < n; i++) y[i] = 2 * x[i];
}
"""
BY_FOUR_TO = """#include <stddef.h>
void f(size_t n, const double *restrict x, double *restrict y) {{
  {declared}
  for ({first}; {test}; i += 4) {{
    y[i] = 2 * x[i];
    y[i + 1] = 2 * x[i + 1];
    y[i + 2] = 2 * x[i + 2];
    y[i + 3] = 2 * x[i + 3];
  }}
  {between}for (; i < n; i++) y[i] = 2 * x[i];
}}
"""


def by_four(declared: str, test: str, first: str = "", between: str = "") -> str:
    return BY_FOUR_TO.format(declared=declared, first=first, test=test, between=between)


@pytest.mark.parametrize("kind", ["size_t", "unsigned"])
@pytest.mark.parametrize(
    "new",
    [
        by_four("size_t i = 0;", "i + 3 < n"),
        by_four("size_t i;", "4 + i <= n", first="i = 0"),
        by_four("const size_t m = n - n % 4; size_t i = 0;", "i < m"),
        by_four("size_t i, m = n / 4 * 4;", "i < m", first="i = 0"),
        by_four("size_t i;", "i < n / 4 * 4", first="i = 0"),
        by_four("size_t i;", "i < (n & ~3)", first="i = 0"),
        by_four("size_t i;", "i < (n & ~(size_t)3)", first="i = 0"),
    ],
)
def test_what_an_unsigned_iterator_is_after_a_loop_in_steps(tmp_path: Path, kind: str, new: str) -> None:
    assert verdict(tmp_path, *(text.replace("size_t", kind) for text in (UNSIGNED, new))) == "yes"


@pytest.mark.parametrize(
    "new",
    [
        by_four("size_t i = 0;", "i < n - 3"),
        by_four("size_t i = 0;", "i + 2 < n"),
        by_four("size_t i = 0;", "i + 3 <= n"),
        by_four("size_t i = 0;", "i + 3 < n", between="i++; "),
        by_four("size_t i = 1;", "i + 3 < n"),
        by_four("unsigned i = 0;", "i + 3 < n"),
        by_four("unsigned char i = 0;", "i + 3 < n"),
        by_four("size_t i, m = n - n % 2;", "i < m", first="i = 0"),
        by_four("size_t m = n - n % 4, i; m += 4;", "i < m", first="i = 0"),
        by_four("size_t m = n - n % 4, i; n++;", "i < m", first="i = 0"),
        by_four("unsigned m = n - n % 4; size_t i;", "i < m", first="i = 0"),
        by_four("size_t i;", "i < (n & ~3u)", first="i = 0"),
        by_four("size_t i;", "i < (n & ~1)", first="i = 0"),
        by_four("size_t i;", "i < (n & ~3)", first="i = 0", between="n++; "),
        by_four("size_t i;", "i < n / 4 * 4 + 4", first="i = 0"),
    ],
)
def test_an_unsigned_iterator_that_passes_its_bound_is_not_proved(tmp_path: Path, new: str) -> None:
    """Of n - 3 below 3, of i + 3 past the last cells, of 32 bits where there are 64."""
    assert verdict(tmp_path, UNSIGNED, new) != "yes"


COPY = """void f(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = x[i];
}
"""
LAST_THREE = """void f(int n, const double *restrict x, double *restrict y) {
  int i = 0;
  for (; i + 3 < n; i += 4) {
    y[i] = x[i];
    y[i + 1] = x[i + 1];
    y[i + 2] = x[i + 2];
    y[i + 3] = x[i + 3];
  }
  switch (n - i) {
    case 3: y[i + 2] = x[i + 2]; /* and the next one */
    case 2:
      y[i + 1] = x[i + 1];
    case 1: y[i] = x[i];
  }
}
"""
APART = """    case 1: y[i] = x[i]; break;
    default: break;
    case 3: y[i + 2] = x[i + 2];
    case 2: y[i] = x[i];
      y[i + 1] = x[i + 1];
"""
IN_LINE = LAST_THREE[LAST_THREE.index("    case 3") : LAST_THREE.rindex("  }")]


@pytest.mark.parametrize("new", [LAST_THREE, LAST_THREE.replace(IN_LINE, APART)])
def test_a_switch_over_what_is_left(tmp_path: Path, new: str) -> None:
    assert verdict(tmp_path, COPY, new) == "yes"


@pytest.mark.parametrize(
    ("new", "answer"),
    [
        (LAST_THREE.replace("/* and the next one */", "break;"), "no"),
        (LAST_THREE.replace("case 3", "case 4"), "no"),
        (LAST_THREE.replace("case 2:\n", "case 2: break;\n"), "unknown"),
        (LAST_THREE.replace("case 1:", "default:"), "no"),
        (LAST_THREE.replace(IN_LINE, APART.replace("default: break", "default: y[0] = 0")), "no"),
        (LAST_THREE.replace("case 3", "case 4294967299LL"), "unknown"),
        (LAST_THREE.replace("/* and the next one */", "i++;"), "unknown"),
        (LAST_THREE.replace("/* and the next one */", "if (n > 9) break;"), "unknown"),
        (
            LAST_THREE.replace("    case 2:\n", "    if (n > 9) { case 2: ;\n").replace(
                "    case 1", "} case 1"
            ),
            "unknown",
        ),
    ],
)
def test_a_switch_that_does_something_else_is_not_proved(tmp_path: Path, new: str, answer: str) -> None:
    """Labels that are left out, or others; numbers that C cuts to an int; labels inside of statements."""
    assert verdict(tmp_path, COPY, new) == answer
