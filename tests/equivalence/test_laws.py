"""Algebraic laws that are exact: proved, and checked with a compiler on special numbers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from loopwright.prove.verdict import Proved, Refuted
from tests.equivalence.support import NAMES, compared, wrapped

LAWS = (
    ("b[i] + b[i]", "2 * b[i]"),
    ("b[i] + (b[i] - 0)", "b[i] * 2.0"),
    ("x[i] + x[i]", "2 * x[i]"),
    ("u[i] + u[i]", "u[i] * 2"),
    ("b[i] / 2", "b[i] * 0.5"),
    ("b[i] / 2", "0.5f * b[i]"),
    ("b[i] / 0.25", "4 * b[i]"),
    ("b[i] / 1024", "b[i] * 0.0009765625"),
    ("g[i] / 8", "g[i] * 0.125f"),
    ("-(-b[i])", "b[i]"),
    ("b[i] - c[i]", "b[i] + -c[i]"),
    ("b[i] - c[i]", "-c[i] + b[i]"),
    ("b[i] - (-c[i])", "b[i] + c[i]"),
    ("(-b[i]) * c[i]", "-(b[i] * c[i])"),
    ("(-b[i]) / (-c[i])", "b[i] / c[i]"),
    ("b[i] * -1", "-b[i]"),
    ("b[i] * -2.5", "-(2.5 * b[i])"),
    ("b[i] / -2", "-0.5 * b[i]"),
    ("b[i] - 0.0", "b[i]"),
    ("b[i] + -0.0", "+b[i]"),
    ("(float)(double)g[i]", "g[i]"),
    ("(char)(int)h[i]", "h[i]"),
    ("!(b[i] < c[i]) ? 1 : 2", "b[i] < c[i] ? 2 : 1"),
    ("b[i] != c[i] ? 1.5 : 2", "!(b[i] == c[i]) ? 1.5 : 2"),
    ("x[i] < 3 ? b[i] : c[i]", "!(x[i] >= 3) ? b[i] : c[i]"),
    ("b[i] > 0 && c[i] > 0 && x[i] ? 1 : 2", "b[i] > 0 ? (c[i] > 0 ? (x[i] ? 1 : 2) : 2) : 2"),
    ("!(b[i] > 0) && x[i] / 3 ? 1 : 2", "!(b[i] > 0) ? (x[i] / 3 ? 1 : 2) : 2"),
    ("(int)(short)h[i]", "h[i]"),
    ("(float)(double)x[i]", "(float)x[i]"),
    ("(short)(long)x[i]", "(short)x[i]"),
    ("x[i] + (b[i] > 0)", "b[i] > 0 ? x[i] + 1 : x[i]"),
    ("u[i] + (b[i] == c[i])", "b[i] == c[i] ? u[i] + 1 : u[i]"),
)
NO_LAWS = (
    ("b[i] + 0.0", "b[i]"),
    ("0 - b[i]", "-b[i]"),
    ("-(b[i] - c[i])", "c[i] - b[i]"),
    ("b[i] / 3", "b[i] * (1 / 3.0)"),
    ("b[i] + b[i] + b[i]", "3 * b[i]"),
    ("x[i] / 2", "x[i] * 0.5"),
    ("!(b[i] < c[i]) ? 1 : 2", "b[i] >= c[i] ? 1 : 2"),
    ("(float)(double)b[i]", "b[i]"),
    ("(char)(int)x[i]", "x[i]"),
    ("b[i] / 1e-320", "b[i] * 1e320"),
    ("0.1f * b[i]", "0.1 * b[i]"),
    ("h[i] + h[i]", "(char)(2 * h[i])"),
    ("b[i] > 0 && c[i] > 0 ? 1 : 2", "b[i] > 0 ? (c[i] > 0 ? 1 : 2) : 1"),
    ("(unsigned char)(double)x[i]", "(unsigned char)x[i]"),
    ("(int)(unsigned char)h[i]", "(int)h[i]"),
    ("(double)(float)x[i]", "(double)x[i]"),
    ("b[i] + (c[i] > 0)", "c[i] > 0 ? b[i] + 1 : b[i]"),
    ("x[i] + 2 * (b[i] > 0)", "b[i] > 0 ? x[i] + 1 : x[i]"),
)
OWN = NAMES + ", float *g, int *x, unsigned *u, char *h"


def file(value: str) -> str:
    return wrapped(f"for (i = 0; i < n; i++) a[i] = {value};", names=OWN)


@pytest.mark.parametrize(("one", "other"), LAWS)
def test_what_is_exact_is_proved(tmp_path: Path, one: str, other: str) -> None:
    assert isinstance(compared(tmp_path, file(one), file(other)).verdict, Proved)
    assert isinstance(compared(tmp_path, file(other), file(one)).verdict, Proved)


@pytest.mark.parametrize(("one", "other"), NO_LAWS)
def test_what_is_not_exact_is_not_proved(tmp_path: Path, one: str, other: str) -> None:
    assert not isinstance(compared(tmp_path, file(one), file(other)).verdict, Proved)


def test_a_difference_only_for_what_is_not_a_number(tmp_path: Path) -> None:
    one, other = NO_LAWS[6]
    found = compared(tmp_path, file(one), file(other)).verdict
    assert isinstance(found, Refuted) and "= NaN" in found.witness


TRIAL = """
#include <stdio.h>
#include <string.h>
static double hard[] = {0, 0, 1, 3, 0.1, 1e-310, 4.9407e-324, 2.2250738585072014e-308, 1e308, 1e309};
static int same(double p, double q) { return (p != p && q != q) || memcmp(&p, &q, sizeof p) == 0; }
int main(void)
{
  int count = sizeof hard / sizeof *hard;
  hard[1] = hard[9] - hard[9];
  for (int one = 0; one < 2 * count; one++)
    for (int two = 0; two < 2 * count; two++) {
      volatile int i = 0;
      double b[] = {one < count ? hard[one] : -hard[one - count]};
      double c[] = {two < count ? hard[two] : -hard[two - count]};
      float g[] = {b[0]};
      int x[] = {7 * one - 30};
      unsigned u[] = {4294967290u + one};
      char h[] = {13 * one};
      %s
    }
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_the_laws_hold_for_numbers_that_are_hard(tmp_path: Path) -> None:
    tests = [f'if (!same({p}, {q})) puts("{p} is not {q}");' for p, q in LAWS]
    (tmp_path / "laws.c").write_text(TRIAL % "\n      ".join(tests))
    flags = ["-w", "-O1", "-ffp-contract=off", "-o", str(tmp_path / "laws")]
    subprocess.run(["gcc", *flags, str(tmp_path / "laws.c")], check=True)
    assert subprocess.run([str(tmp_path / "laws")], check=True, capture_output=True, text=True).stdout == ""
