"""Originals whose arrays are written as one dimension: `A[i * m + j]`."""

from __future__ import annotations

import pytest

from loopwright.check.run.findings import ErrorClass
from loopwright.check.run.report import Answer
from tests.check.test_bad_input import check

FRAME = """\
double A[200], B[200];
int main(void)
{{
  int i, j, k, n = 6, m = 5;
  /*@ polycheck size n = 6, m = 5 */
  /*@ polycheck start spec
  {spec}
  */
  {program}
  /*@ polycheck end */
  return 0;
}}
"""
ROWS = "for (i = 0; i < n; i++) for (j = 1; j < m; j++) A[i * m + j] = A[i * m + j - 1] + B[j];"
CUBE = (
    "for (i = 0; i < n; i++) for (j = 0; j < m; j++) for (k = 0; k < n; k++) A[(i * m + j) * n + k] = B[k];"
)


@pytest.mark.parametrize(
    ("spec", "program"),
    [
        (ROWS, "for (j = 1; j < m; j++) for (i = 0; i < n; i++) A[i * m + j] = A[i * m + j - 1] + B[j];"),
        (ROWS, "for (i = 0; i < n; i++) { double *r = A + i * m;"
               " for (j = 1; j < m; j++) r[j] = r[j - 1] + B[j]; }"),
        (CUBE, "for (int t = 0; t < n * m * n; t++) A[t] = B[t % n];"),
    ],
)  # fmt: skip
def test_a_reordering(spec: str, program: str) -> None:
    assert check(FRAME.format(spec=spec, program=program)).answer is Answer.VALID


@pytest.mark.parametrize(
    ("spec", "program", "kind"),
    [
        (ROWS, ROWS.replace("j - 1]", "j - 1 - (i == 2)]"), ErrorClass.WRONG_READ),
        (ROWS, ROWS.replace("j < m", "j < m - 1"), ErrorClass.MISSING),
        (CUBE, "for (int t = 1; t < n * m * n; t++) A[t] = B[t % n];", ErrorClass.MISSING),
    ],
)
def test_what_is_not_a_reordering(spec: str, program: str, kind: ErrorClass) -> None:
    report = check(FRAME.format(spec=spec, program=program))
    assert report.answer is Answer.VIOLATION and kind in [finding.kind for finding in report.findings]


def test_rows_that_overlap() -> None:
    """`j < n` leaves a row of m cells: the last cell of a row is the first of the next."""
    text = ROWS.replace("j < m", "j < n")
    assert check(FRAME.format(spec=text, program=text)).answer is Answer.VALID
    columns = text.replace("for (i = 0; i < n; i++) for (j = 1; j < n; j++)",
                           "for (j = 1; j < n; j++) for (i = 0; i < n; i++)")  # fmt: skip
    report = check(FRAME.format(spec=text, program=columns))
    assert {finding.kind for finding in report.findings} == {ErrorClass.TOO_SOON}
