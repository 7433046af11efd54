"""Loops that increment several integers are loops over their iteration count, or stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.model.program import Program
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.c.support import writes
from tests.pipeline.support import output, result

HEAD = "void f(int n, int m, double *restrict a, double *restrict b)\n{\n  int i, j;\n"


def region(body: str, after: str = "") -> Program:
    text = f"{HEAD}#pragma scop\n{body}\n#pragma endscop\n{after}}}\n"
    (program,) = read_source(Source("t.c", text))
    return program


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("for (int i = 0, j = n - 1; i < n; i++, j--) b[j] = a[i];", ["b[-1 + n - k_1]"]),
        ("for (i = 0, j = 0; i < n; i++, j += 2) b[j] = a[i];", ["b[2k_1]"]),
        ("for (i = 0, j = n; i < j; i++, j--) { b[i] = a[j]; b[j] = a[i]; }", ["b[k_1]", "b[n - k_1]"]),
        ("for (int i = n, j = 0; i >= m; i -= 3, j++) b[i] = a[j];", ["b[n - 3k_1]"]),
        ("for (i = 0, j = n; i < j; j--) { b[i] = a[j]; i++; }", ["b[k_1]"]),
        ("i = 0; j = n; while (i < j) { b[i++] = a[--j]; }", ["b[k_1]"]),
        ("for (i = 0, j = n; i < n && j > m; i++, j--) b[j] = a[i];", ["b[n - k_1]"]),
    ],
)
def test_they_are_read(body: str, written: list[str]) -> None:
    program = region(body)
    assert [one for part in program.statements for one in writes(part)] == written
    assert not program.set_aside


KEPT = [
    "for (i = 0, j = 0; i < n; i++, j += 2) { b[i] = a[j]; if (a[i] > 2) j++; }",
    "for (i = 0, j = 0; i < n; i++, j++) { if (i == m) j = 0; b[i] = a[j]; }",
    "for (i = 0, j = n; i < n || j > m; i++, j--) b[i] = a[j];",
    "for (i = 0, j = n; j != i && i < 3; i++, j--) b[i] = a[j];",
    "for (i = 0, j = 1; i < n; i++, j *= 2) b[i] = a[j];",
    "for (i = 0, j = 0; i < n; i += j, j++) b[i] = a[j];",
    "for (i = 0, j = 0; i < n; i++, j++) { for (int k = 0; k < j; k++, j++) b[k] += a[j]; }",
    "for (i = 0, j = n; i < n; i++, j--) { if (a[i] > 3) break; b[i] = a[j]; }",
    "for (unsigned i = 0, j = 9; i < 8; i++, j--) b[i] = a[j];",
    "for (short i = 0, j = n - 1; i < n; i++, j--) b[i] = a[j];",
    "unsigned char u; for (i = 0, u = 250; i < n; i++, u++) b[i] = a[u % 16];",
]


@pytest.mark.parametrize("body", KEPT)
def test_they_stay(body: str) -> None:
    assert all(one.depth == 0 for one in region(body).statements)


def test_a_counter_that_is_read_afterwards_stays() -> None:
    body = "for (i = 0, j = 0; i < n; i++, j += 2) b[i] = a[j];"
    assert region(body).statements[0].depth == 1
    assert region(body, "b[0] = j;\n").statements[0].depth == 0


@pytest.mark.parametrize("head", ["int g(int, ...);", "int g();", "extern int (*g)(int, ...);"])
def test_what_a_call_is_given_keeps_its_type(head: str) -> None:
    """Nothing converts it: not for `...`, and not where the parameters are not declared."""
    body = "for (i = 0, j = n - 1; i < n; i++, j--) { b[i] = a[j]; g(i, i, j); }"
    text = f"{head}\n{HEAD}#pragma scop\n{body}\n#pragma endscop\n}}\n"
    (program,) = read_source(Source("t.c", text))
    assert "g(((int)k_1), ((int)k_1), ((int)(n - k_1 - 1)));" in program.source.text


PROGRAM = """#include <stdio.h>
static double x[99], y[99];
static void f(int n, int m, double *restrict a, double *restrict b)
{{
  int i, j;
#pragma scop
{body}
#pragma endscop
}}
int main(void)
{{
  for (int k = 0; k < 99; k++) x[k] = k % 7 - 2;
  for (int n = -2; n < 9; n++) f(n, 3, x + 40, y + 40);
  for (int k = 0; k < 99; k++) printf("%g %g\\n", x[k], y[k]);
}}
"""


@pytest.mark.parametrize(
    ("body", "script"),
    [
        ("for (i = 0, j = n; i < j; i++, j--) { b[i] += 2 * a[j]; b[j] += a[i] * j; }", "reverse(S1, k_1)"),
        ("for (i = n, j = 3; i >= m; i -= 2, j++) b[i] += a[j] * i + i / 2;", "strip_mine(S1, k_1, 2)"),
        (KEPT[8], ""),
        (KEPT[9], ""),
    ],
)
def test_they_are_transformed_and_do_the_same(tmp_path: Path, body: str, script: str) -> None:
    text = PROGRAM.format(body=body)
    new = result(tmp_path, text, script).source.text
    assert ("k_1" in new) == bool(script)
    assert output(new, tmp_path) == output(text, tmp_path)
