"""Vectors of GNU C: the same operations are proved, and nothing is told of their values."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Proved, Undecided

HEAD = """typedef int whole __attribute__((vector_size(16)));
typedef unsigned char bytes __attribute__((vector_size(16)));
"""
LOOP = "for (int i = 0; i < n; i++)"
SAME = {
    "another order": ("whole", f"{LOOP} a[i] = b[i];", "for (int i = n - 1; i >= 0; i--) a[i] = b[i];"),
    "operands exchanged": ("bytes", f"{LOOP} a[i] = b[i] * c[i];", f"{LOOP} a[i] = c[i] * b[i];"),
}
UNKNOWN = {
    "-1 is what holds": ("whole", f"{LOOP} a[i] = (b[i] < c[i]) & 1;", f"{LOOP} a[i] = -(b[i] < c[i]);"),
    "1 is not": ("whole", f"{LOOP} a[i] = (b[i] < c[i]) == 1;", f"{LOOP} a[i] = b[i] < c[i];"),
    "bytes are no ints": ("bytes", f"{LOOP} a[i] = (b[i] + c[i]) & 255;", f"{LOOP} a[i] = b[i] + c[i];"),
    "bytes lose bits": ("bytes", f"{LOOP} a[i] = b[i] * 2 / 2;", f"{LOOP} a[i] = b[i];"),
    "a lane before and after the whole": (
        "whole",
        f"{LOOP} {{ a[i] = b[i]; a[i][0] = 1; }}",
        f"{LOOP} {{ a[i][0] = 1; a[i] = b[i]; }}",
    ),
    "an attribute of a variable": (
        "whole",
        f"{LOOP} {{ int __attribute__((vector_size(16))) t; t = b[i] < c[i]; a[i] = t & 1; }}",
        f"{LOOP} {{ int __attribute__((vector_size(16))) t; t = b[i] < c[i]; a[i] = -t; }}",
    ),
}


def answer(tmp_path: Path, kind: str, old: str, new: str) -> object:
    """Of two texts of a region over arrays of a kind of vectors."""
    files = tmp_path / "old.c", tmp_path / "new.c"
    for file, text in zip(files, (old, new), strict=True):
        head = f"{HEAD}void f(int n, {kind} a[n], {kind} b[n], {kind} c[n])"
        file.write_text(f"{head}\n{{\n#pragma scop\n{text}\n#pragma endscop\n}}\n")
    return compare_files(*files).verdict


@pytest.mark.parametrize("name", SAME)
def test_the_same_operations_are_proved(tmp_path: Path, name: str) -> None:
    assert isinstance(answer(tmp_path, *SAME[name]), Proved)


@pytest.mark.parametrize("name", UNKNOWN)
def test_no_values_are_told(tmp_path: Path, name: str) -> None:
    assert isinstance(answer(tmp_path, *UNKNOWN[name]), Undecided)
