"""Kernels whose threads share buffers: right ones run, wrong ones are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.progress import silent
from loopwright.rewrite import pipeline
from loopwright.rewrite.request import Request, TargetName
from tests.cuda.support import Made, kernels_of, original, refuse, run

PROGRAM = """\
#include <stdio.h>
static void steps(int m, int n, double a[n], double b[n])
{
#pragma scop
  for (int t = 0; t < m; t++) {
    for (int i = 1; i < n - 1; i++)
      New: b[i] = 0.5 * (a[i - 1] + a[i + 1]);
    for (int i = 1; i < n - 1; i++)
      Old: a[i] = b[i];
  }
#pragma endscop
}

int main(void)
{
  static double a[333], b[333];
  double sum = 0;
  for (int m = 0; m < 6; m++) {
    for (int i = 0; i < 333; i++)
      a[i] = i * 7 % 13, b[i] = i;
    steps(m, 333, a, b);
    for (int i = 0; i < 333; i++)
      sum = sum * 0.9 + a[i] - 0.7 * b[i];
  }
  printf("%.17g\\n", sum);
  return 0;
}
"""
SCRIPT = """\
Time = lift(New, 1)
(Tiles, Copies) = overlap(Time, t=2, i=32)
block(Tiles, iT)
thread(New, i=32)
thread(Old, i=32)
thread(Copies, i=32)
"""
WHOLE = """\
Time = lift(New, 1)
(Tiles, Copies) = overlap(Time, t=2, i=32, whole)
shift(New_1, i, 1)
shift(New_2, i, 1)
tile(New_1, i=4)
tile(New_2, i=4)
block(Tiles, iT)
thread(New, iT1=9)
thread(Old, i=32)
thread(Copies, i=32)
"""
HEXAGONS = """\
Time = lift(New, 1)
(First, Second) = hexagon(Time, t=2, i=3, staged)
block(First, iT)
block(Second, iT)
isolate(Time_1, iT, [t, i])
unroll(Time_1, t)
thread(New, i=8)
thread(Old, i=8)
thread(a_load_1, i=8)
thread(b_load_1, i=8)
thread(a_store_1, i=8)
thread(b_store_1, i=8)
thread(a_load_2, i=8)
thread(b_load_2, i=8)
thread(a_store_2, i=8)
thread(b_store_2, i=8)
"""


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return kernels_of(PROGRAM, SCRIPT, tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return kernels_of(PROGRAM, WHOLE, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def hexagons(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return kernels_of(PROGRAM, HEXAGONS, tmp_path_factory.mktemp("hexagons"))


@pytest.mark.parametrize("shape", ["right", "whole", "hexagons"])
def test_tiles_compute_the_same_bits(shape: str, request: pytest.FixtureRequest) -> None:
    one: Made = request.getfixturevalue(shape)
    assert run(one.folder, one.outcome) == original(one.folder, PROGRAM)
    assert run(one.folder, one.outcome, device=False) == original(one.folder, PROGRAM)


WRONG = {
    "no barrier between load and step": ("LW_BARRIER();\n    for (LW_INDEX t", "for (LW_INDEX t"),
    "no barrier between two halves of a step": ("LW_BARRIER();\n      for (LW_INDEX i", "for (LW_INDEX i"),
    "no barrier at the end of a step": ("LW_BARRIER();\n    }\n    if", "}\n    if"),
    "no barrier before the next block": ("LW_BARRIER();\n  }\n}", "}\n}"),
    "a barrier that not all threads reach": (
        "a_tile[i - 32 * iT + 2] = a[i];", "{ a_tile[i - 32 * iT + 2] = a[i]; LW_BARRIER(); }"
    ),
    "a barrier under a condition on a thread": ("LW_BARRIER();", "if (LW_ONE(x)) LW_BARRIER();"),
    "a halo one too small": ("i <= 32 * iT + 33", "i <= 32 * iT + 32"),
    "a step on too few cells": ("4 * tT + 32 * iT - t + 32)", "4 * tT + 32 * iT - t + 31)"),
    "swapped buffers": ("a_next[i] = a_tile", "a_next[i] = b_tile"),
    "a buffer that is too small": ("LW_SHARED_1(double, a_tile, 36)", "LW_SHARED_1(double, a_tile, 35)"),
    "a buffer of another type": ("LW_SHARED_1(double, a_tile, 36)", "LW_SHARED_1(float, a_tile, 36)"),
    "a buffer of each thread": ("LW_SHARED_1(double, a_tile, 36)", "double a_tile[36]"),
    "a buffer that is declared twice": (
        "LW_SHARED_1(double, a_tile, 36);",
        "LW_SHARED_1(double, a_tile, 36); LW_SHARED_1(double, a_tile, 36);",
    ),
    "a second array that is too small": ("(double, a_next, (size_t)(n))", "(double, a_next, (size_t)(m))"),
    "a second array that is copied": ("LW_SCRATCH(double, a_next", "LW_READ(double, a_next"),
    "a store by the neighbour too": ("LW_THREAD(x, 32 * iT, 1)", "LW_THREAD(x, max(0, 32 * iT - 1), 1)"),
}


WRONG_WHOLE = {
    "no barrier between load and step": ("LW_BARRIER();\n    for (LW_INDEX t", "for (LW_INDEX t"),
    "no barrier between two halves of a step": ("LW_BARRIER();\n      for (LW_INDEX i", "for (LW_INDEX i"),
    "no barrier at the end of a step": ("LW_BARRIER();\n    }\n    if", "}\n    if"),
    "a halo one too small": ("i <= 32 * iT + 33", "i <= 32 * iT + 32"),
    "a test that holds too often": ("if (i >= 1 && i <= n - 2)", "if (i >= 0 && i <= n - 2)"),
    "a strip that is not whole": ("if (4 * iT1 >= 2 && ", "if (4 * iT1 >= 0 && "),
    "a strip beyond the array": ("4 * iT1 + 3 <= n - 1 && ", "4 * iT1 + 3 <= n && "),
    "a strip beyond the tile": ("4 * iT1 + 3 <= 32 * iT + 33)", "4 * iT1 + 3 <= 32 * iT + 35)"),
    "a strip that is one too short": ("i <= 4 * iT1 + 3; i", "i <= 4 * iT1 + 2; i"),
    "threads that have no strip": ("iT1 <= 8 * iT + 8", "iT1 <= 8 * iT + 7"),
    "swapped buffers": ("a_next[i] = a_tile", "a_next[i] = b_tile"),
}


WRONG_HEXAGONS = {
    "no barrier after a row": (
        "LW_BARRIER();\n      for (LW_INDEX i = LW_THREAD(x, 8 * iT - 1",
        "for (LW_INDEX i = LW_THREAD(x, 8 * iT - 1",
    ),
    "a row one cell too long": ("i <= 8 * iT - 4 * tT + 2 * t + 6)", "i <= 8 * iT - 4 * tT + 2 * t + 7)"),
    "a tile that is not full": ("< m && iT >= 1 && 8 * iT + 5 <= n", "< m && iT >= 1 && 8 * iT + 4 <= n"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_kernels_are_refused(right: Made, what: str) -> None:
    refuse(right, *WRONG[what])


@pytest.mark.parametrize("what", WRONG_WHOLE)
def test_wrong_kernels_with_whole_tiles_are_refused(whole: Made, what: str) -> None:
    refuse(whole, *WRONG_WHOLE[what])


@pytest.mark.parametrize("what", WRONG_HEXAGONS)
def test_wrong_kernels_with_hexagons_are_refused(hexagons: Made, what: str) -> None:
    refuse(hexagons, *WRONG_HEXAGONS[what])


def test_a_tile_too_large_for_shared_memory(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM)
    script = SCRIPT.replace("i=32)\nblock", "i=4000)\nblock")
    with pytest.raises(BadInput) as caught:
        pipeline.transformed(Request(str(file), script, target=TargetName.CUDA, prove=False), silent)
    assert "49152" in caught.value.message and "smaller" in str(caught.value.hint)
    span = caught.value.diagnostic.span
    assert span is not None and span.text == script.splitlines()[span.line - 1]
