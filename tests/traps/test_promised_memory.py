"""Memory that calls in the file may share, and what says that they do not: `restrict`, allocation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import PROVED, Trap, answer

_LOOP = "for (i = 1; i < n; i++) x[i] = y[i - 1];"


def _promised(call: str, parameters: str) -> Trap:
    """A function whose parameters may be `restrict`, called by another one with memory that may be one."""
    after = f"}} void g(int n, double *m, double **r) {{ double *q = m; if (n > 2) q = b; {call}"
    return Trap(f"{parameters}: {call}", _LOOP, after=after, parameters=parameters)


PROMISED = [
    _promised("f(n, m, q);", "int n, double *restrict x, double *y"),
    _promised("f(n, m, q);", "int n, double *x, const double *restrict y"),
    _promised("f(n, m, m + n);", "int n, double *restrict x, double *restrict y"),
]
UNPROMISED = [
    _promised("f(n, m, q);", "int n, double *x, double *y"),
    _promised("f(n, m, m);", "int n, double *restrict x, double *restrict y"),
]


@pytest.mark.parametrize("trap", PROMISED, ids=lambda trap: trap.name)
def test_memory_that_restrict_says_to_be_apart(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED


@pytest.mark.parametrize("trap", UNPROMISED, ids=lambda trap: trap.name)
def test_memory_that_nothing_says_to_be_apart(trap: Trap, tmp_path: Path) -> None:
    assert "may be the same memory, as the call in line 8 shows" in answer(trap, tmp_path)


def test_restrict_says_nothing_of_the_pointers_there(tmp_path: Path) -> None:
    trap = Trap(
        "rows",
        "for (i = 1; i < n; i++) x[0][i] = y[0][i - 1];",
        parameters="int n, double **restrict x, double **restrict y",
        after="} void g(int n) { double *p[1] = {a}, *q[1] = {a}; f(n, p, q); f(n, q, p); f(n, p, p);",
    )
    assert answer(trap, tmp_path) != PROVED


def _made(maker: str, use: str) -> Trap:
    """Memory that a function of the file allocates, in a struct."""
    head = f"#include <stdlib.h>\ntypedef struct {{ int n; double *x; }} T;\n{maker}\n"
    return Trap(f"{maker} {use}", _LOOP, head, after=f"}} void g(int n) {{ {use}")


_BY_VALUE = "T make(int n) { T t = {n, NULL}; t.x = malloc(8 * n); if (!t.x) abort(); return t; }"
_AN_ADDRESS = "T make(int n) { T t = {n, (double *)4096}; if (n > 9) t.x = malloc(8 * n); return t; }"
_TWO = "T s = make(n), t = make(n); f(n, s.x, t.x);"


def test_structs_that_begin_with_null_are_memory_of_their_own(tmp_path: Path) -> None:
    assert answer(_made(_BY_VALUE, _TWO), tmp_path) == PROVED
    assert answer(_made(_AN_ADDRESS, _TWO), tmp_path) != PROVED
