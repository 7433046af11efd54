"""Inputs with a leading dimension, `A[i * lda + j]`: proved for every `lda`, refuted where rows are apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.presburger.named import variable, whole
from loopwright.presburger.polynomials import of_affine
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import PLAINLY, Comparison
from loopwright.prove.verdict import Proved, Refuted
from loopwright.read.c.options import ReadOptions

HEAD = (
    "void gemv(int m, int n, const double *restrict A, int lda, const double *restrict x, double *restrict y)"
)
BY_ROWS = """
for (int i = 0; i < m; i++) {
  double s = 0.0;
  for (int j = 0; j < n; j++)
    s += A[i * lda + j] * x[j];
  y[i] = s;
}
"""
BY_COLUMNS = """
for (int i = 0; i < m; i++)
  y[i] = 0;
for (int j = 0; j < n; j++)
  for (int i = 0; i < m; i++)
    y[i] += A[i * lda + j] * x[j];
"""
IN_PAIRS = """
for (int i = 0; i < m; i++)
  y[i] = 0;
for (int j = 0; j < n; j++) {
  for (int p = 0; p < m / 2; p++) {
    y[2 * p] += A[(2 * p) * lda + j] * x[j];
    y[2 * p + 1] += A[(2 * p + 1) * lda + j] * x[j];
  }
  if (m % 2 == 1)
    y[2 * (m / 2)] += A[(2 * (m / 2)) * lda + j] * x[j];
}
"""


def _compared(old: str, new: str, folder: Path, *assume: str) -> Comparison:
    names = folder / "old.c", folder / "new.c"
    for name, body in zip(names, (old, new), strict=True):
        name.write_text(f"{HEAD}\n{{{body}}}\n")
    return compare_files(*names, replace(PLAINLY, reading=ReadOptions(assume=assume)))


@pytest.mark.parametrize("new", [BY_COLUMNS, IN_PAIRS])
@pytest.mark.parametrize("assume", [(), ("lda >= n",)])
def test_proved_with_and_without_a_condition_on_rows(
    new: str, assume: tuple[str, ...], tmp_path: Path
) -> None:
    found = _compared(BY_ROWS, new, tmp_path, *assume)
    assert isinstance(found.verdict, Proved)
    assert not any("reach into each other" in text for text in found.trusted)


@pytest.mark.parametrize(
    ("new", "wrong"),
    [
        (BY_COLUMNS.replace("lda + j", "lda + j + 1"), "of the next column"),
        (BY_COLUMNS.replace("j < n", "j < n - 1"), "without the last column"),
        (IN_PAIRS.replace("(2 * p + 1) * lda", "2 * p * lda"), "of the row before"),
    ],
)
def test_refuted(new: str, wrong: str, tmp_path: Path) -> None:
    assert isinstance(_compared(BY_ROWS, new, tmp_path).verdict, Refuted), wrong


def test_a_written_array_keeps_its_condition(tmp_path: Path) -> None:
    """y[i * lda + j] may be the same element twice: another order is another result there."""
    old = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) y[i * lda + j] = A[i * lda + j];"
    new = "for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) y[i * lda + j] = A[i * lda + j];"
    found = _compared(old, new, tmp_path)
    assert isinstance(found.verdict, Proved)
    assert any("'y' has rows of lda, which do not reach into each other" in text for text in found.trusted)


def test_the_quotient_is_the_atom_not_its_multiple() -> None:
    """8 * floor(m / 8) + 1 and floor(m / 8) have the same name in them."""
    quotient = variable("m").scale_down_val(whole(8)).floor()
    multiple = quotient.scale_val(whole(8)).add(variable("n"))
    (name,) = of_affine(quotient).atoms
    assert of_affine(multiple).terms == {(name,): 8, ("n",): 1}
