"""Functions that a person rewrote, without pragmas: what differs is found, whatever it is written with."""

from __future__ import annotations

from pathlib import Path

import pytest

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
