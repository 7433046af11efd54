"""Integer parameters that are read as values: differences that only some of their values show."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from loopwright.read.c.options import ReadOptions

DIFFERENT = {
    "zero": ("c ? 1 : 2.5", "c ? 1 : 2", "c = 0"),
    "below": ("c < 0 ? 1 : 2.5", "c < 0 ? 2 : 2.5", "c = -1"),
    "a number of the text": ("c == 17 ? 1 : 2.5", "2.5", "c = 17"),
}


def _found(old: str, new: str, folder: Path, assumed: tuple[str, ...] = (), before: str = "") -> Verdict:
    for name, value in (("old.c", old), ("new.c", new)):
        loop = f"for (int i = 0; i < n; i++) a[i] = {value};"
        (folder / name).write_text(f"void f(int n, int c, double *a) {{\n{before}\n{loop}\n}}\n")
    options = ComparisonOptions(ReadOptions(assume=assumed))
    return compare_files(folder / "old.c", folder / "new.c", options).verdict


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_value_that_shows_the_difference_is_found(name: str, tmp_path: Path) -> None:
    old, new, shown = DIFFERENT[name]
    found = _found(old, new, tmp_path)
    assert isinstance(found, Refuted) and shown in found.witness


@pytest.mark.parametrize("assumed", ("c > 0", "c > 7", "c == 3"))
def test_witnesses_keep_to_what_is_assumed(assumed: str, tmp_path: Path) -> None:
    """As many as c usually is, 5, may not be among what the user allows."""
    text = f"{assumed} ? 1 : 2.5"
    assert isinstance(_found(text, "1", tmp_path, (assumed,)), Undecided | Proved)
    assert isinstance(_found(text, "1", tmp_path), Refuted)


def test_witnesses_reach_the_loop(tmp_path: Path) -> None:
    left = "if (c <= 0) return;"
    assert not isinstance(_found("c ? 1 : 2.5", "c ? 1 : 2", tmp_path, before=left), Refuted)
