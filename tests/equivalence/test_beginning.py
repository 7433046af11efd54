"""What variables hold where the loops start: what the function loaded into them, or what a call gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equivalence.test_phrasings import verdict

MAXIMUM = "double f(int n, const double *y)", "for (int i = 1; i < n; i++) if (y[i] > m) m = y[i]; return m;"
AGAIN = "for (int i = {}; i < n; i++) m = m < y[i] ? y[i] : m; return m;"
FILL = "void f(int n, double *restrict x, const double *restrict y, double a, int k)"
LOOP = "for (int i = 0; i < n; i++) x[i] = {};"
COUNT = "for (int i = 0; i < {}; i++) x[i] = 1;"
DECLARED = "struct P { int n; }; double G; __attribute__((const)) double h(double);\n#include <math.h>\n"

NOT_REFUTED = {
    "an element": (MAXIMUM[0], "double m = y[0];", MAXIMUM[1], AGAIN.format(0)),
    "an element through the pointer": (MAXIMUM[0], "double m = *y;", MAXIMUM[1], AGAIN.format(0)),
    "a variable that holds an element": (MAXIMUM[0], "double l = y[0], m = l;", MAXIMUM[1], AGAIN.format(0)),
    "an element set later": (MAXIMUM[0], "double m; m = y[0];", MAXIMUM[1], AGAIN.format(0)),
    "an element, of marked loops": (
        FILL,
        "double m = y[0];\n#pragma scop\n",
        LOOP.format("m") + "\n#pragma endscop\n",
        LOOP.format("y[0]") + "\n#pragma endscop\n",
    ),
}
PROVED = {
    "a parameter": (FILL, "double b = a;", LOOP.format("a"), LOOP.format("b")),
    "an expression": (FILL, "double b = a + 1;", LOOP.format("a + 1"), LOOP.format("b")),
    "the last element": (FILL, "double b = y[n - 1];", LOOP.format("b"), LOOP.format("y[n - 1]")),
    "a variable of the file": (FILL, "double b = G;", LOOP.format("G"), LOOP.format("b")),
    "a size": (FILL, "int m = k;", COUNT.format("m"), COUNT.format("k")),
    "an expression of sizes": (FILL, "int m = 2 * k;", COUNT.format("m"), COUNT.format("k * 2")),
    "a member": (
        "void f(const struct P *p, double *restrict x)",
        "int m = p->n;",
        COUNT.format("m"),
        COUNT.format("p->n"),
    ),
    "a call": (FILL, "double b = h(a);", LOOP.format("h(a)"), LOOP.format("b")),
    "a root": (FILL, "double b = sqrt(a);", LOOP.format("sqrt(a)"), LOOP.format("b")),
}
REFUTED = {
    "elements left out": (MAXIMUM[0], "double m = y[0];", MAXIMUM[1], AGAIN.format(2)),
    "another element": (FILL, "double b = y[0];", LOOP.format("b"), LOOP.format("y[1]")),
    "another parameter": (FILL, "double b = a;", LOOP.format("b"), LOOP.format("y[i]")),
    "another call": (FILL, "double b = h(a);", LOOP.format("b"), LOOP.format("y[i]")),
}


def asked(tmp_path: Path, row: tuple[str, str, str, str]) -> str:
    head, before, *bodies = row
    return verdict(tmp_path, *(f"{DECLARED}{head}\n{{\n{before}\n{body}\n}}\n" for body in bodies))


@pytest.mark.parametrize("name", NOT_REFUTED)
def test_no_witness_contradicts_what_was_loaded(tmp_path: Path, name: str) -> None:
    assert asked(tmp_path, NOT_REFUTED[name]) != "no"


@pytest.mark.parametrize("name", PROVED)
def test_what_was_set_before_the_loops_counts(tmp_path: Path, name: str) -> None:
    assert asked(tmp_path, PROVED[name]) == "yes"


@pytest.mark.parametrize("name", REFUTED)
def test_other_values_are_refuted(tmp_path: Path, name: str) -> None:
    assert asked(tmp_path, REFUTED[name]) == "no"
