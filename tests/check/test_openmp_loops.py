"""Loops that OpenMP does not allow: what one run of them does, another may not."""

from __future__ import annotations

import pytest

from loopwright.check.run.report import Answer
from loopwright.check.verify import check_text

PROGRAM = """enum {{ N = 8 }};
double a[N];
int main(void)
{{
/*@ polycheck start spec
  for (int i = 1; i < N; i++) a[i] = 1;
*/
{loop}
/*@ polycheck end */
  return 0;
}}
"""


@pytest.mark.parametrize(
    ("head", "answer"),
    [("i < N; i++", Answer.VALID), ("i >= 7; i++", Answer.GAVE_UP), ("i != 8; i += 1", Answer.VALID)],
)
def test_a_loop_that_no_compiler_need_accept(head: str, answer: Answer) -> None:
    """With so many threads, gcc's program runs iterations that the test forbids."""
    loop = f"#pragma omp parallel for num_threads(16)\nfor (int i = 1; {head}) a[i] = 1;"
    assert check_text(PROGRAM.format(loop=loop)).answer is answer
