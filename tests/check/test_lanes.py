"""Programs with vectors are checked lane by lane."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.check.run.report import Answer
from loopwright.check.verify import LANE_BY_LANE, check_file

ORIGINAL = """double x[16], y[16];
void f(int n) {
#pragma scop
  for (int i = 0; i < n; i++) y[i] = y[i] + 2.0 * x[i];
#pragma endscop
}
int main(void) { f(16); return 0; }
"""
IN_VECTORS = """typedef double v4 __attribute__((vector_size(32), aligned(8)));
double x[16], y[16];
void f(int n) {
#pragma scop
  for (int i = 0; i < n; i += 4) {
    v4 t = *(v4 *)&y[i] + 2.0 * *(v4 *)&x[i];
    *(v4 *)&y[i] = t;
  }
#pragma endscop
}
int main(void) { f(16); return 0; }
"""


@pytest.mark.parametrize(
    ("was", "now", "answer"),
    [
        ("", "", Answer.VALID),
        ("&y[i] = t", "&x[i] = t", Answer.VIOLATION),
        ("i < n", "i + 4 < n", Answer.VIOLATION),
    ],
)
def test_vectors_are_lanes(tmp_path: Path, was: str, now: str, answer: Answer) -> None:
    original, program = tmp_path / "original.c", tmp_path / "program.c"
    original.write_text(ORIGINAL)
    program.write_text(IN_VECTORS.replace(was, now))
    report = check_file(program, original)
    assert report.answer is answer and LANE_BY_LANE in report.notes
