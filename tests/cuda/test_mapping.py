"""`block` and `thread`, and what a program with mapped loops becomes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.errors import BadInput, Code, Illegal, LoopwrightError
from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.source import Source
from tests.cuda.support import kernels, kernels_of, made, original, run, run_in_threads

PROGRAM = """\
#include <math.h>
#include <stdio.h>
#define WIDE 3u
static double A[37][41], B[37][41], s = 0.5;
int main(void)
{{
  int i, j, t, n = 37, m = 41;
  unsigned u = 3;
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      A[i][j] = i * 3 % 7 + j, B[i][j] = 1;
#pragma scop
{body}
#pragma endscop
  double sum = 0;
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      sum += (i + 2 * j) * A[i][j] + B[i][j];
  printf("%.17g\\n", sum);
  return 0;
}}
"""

STEPS = """\
  for (t = 0; t < 5; t++) {
    for (i = 1; i < n - 1; i++)
      for (j = 0; j < m; j++)
        New: B[i][j] = s * (A[i - 1][j] + A[i + 1][j]);
    for (i = 1; i < n - 1; i++)
      for (j = 0; j < m; j++)
        Old: A[i][j] = B[i][j];
  }"""

NAIVE = """\
tile(New, 4, 8)
block(New, iT, jT)
thread(New, i=4, j=8)
block(Old, i)
thread(Old, j=16)
"""


def test_a_launch_for_each_iteration_around_the_mapped_loops(tmp_path: Path) -> None:
    text = PROGRAM.format(body=STEPS)
    outcome = made(tmp_path, text, NAIVE)
    found = kernels(outcome)
    assert found.count("LW_KERNEL(") == 2 and "LW_KERNEL(32)" in found and "LW_SIZE(8, 4, 1)" in found
    assert "for (LW_BLOCK_INDEX i = LW_BLOCK(x, 1, 1); i < n - 1; i += LW_BLOCKS(x, 1))" in found
    assert "for (long t = 0; t <= 4; t += 1) {\n      LW_LAUNCH(" in found
    assert run(tmp_path, outcome) == original(tmp_path, text)


def test_without_a_device_the_original_loops_run(tmp_path: Path) -> None:
    text = PROGRAM.format(body=STEPS)
    assert run(tmp_path, made(tmp_path, text, NAIVE), device=False) == original(tmp_path, text)


def test_the_c_file_stays_as_it_is_outside_of_the_region(tmp_path: Path) -> None:
    text = PROGRAM.format(body=STEPS)
    new = made(tmp_path, text, NAIVE).source.text
    before, _, after = text.partition(STEPS)
    assert new.startswith(before) and new.endswith(after) and STEPS in new


def test_phases_of_a_block_are_separated_by_barriers(tmp_path: Path) -> None:
    """Threads along j copy a row, then read what other threads wrote."""
    body = """\
  for (i = 0; i < n; i++) {
    for (j = 0; j < m; j++)
      Copy: B[i][j] = A[i][j];
    for (j = 1; j < m; j++)
      Use: A[i][j] = B[i][j - 1];
  }"""
    text = PROGRAM.format(body=body)
    script = "L = lift(Copy, 1)\nblock(L, i)\nthread(Copy, j=16)\nthread(Use, j=16)\n"
    outcome = made(tmp_path, text, script)
    found = kernels(outcome)
    assert found.count("LW_LAUNCH(") == 1 and found.count("LW_BARRIER();") == 1
    assert run(tmp_path, outcome) == original(tmp_path, text)


def test_a_loop_of_all_threads_has_a_barrier_at_its_end(tmp_path: Path) -> None:
    body = """\
  for (i = 0; i < n; i++)
    for (t = 1; t < 9; t++)
      for (j = 1; j < m; j++)
        L: A[i][j] = A[i][j] * t;"""
    text = PROGRAM.format(body=body)
    outcome = made(tmp_path, text, "block(L, i)\nthread(L, j=16)\n")
    assert kernels(outcome).count("LW_BARRIER();") == 1
    assert run(tmp_path, outcome) == original(tmp_path, text)


def test_what_is_not_mapped_is_run_by_one_thread(tmp_path: Path) -> None:
    body = """\
  First: A[0][0] = 3;
  for (i = 0; i < n; i++) {
    Head: A[i][0] = s;
    for (j = 1; j < m; j++)
      L: A[i][j] = A[i][0] + j;
  }
  Last: B[1][1] = A[2][2];"""
    text = PROGRAM.format(body=body)
    outcome = made(tmp_path, text, "N = lift(L, 1)\nblock(N, i)\nthread(L, j=16)\n")
    found = kernels(outcome)
    assert found.count("LW_LAUNCH(") == 3 and "if (LW_ONE(x)) {" in found and "LW_SIZE(1, 1, 1)" in found
    assert run(tmp_path, outcome) == original(tmp_path, text)


def test_a_block_with_dependent_iterations_is_refused_with_two_of_them_and_the_cell(tmp_path: Path) -> None:
    with pytest.raises(Illegal) as caught:
        made(tmp_path, PROGRAM.format(body=STEPS), "L = lift(New, 1)\nblock(L, t)\n")
    assert caught.value.code is Code.NOT_PARALLEL
    assert "the loop over t (blocks along x)" in caught.value.message
    assert "B[1][0]" in str(caught.value.diagnostic.notes)


def test_other_targets_refuse_mapped_loops(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM.format(body=STEPS))
    for openmp in (False, True):
        with pytest.raises(BadInput) as caught:
            transformed(Request(str(file), NAIVE, openmp=openmp), silent)
        assert "block" in caught.value.message and "cuda" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("parallel(New, i)", "means nothing for the target cuda"),
        ("vectorize(New, j)", "means nothing for the target cuda"),
        ("thread(New, i=64, j=32)", "at most 1024"),
        ("block(New, i)\nblock(New, j)", "mapped already"),
        ("block(New, i)\nthread(New, i=4)", "mapped already"),
        ("block(New, t, i, j)\nthread(New, j=1)", "mapped already"),
        ("block(New, i, i)", "named twice"),
        ("tile(New, i=8, j=8)", "mapped to blocks or threads"),
    ],
)
def test_scripts_that_no_gpu_can_run(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        made(tmp_path, PROGRAM.format(body=STEPS), script)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("body", "script", "message"),
    [
        ("for (i = 0; i < n; i++)\n  L: A[i][0] = exp(s);", "block(L, i)", "exp"),
        ("for (i = 0; i < n; i++) {\n  L: A[i][0] = M_PI;\n}", "block(L, i)", "M_PI"),
        ("for (i = 0; i < n; i++)\n  L: s = A[i][0];", "thread(L, i=1)", ""),
        ("for (i = 0; i < n; i++)\n  L: A[i][0] = A[i][0] * 0.1L;", "block(L, i)", "long double"),
        ("for (i = 0; i < WIDE; i++)\n  L: A[i][0] = WIDE - 5;", "block(L, i)", "signed"),
        ("for (i = 0; i < u; i++)\n  L: A[i][0] = u - 5;", "block(L, i)", "signed"),
        (
            "for (i = 0; i < n; i++) {\n for (j = 0; j < m; j++)\n  L: A[i][j] = 0;\n"
            " for (j = 0; j < m; j++)\n  M: B[i][j] = 0;\n}",
            "N = lift(L, 1)\nblock(L, i, j)\n",
            "directly inside each other",
        ),
    ],
)
def test_regions_that_have_no_kernels(tmp_path: Path, body: str, script: str, message: str) -> None:
    with pytest.raises((BadInput, Illegal)) as caught:
        made(tmp_path, PROGRAM.format(body=body), script)
    assert message in caught.value.message


FOUR = """\
#include <stdio.h>
static double A[3][4][5][6], B[3][4][5][6];
int main(void)
{
  double sum = 0;
  for (int k = 0; k < 360; k++)
    (&A[0][0][0][0])[k] = k % 17;
#pragma scop
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 5; k++)
        for (int l = 0; l < 6; l++)
          S: B[i][j][k][l] = 2.0 * A[2 - i][j][4 - k][l];
#pragma endscop
  for (int k = 0; k < 360; k++)
    sum = sum * 0.9 + (&B[0][0][0][0])[k];
  printf("%.17g\\n", sum);
  return 0;
}
"""


def test_arrays_of_four_dimensions_on_a_device(tmp_path: Path) -> None:
    """As nvcc reads them, with rows of other lengths than those of the host."""
    outcome = made(tmp_path, FOUR, "block(S, i, j)\nthread(S, k=5, l=6)\n")
    assert outcome.kernels is not None and "LW_ARRAY_4(" in outcome.kernels.text.partition("begins here")[2]
    found = run_in_threads(tmp_path, outcome.kernels.text, outcome.source.text, 0)
    assert found == original(tmp_path, FOUR)


SUMS = """\
#include <stdio.h>
static void twice(int n, double a[n + 1][n + 2])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      S: a[i][j] = 2.0 * a[i][j + 1];
#pragma endscop
}
int main(void)
{
  static double a[8][9];
  double sum = 0;
  for (int k = 0; k < 72; k++)
    a[0][k] = k % 17;
  twice(7, a);
  for (int k = 0; k < 72; k++)
    sum = sum * 0.9 + a[0][k];
  printf("%.17g\\n", sum);
  return 0;
}
"""


def test_extents_that_are_sums(tmp_path: Path) -> None:
    """They have names of their own in kernels, which were taken for names of the file."""
    outcome = made(tmp_path, SUMS, "block(S, i)\n")
    assert "lw_extent" in kernels(outcome)
    assert outcome.kernels is not None
    found = run_in_threads(tmp_path, outcome.kernels.text, outcome.source.text, 0)
    assert found == original(tmp_path, SUMS)
    named = SUMS.replace("i < n", "i < lw_extent2").replace("(int n", "(int n, int lw_extent2")
    with pytest.raises(BadInput, match="reserved name in CUDA"):
        made(tmp_path, named, "block(S, i)\n")


def test_a_kernel_is_passed_the_iterators_around_its_launch(tmp_path: Path) -> None:
    """The loop over iT1 around the first launch is not around the second, which has one of its own."""
    text = PROGRAM.format(body="  for (i = 1; i < n; i++)\n    L: A[i][i] = B[i][0] * 2;")
    script = "unroll_and_jam(L, i, 5)\nblock(L, i)\nM = lift(L, 0)\nunroll_and_jam(M, i, 3)\n"
    found = kernels_of(text, script, tmp_path)
    assert "for (long iT1 = 0;" in found.device.kernels.text
    assert run(tmp_path, found.outcome) == original(tmp_path, text)
    wrong = re.sub(r"(_13_1\(.*) n\)", r"\1 n, long iT1)", found.device.kernels.text)
    wrong = re.sub(r"(_13_1, .*) n\)", r"\1 n, iT1)", wrong)
    with pytest.raises(LoopwrightError, match="iT1 in loopwright_program_13_1 is not what"):
        found.read_back(replace(found.device, kernels=Source(found.device.kernels.path, wrong)))
