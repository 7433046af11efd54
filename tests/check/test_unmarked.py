"""A program without marks: the segment is the function that the region of the original is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.check.run.report import Answer, Report
from loopwright.check.verify import CheckOptions, check_file
from loopwright.errors import BadInput
from tests.check.support import QUICK

ORIGINAL = """#define N 8
double A[N], B[N];
void begin(void) { for (int i = 0; i < N; i++) B[i] = i; }
void kernel(void) {
#pragma scop
  for (int i = 0; i < N; i++)
    A[i] = B[i] + 1;
#pragma endscop
}
int main(void) { begin(); kernel(); return A[0] > 1; }
"""
PRINTED = """#define min(x, y) ((x) < (y) ? (x) : (y))
#define N 8
double A[N], B[N];
void begin(void) { for (int i = 0; i < N; i++) B[i] = i; }
void kernel(void) {
  int t1, t2;
  register int lbv, ubv;
  for (t1 = 0; t1 <= (N - 1) / 3; t1++) {
    lbv = 3 * t1;
    ubv = min(N - 1, 3 * t1 + 2);
#pragma ivdep
#pragma vector always
    for (t2 = lbv; t2 <= ubv; t2++)
      A[t2] = B[t2] + 1;
  }
}
int main(void) { begin(); kernel(); return A[0] > 1; }
"""


def _checked(folder: Path, old: str, new: str) -> Report:
    for name, text in (("old.c", old), ("new.c", new)):
        (folder / name).write_text(text)
    return check_file(folder / "new.c", folder / "old.c", CheckOptions(tools=QUICK))


def test_the_function_of_the_original_is_checked(tmp_path: Path) -> None:
    assert _checked(tmp_path, ORIGINAL, PRINTED).answer is Answer.VALID
    wrong = _checked(tmp_path, ORIGINAL, PRINTED.replace("3 * t1 + 2", "3 * t1 + 1"))
    assert wrong.answer is Answer.VIOLATION


@pytest.mark.parametrize("loops", ["for (int i = 0; i < N; i++) A[i] = 0;", "for (int i = 0; i < N; i++) ;"])
def test_a_function_that_has_loops_around_the_region_is_not_chosen(loops: str, tmp_path: Path) -> None:
    """What of the other function belongs to the region is not known."""
    old, new = (text.replace("kernel(void) {", f"kernel(void) {{ {loops}") for text in (ORIGINAL, PRINTED))
    with pytest.raises(BadInput, match="no region is marked in this file, and 2 functions"):
        _checked(tmp_path, old, new)
