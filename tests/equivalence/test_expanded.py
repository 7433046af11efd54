"""A text with a cell per iteration for a variable of OLD, as `expand` and loops with remainders make it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import Comparison
from loopwright.prove.verdict import Proved, Undecided

INPUTS = "int m, int n, const double *restrict A, int lda, const double *restrict x"
HEAD = f"void gemv({INPUTS}, double *restrict y)\n"
LOOP = """  for (int i = 0; i < m; i++) {
    double s = 0.0;
    for (int j = 0; j < n; j++)
      s += A[i * lda + j] * x[j];
    y[i] = s;
  }
"""
SUMS = """for (int i = 0; i < m; i++)
  s_i[i] = 0.0;
for (int j = 0; j < n; j++) {
  for (int p = 0; p < m / 2; p++) {
    s_i[2 * p] += A[(2 * p) * lda + j] * x[j];
    s_i[2 * p + 1] += A[(2 * p + 1) * lda + j] * x[j];
  }
  if (m % 2 == 1)
    s_i[2 * (m / 2)] += A[(2 * (m / 2)) * lda + j] * x[j];
}
for (int i = 0; i < m; i++)
  y[i] = s_i[i];
"""
ALLOCATED = """#include <stdlib.h>
{head}{{
  {{
    void *s_i_memory = m > 0 && (size_t)m <= ((size_t)-1 - 63) / sizeof(double)
      ? malloc((size_t)m * sizeof(double) + 63) : NULL;
    if (s_i_memory != NULL) {{
      double *restrict s_i = (void *)((char *)s_i_memory + (64 - (size_t)s_i_memory % 64) % 64);
{sums}    }} else {{
{loop}    }}
    free(s_i_memory);
  }}
}}
"""


def _compared(folder: Path, sums: str, *, allocated: str = ALLOCATED) -> Comparison:
    names = folder / "old.c", folder / "new.c"
    names[0].write_text(f"{HEAD}{{\n{LOOP}}}\n")
    names[1].write_text(allocated.format(head=HEAD, sums=sums, loop=LOOP))
    return compare_files(*names)


def test_proved_along_its_loops_with_a_remainder_at_a_quotient(tmp_path: Path) -> None:
    found = _compared(tmp_path, SUMS)
    assert isinstance(found.verdict, Proved)
    assert [one.way for one in found.answers] == ["along its loops", "by instances"]
    assert not any("s_i" in text for text in found.trusted)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("s_i[2 * (m / 2)] += A[(2 * (m / 2))", "s_i[m / 2] += A[(m / 2)"),
        ("  if (m % 2 == 1)", "  if (m % 2 == 0)"),
        ("  y[i] = s_i[i]", "  y[i] = s_i[m - 1 - i]"),
        ("  s_i[2 * p + 1] += A[(2 * p + 1)", "  s_i[2 * p + 2] += A[(2 * p + 2)"),
    ],
)
def test_anything_else_is_not(right: str, wrong: str, tmp_path: Path) -> None:
    assert SUMS.count(right) == 1
    assert not _compared(tmp_path, SUMS.replace(right, wrong)).proved, wrong


def test_what_is_wrong_with_the_cells_is_said(tmp_path: Path) -> None:
    verdict = _compared(tmp_path, SUMS.replace("p < m / 2; p++", "p < m / 2 + 1; p++")).verdict
    assert isinstance(verdict, Undecided)
    assert verdict.reason.startswith("along its loops: an instance is run twice in lines 13 to 17, for m = 1")


@pytest.mark.parametrize("size", ["(size_t)(m - 1)", "(size_t)1"])
def test_cells_of_which_there_are_too_few(size: str, tmp_path: Path) -> None:
    small = ALLOCATED.replace("(size_t)m *", f"{size} *")
    with pytest.raises(BadInput, match="a pointer declared in a region cannot be followed"):
        _compared(tmp_path, SUMS, allocated=small)


def test_the_other_branch_is_compared_too(tmp_path: Path) -> None:
    other = ALLOCATED.replace("{loop}", "")
    assert not _compared(tmp_path, SUMS, allocated=other).proved
