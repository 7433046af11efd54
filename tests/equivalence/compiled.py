"""The results of two regions, compiled together, run on the same inputs and compared bit by bit."""

from __future__ import annotations

import subprocess
from pathlib import Path

SIGNATURE = (
    "int n, int m, double *a, double *b, double *c, float *g, double A[64][64], double B[64][64], "
    "double *scalars"
)
PROLOGUE = "  double s = scalars[0], t = scalars[1], u = 0;\n"
EPILOGUE = "\n  scalars[0] = s; scalars[1] = t;"


def function(name: str, body: str) -> str:
    """A region in a function; u is not read."""
    return f"void {name}({SIGNATURE})\n{{\n{PROLOGUE}#pragma scop\n{body}\n#pragma endscop{EPILOGUE}\n}}\n"


DRIVER = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double memory[2][3 * 256 + 2 * 128 * 64 + 2];
static float floats[2][256];
int main(int argc, char **argv)
{
  int n = atoi(argv[1]), m = atoi(argv[2]), count = sizeof memory[0] / sizeof(double);
  int seed = atoi(argv[3]);
  srand(seed);
  for (int k = 0; k < count; k++) {
    double mantissa = 0.5 + (rand() * 2147483648.0 + rand()) / 9.3e18;
    double number = ldexp(rand() % 2 ? mantissa : -mantissa, rand() % 7 - 3);
    memory[0][k] = memory[1][k] = seed % 3 == 0 ? rand() % 5 - 2 : number;
  }
  for (int k = 0; k < 256; k++)
    floats[0][k] = floats[1][k] = memory[0][k] / 7;
  for (int side = 0; side < 2; side++) {
    double *p = memory[side];
    double *a = p + 64, *b = p + 320, *c = p + 576, *scalars = p + 768;
    double (*A)[64] = (double (*)[64])(p + 770 + 16 * 64), (*B)[64] = A + 128;
    (side ? new_region : old_region)(n, m, a, b, c, floats[side] + 64, A, B, scalars);
  }
  int differ = memcmp(memory[0], memory[1], sizeof memory[0]);
  differ |= memcmp(floats[0], floats[1], sizeof floats[0]);
  printf("%s\\n", differ ? "differ" : "same");
}
"""


def differences(
    folder: Path, old: str, new: str, sizes: list[tuple[int, int]], seeds: tuple[int, ...] = (1, 2, 3)
) -> list[tuple[int, int]]:
    """The sizes (n, m) for which the two bodies leave different bits."""
    source = folder / "pair.c"
    source.write_text(function("old_region", old) + function("new_region", new) + DRIVER)
    flags = ["-std=gnu11", "-O1", "-w", "-ffp-contract=off"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(folder / "pair"), "-lm"], check=True)
    found = []
    for n, m in sizes:
        for seed in seeds:
            run = [str(folder / "pair"), str(n), str(m), str(seed)]
            shown = subprocess.run(run, check=True, capture_output=True, text=True).stdout
            if "differ" in shown:
                found.append((n, m))
                break
    return found
