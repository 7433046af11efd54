"""Texts that access what is outside of their arrays: a no, even where no value shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Refuted, Verdict

OLD = """#ifndef M
#define M 30
#endif
static double a[M], b[M][M], w;
void step(void) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = i; j < M; j++) {
      w = b[i][j] * 0.5;
      a[j] = a[j] + w;
    }
#pragma endscop
}
"""

HEAD = "static double a[M], b[M][M], w;\nvoid step(void)"


def _asked(folder: Path, old: str, new: str) -> Verdict:
    first, second = folder / "old.c", folder / "new.c"
    first.write_text(old)
    second.write_text(new)
    return compare_files(first, second).verdict


def _with(statements: str, text: str = OLD) -> str:
    """The text with other statements before its loops."""
    return text.replace("  for (int i = 0", f"  {statements}\n  for (int i = 0", 1)


@pytest.mark.parametrize(
    ("statement", "cell"),
    (
        ("for (int i = -1; i < M; i++) a[i] = a[i];", "a[-1]"),
        ("for (int i = 0; i <= M; i++) { w = a[i]; a[i] = w; }", "a[1]"),
        ("for (int i = 0; i <= M; i++) { w = b[i][0]; b[i][0] = w; }", "b[1][0]"),
        ("for (int i = 0; i < 1; i++) { w = b[0][i - 1]; b[0][i - 1] = w; }", "b[0][-1]"),
    ),
)
def test_an_access_that_changes_no_value(statement: str, cell: str, tmp_path: Path) -> None:
    found = _asked(tmp_path, OLD, _with(statement))
    assert isinstance(found, Refuted) and found.message == f"{cell} is outside of '{cell[0]}'"
    assert found.parameters["M"] == 1
    assert f"accesses {cell} in line 7, outside of '{cell[0]}'" in found.witness


@pytest.mark.parametrize(
    ("old", "new"),
    (
        ("static double a[M]", "extern double a[M + 1]"),
        ("static double a[M]", "extern double a[M]"),
        ("static double a[M]", "extern double a[]"),
        ("static double a[M]", "static double *a"),
        (
            "static double a[M], ",
            "#ifndef SMALL\nstatic double a[M + 8];\n#else\nstatic double a[M];\n#endif\nstatic double ",
        ),
        (HEAD, "static double b[M][M], w;\nvoid step(double a[M])"),
        (HEAD, "static double b[M][M], w;\nvoid step(double a[restrict M])"),
    ),
)
def test_arrays_whose_sizes_the_file_does_not_define(old: str, new: str, tmp_path: Path) -> None:
    """The memory may be larger than what is declared."""
    text = OLD.replace(old, new)
    assert text != OLD
    found = _asked(tmp_path, text, _with("for (int i = 0; i <= M; i++) { w = a[i]; a[i] = w; }", text))
    assert not (isinstance(found, Refuted) and "outside of" in found.message)


@pytest.mark.parametrize(
    "statement",
    (
        "for (int i = 0; i <= M; i++) if (w > 0) a[i] = a[i];",
        "for (int i = 0; i < M; i++) { w = b[0][i]; b[0][i] = w; }",
        "for (int i = 0; i < M - 1; i++) { w = b[i][M]; b[i][M] = w; }",
    ),
)
def test_accesses_that_may_stay_inside(statement: str, tmp_path: Path) -> None:
    """A condition may hold for no such access, and the element after a row is the first of the next one."""
    found = _asked(tmp_path, OLD, _with(statement))
    assert not (isinstance(found, Refuted) and "outside of" in found.message)


@pytest.mark.parametrize(
    ("before", "is_told"), (("if (t > 0) return;", True), ("if (a[0] > 0) return;", False))
)
def test_where_the_region_may_not_be_reached(before: str, *, is_told: bool, tmp_path: Path) -> None:
    text = "static int t = 0;\n" + OLD.replace("#pragma scop", f"{before}\n#pragma scop")
    found = _asked(tmp_path, text, _with("for (int i = 0; i <= M; i++) { w = a[i]; a[i] = w; }", text))
    assert (isinstance(found, Refuted) and "outside of" in found.message) == is_told


def test_an_original_that_leaves_the_array_too(tmp_path: Path) -> None:
    """Where k is larger than M, nothing is defined, and nothing is told."""
    text, statement = OLD.replace("(void)", "(int k)"), "for (int i = 0; i < k; i++) { w = a[i]; a[i] = w; }"
    found = _asked(tmp_path, _with(statement, text), _with(f"{statement} {statement}", text))
    assert not (isinstance(found, Refuted) and "outside of" in found.message)
