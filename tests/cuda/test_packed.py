"""Copies in the memories of a GPU: shared by the threads of a block, or in their registers."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request, TargetName
from tests.cuda.support import (
    Made,
    compile_for_threads,
    kernels,
    kernels_of,
    original,
    refuse,
    run,
    threads_print,
)

PROGRAM = """\
#include <stdio.h>
static double alpha = 1.25, A[19][21], B[21][18], C[19][18];
int main(void)
{
  int i, j, k, n = 19, m = 18, l = 21;
  for (i = 0; i < n; i++)
    for (k = 0; k < l; k++)
      A[i][k] = i * 3 % 7 + k;
  for (k = 0; k < l; k++)
    for (j = 0; j < m; j++)
      B[k][j] = k * 5 % 3 - j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      for (k = 0; k < l; k++)
        Mult: C[i][j] += alpha * A[i][k] * B[k][j];
#pragma endscop
  double sum = 0;
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      sum = 0.9 * sum + C[i][j];
  printf("%.17g\\n", sum);
  return 0;
}
"""
ORDER = """\
affine(Mult, {[i, j, k] -> [iT, jT, kT, y, x, k, r] : iT = [i/8] and jT = [j/8] and kT = [k/4] and
              y = i - 4 * [i/4] and x = j - 8 * jT and r = [i/4] - 2 * iT})
"""
MAPPED = """\
Tiles = lift(Mult, 2)
block(Tiles, iT, jT)
thread(Mult, y=4, x=8)
"""
SCRIPT = f"""\
{ORDER}
PA = pack(A, Mult, kT, scaled, shared)
PB = pack(B, Mult, kT, shared)
PC = pack(C, Mult, jT, written, registers)
{MAPPED}
thread(PA, A_1=4, A_2=8)
thread(PB, B_1=4, B_2=8)
thread(PC, C_1=4, C_2=8)
"""

WRONG = {
    "no barrier between the copies and what uses them": (
        "LW_BARRIER();\n        for (LW_INDEX y", "for (LW_INDEX y"
    ),
    "no barrier before the next copies": (
        "LW_BARRIER();\n      }\n      for (LW_INDEX C_1", "}\n      for (LW_INDEX C_1"
    ),
    "a barrier that not all threads reach": ("= B[B_1][B_2];", "= B[B_1][B_2], LW_BARRIER();"),
    "a tile one row too small": ("B_1 <= 4 * kT + 3; ", "B_1 <= 4 * kT + 2; "),
    "a tile one column too small": ("B_2 <= 8 * jT + 7; ", "B_2 <= 8 * jT + 6; "),
    "a copy of other cells": ("= B[B_1][B_2]", "= B[B_1][B_2 - 1]"),
    "a copy that is not scaled": ("alpha * A[", "A["),
    "a copy that overlaps itself": ("B_packed[B_1 - 4 * kT][", "B_packed[0 * B_1]["),
    "swapped buffers": ("LW_SHARED_2(double, B_packed", "LW_SHARED_2(double, A_packed"),
    "a buffer that is too small": ("B_packed, 4, 8)", "B_packed, 4, 7)"),
    "registers that threads share": ("LW_OWN_2_3(double, C_packed", "LW_SHARED_3(double, C_packed"),
    "registers of fewer threads": ("C_packed, 4, 8, 2)", "C_packed, 2, 8, 2)"),
    "registers without a thread": ("LW_OWN_2_3(", "LW_OWN_1_3("),
    "registers of another thread": ("C_packed[y][x][", "C_packed[y][7 - x]["),
    "axes exchanged": ("C_packed[y][x][", "C_packed[x][y]["),
    "a thread that runs other iterations": (
        "for (LW_INDEX y = LW_THREAD(y, 0, 1); y <= 3;", "for (LW_INDEX y = LW_THREAD(y, 1, 1); y <= 3;"
    ),
    "threads along an axis of another array": ("LW_SIZE(8, 4, 1)", "LW_SIZE(4, 8, 1)"),
    "a loop over tiles that counts in 8 bits": ("for (LW_INDEX kT", "for (char kT"),
    "a loop in a thread that counts in 16 bits": ("for (LW_INDEX k =", "for (short k ="),
    "sums that are not kept": ("= C_packed[C_1]", "= 0 * C_packed[C_1]"),
    "sums that do not start with what was there": ("[C_3] = C[", "[C_3] = 0 * C["),
}


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return kernels_of(PROGRAM, SCRIPT, tmp_path_factory.mktemp("packed"))


def test_copies_in_shared_memory_and_in_registers(right: Made) -> None:
    """The two copies have nothing to do with each other: no barrier is between them."""
    text = kernels(right.outcome)
    assert "LW_SHARED_2(double, B_packed, 4, 8);" in text and "LW_OWN_2_3(double, C_packed, 4, 8, 2);" in text
    assert text.count("LW_BARRIER();") == 4
    assert run(right.folder, right.outcome) == original(right.folder, PROGRAM)
    assert run(right.folder, right.outcome, device=False) == original(right.folder, PROGRAM)


def test_threads_in_any_order_compute_the_same_bits(right: Made) -> None:
    compile_for_threads(right.folder, right.device.kernels.text, right.outcome.source.text)
    expected = original(right.folder, PROGRAM)
    assert [threads_print(right.folder, order) for order in (0, 1, 2)] == [expected] * 3


@pytest.mark.parametrize("what", [one for one in WRONG if "barrier" in one])
def test_some_order_shows_that_a_barrier_is_missing(right: Made, what: str) -> None:
    text = right.device.kernels.text.replace(*WRONG[what], 1)
    compile_for_threads(right.folder, text, right.outcome.source.text)
    found = {threads_print(right.folder, order) for order in (0, 1)}
    assert found != {original(right.folder, PROGRAM)}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_kernels_are_refused(right: Made, what: str) -> None:
    refuse(right, *WRONG[what])


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("pack(B, Mult, shared)", "constant sizes"),
        ("pack(A, Mult, i, shared)", "constant sizes"),
        (f"{ORDER}pack(A, Mult, kT, shared, registers)", "one memory"),
        (f"{ORDER}pack(A, Mult, kT, transposed, registers)", "neither transposed nor scaled"),
        (
            f"{ORDER}P = pack(C, Mult, jT, written, registers)\n{MAPPED}thread(P, C_1=2, C_2=8)",
            "as many threads as iterations",
        ),
        ("tile(Mult, i=128, j=64)\nP = pack(C, Mult, jT, written, shared)\nblock(Mult, iT, jT)", "49152"),
    ],
)
def test_memories_that_no_gpu_has(tmp_path: Path, script: str, message: str) -> None:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM.replace("n = 19", "n").replace("m = 18", "m").replace("l = 21", "l"))
    with pytest.raises(BadInput) as caught:
        transformed(Request(str(file), script, target=TargetName.CUDA, prove=False), silent)
    assert message in f"{caught.value.message} {caught.value.hint}"
