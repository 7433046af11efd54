"""Regions of C written as MLIR (`extract --mlir`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import GaveUp, Illegal
from loopwright.read.c.reader import read_c
from loopwright.report.mlir_text import mlir_text
from tests.mlir.test_prove import compared

LETTERS = """char letters[100];
int counts[100];
void f(int n) {
  int i;
#pragma scop
  for (i = n - 1; i > 3; i -= 2)
    counts[i] = letters[i] + counts[i - 1];
#pragma endscop
}
"""


def test_loops_that_count_down_and_letters(tmp_path: Path) -> None:
    """A plain char is written as i8 with a sign; the loop runs over what is -i."""
    file = tmp_path / "letters.c"
    file.write_text(LETTERS)
    text = mlir_text(read_c(file))
    assert "%letters: memref<100xi8>" in text and "arith.extsi" in text and "step 2" in text
    up = text.replace("((s0 + -1) * -1)", "((s0 + -1) - ((s0 + -5) floordiv 2) * 2)").replace("-3", "s0")
    up = up.replace("affine_map<() -> ((s0))>()", "%n").replace("(%i_ * -1)", "%i_")
    assert compared(text, up).obligations > 0  # no iteration reads what another one writes
    with pytest.raises(Illegal):
        compared(text, up.replace("s0 + -5", "s0 + -4"))


def test_a_comparison_as_a_number_is_a_choice(tmp_path: Path) -> None:
    """`(a == b ? 1 : 0)` is read as the comparison, whose value is an int."""
    file = tmp_path / "letters.c"
    file.write_text(LETTERS.replace("letters[i] + counts[i - 1]", "(letters[i] + counts[i] == 3 ? 1 : 0)"))
    text = mlir_text(read_c(file))
    assert "arith.cmpi eq" in text and "arith.select" in text
    assert compared(text, text).obligations > 0


def test_a_long_double_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "long.c"
    file.write_text(LETTERS.replace("int counts", "long double counts"))
    with pytest.raises(GaveUp, match="the type 'long double' is not written as MLIR"):
        mlir_text(read_c(file))
