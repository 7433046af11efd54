"""Pointers that walk over all rows of a matrix: `p = &A[0][0]; p[k]` is an element of the matrix."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.comparison.files import compare_files
from loopwright.prove.descent.native import MOST_PARTS, NativePair, native_pair
from loopwright.prove.equivalence.pairs import pair_of
from loopwright.prove.equivalence.refuting import Steps
from loopwright.prove.equivalence.traces import runnable
from loopwright.prove.equivalence.within_rows import _carried
from loopwright.prove.verdict import Refuted
from loopwright.read.c.reader import read_source
from loopwright.source import Source

HEAD = "void f(int n, int m, double A[n][m], double B[n][m]) {\n"
OLD = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = B[i][j];"
ROW = "for (int i = 0; i < n; i++) { double *p = A[i], *q = FIRST; for (int j = 0; j < m; j++) p[j] = q[j]; }"
ALL = "double *p = &A[0][0], *q = &B[0][0]; for (int k = 0; k < END; k++) p[k] = q[k];"
RIGHT = {
    "rows by one pointer": ROW.replace("FIRST", "B[0] + i * m"),
    "all at once": ALL.replace("END", "n * m"),
}
WRONG = {
    "other rows": ROW.replace("FIRST", "B[0] + i * n"),
    "the next row": ROW.replace("FIRST", "B[i] + m"),
    "all but one": ALL.replace("END", "n * m - 1"),
    "one column further": OLD.replace("B[i][j]", "B[i][j + 1]"),
}


def _is_refuted(new: str, folder: Path) -> bool:
    for name, text in (("old.c", OLD), ("new.c", new)):
        (folder / name).write_text(f"{HEAD}{text}\n}}\n")
    return isinstance(compare_files(folder / "old.c", folder / "new.c").verdict, Refuted)


@pytest.mark.parametrize("name", RIGHT)
def test_beyond_a_row_is_the_next_row(name: str, tmp_path: Path) -> None:
    assert not _is_refuted(RIGHT[name], tmp_path)


@pytest.mark.parametrize("name", WRONG)
def test_another_element_of_the_matrix_is_refuted(name: str, tmp_path: Path) -> None:
    assert _is_refuted(WRONG[name], tmp_path)


@pytest.mark.parametrize("read", ("B[i][j]", "B[i + 1][j - m]", "B[i][j + 1]", "B[i - 1][j + m + 1]"))
def test_long_runs_are_not_listed(read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows follow each other in runs in C, where the executions that lead to one cell tell a difference."""
    heads = HEAD, HEAD.replace("A[n][m]", "**A").replace("B[n][m]", "**B")
    bodies = OLD, OLD.replace("B[i][j]", read)
    texts = (
        f"{head}#pragma scop\n{body}\n#pragma endscop\n}}\n" for head, body in zip(heads, bodies, strict=True)
    )
    old, new = (read_source(Source(f"{k}.c", text))[0] for k, text in enumerate(texts))
    whole = NativePair.leading_to

    def of_one_cell(pair: NativePair, cell: int = -1, most: int = MOST_PARTS) -> Steps | None:
        return None if cell < 0 else whole(pair, cell, most)

    monkeypatch.setattr(NativePair, "leading_to", of_one_cell)
    pair = native_pair(pair_of((old, new), (runnable(old), runnable(new)), ("A",), reassociate=False))
    sizes = {"n": 9, "m": 8}
    pair.run(sizes, 1000)
    assert pair.differs == (read != "B[i][j]")
    assert isinstance(pair.confirmed(sizes), Refuted) == read.endswith("+ 1]")


def test_carries() -> None:
    assert _carried((0, 5), (None, 3)) == (1, 2)
    assert _carried((1, -1), (None, 3)) == (0, 2)
    assert _carried((0, 0, 25), (None, 3, 4)) == (2, 0, 1)
    assert _carried((0, 5, 9), (None, None, 4)) == (0, 7, 1)
