"""Segments of `main` that compute what their original computes by other operations."""

from __future__ import annotations

import pytest

from loopwright.check.run.report import Answer
from loopwright.check.values.segments import apart, marked_segment
from loopwright.check.verify import check_text
from loopwright.errors import BadInput
from loopwright.source import Source

TEXT = """#include <stdio.h>
#define N 9
#define NEXT x[i + 1]
static double A[N][N], x[N], y[N];
static int s;
int main(int argc, char **argv)
{
  int i, j, n;
  double t = 2.0;
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) { A[i][j] = i + j; x[j] = j; }
  n = N;
/*@ polycheck start spec
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++)
      y[i] += A[i][j] * x[j];
*/
SEGMENT
/*@ polycheck end */
  for (i = 0; i < N; i++)
    printf("%g\\n", y[i]);
  return 0;
}
"""
ROWS = """  for (i = 0; i < N; i++) {
    double sum = y[i];
    const double *a = A[i];
    for (j = 0; j < N; j++)
      sum += *a++ * x[j];
    y[i] = sum;
  }"""


def test_other_operations_in_main() -> None:
    report = check_text(TEXT.replace("SEGMENT", ROWS))
    assert (report.answer, report.algorithm) == (Answer.VALID, "terms")


def test_a_wrong_sum_in_main() -> None:
    with pytest.raises(BadInput, match="another name"):
        check_text(TEXT.replace("SEGMENT", ROWS.replace("double sum = y[i]", "double sum = x[i]")))


REFUSED = {
    "a number that the segment does not set": ROWS.replace("j < N", "j < n"),
    "a number that is set under a condition": "  if (s) n = 3;\n" + ROWS.replace("j < N", "j < n"),
    "a number that no iteration may set": "  for (i = 0; i < s; i++) n = 3;\n  y[0] += 0 * n;\n" + ROWS,
    "a number that one branch sets": "  if (s) n = 3; else y[0] = n;\n" + ROWS,
    "a number that an operand sets": "  s = s && (n = 3);\n  y[0] += 0 * n;\n" + ROWS,
    "a number with a first value": ROWS.replace("double sum = y[i]", "double sum = y[i] + 0 * t"),
    "a parameter": ROWS.replace("i < N", "i < N * argc"),
    "a macro that names a number": ROWS.replace("x[j]", "NEXT"),
    "a return": ROWS + "\n  if (s) return 1;",
    "a variable that is used afterwards": "  double y[N];\n" + ROWS,
    "what lasts": "  static int calls;\n" + ROWS,
    "a label": "again:\n" + ROWS + "\n  if (s) goto again;",
    "a line for the preprocessor": "#undef N\n#define N 5\n" + ROWS,
}


@pytest.mark.parametrize("segment", REFUSED.values(), ids=list(REFUSED))
def test_what_is_no_function_of_its_own(segment: str) -> None:
    marked = marked_segment(Source("p.c", TEXT.replace("SEGMENT", segment)))
    assert marked is not None
    assert apart(marked.source, marked.outer, marked.inner) is None


def test_a_number_that_is_read_afterwards() -> None:
    for after in ("printf", "if (s) i = 0; printf", "for (i += 0; i < N; i++) printf"):
        text = TEXT.replace("SEGMENT", ROWS)
        text = text.replace("for (i = 0; i < N; i++)\n    printf", f'{after}("%d", i); printf')
        marked = marked_segment(Source("p.c", text))
        assert marked is not None and apart(marked.source, marked.outer, marked.inner) is None, after


def test_a_segment_in_a_loop() -> None:
    text = TEXT.replace("SEGMENT", ROWS).replace("  n = N;", "  for (n = 0; n < 2; n++) {")
    text = text.replace("/*@ polycheck end */", "/*@ polycheck end */\n  }")
    marked = marked_segment(Source("p.c", text))
    assert marked is not None and apart(marked.source, marked.outer, marked.inner) is None
