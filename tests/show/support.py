"""C regions and scripts for the tests of pictures and reports."""

from __future__ import annotations

from pathlib import Path

from loopwright.model.dependences import memory_based
from loopwright.prove.legality.plans import prove_plan
from loopwright.read.c.reader import read_c
from loopwright.show.groups import groups
from loopwright.show.scene import Scene, scene_of
from loopwright.transform import FluentPlan, Plan, plan_of

DIAGONAL = """void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n - 1; j++)
      S: A[i][j] = A[i - 1][j + 1];
#pragma endscop
}
"""

TRIANGLE = """void f(int n, double A[n][n], double b[n]) {
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j <= i; j++)
      S: A[i][j] = A[i - 1][j] + b[j];
#pragma endscop
}
"""

PRODUCT = """void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      Init: C[i][j] = 0;
      for (int k = 0; k < n; k++)
        Mult: C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
"""


def written(folder: Path, text: str, name: str = "k.c") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def planned(folder: Path, text: str, script: str = "") -> FluentPlan:
    (program,) = read_c(written(folder, text))
    return plan_of(program).transform(script)


def scenes(plan: Plan) -> list[Scene]:
    dependences = tuple(memory_based(plan.original))
    verdict = prove_plan(plan, dependences=dependences)
    found = [scene_of(plan, group, dependences, verdict) for group in groups(plan.original, plan.program)]
    return [scene for scene in found if scene is not None]
