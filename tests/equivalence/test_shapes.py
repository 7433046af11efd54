"""Loops that optimisers print on request: two levels of tiles, two parallel loops, parallel diagonals."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Proved, Refuted

HEAD = """
#define floord(n,d) (((n)<0) ? -((-(n)+(d)-1)/(d)) : (n)/(d))
#define max(x,y)    ((x) > (y)? (x) : (y))
#define min(x,y)    ((x) < (y)? (x) : (y))
void f(int n, int m, double A[n][n], double B[n][n])
{
"""
OWN = "  int t1, t2, t3, t4, t5, t6;\n  int lb2, ub2, lbp, ubp;\n  register int lbv, ubv;\n"
TURNED = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i][j] + B[j][i];"
TWO_LEVELS = """
for (t1=0;t1<=floord(n-1,256);t1++) {
  for (t2=0;t2<=floord(n-1,256);t2++) {
    for (t3=8*t1;t3<=min(floord(n-1,32),8*t1+7);t3++) {
      for (t4=8*t2;t4<=min(floord(n-1,32),8*t2+7);t4++) {
        for (t5=32*t3;t5<=min(n-1,32*t3+31);t5++) {
          lbv=32*t4;
          ubv=min(n-1,32*t4+31);
#pragma ivdep
#pragma vector always
          for (t6=lbv;t6<=ubv;t6++) {
            A[t5][t6] = A[t5][t6] + B[t6][t5];;
          }
        }
      }
    }
  }
}
"""
TWO_PARALLEL = """
lbp=0;
ubp=floord(n-1,16);
#pragma omp parallel for private(lbv,ubv,lb2,ub2,t2,t3,t4)
for (t1=lbp;t1<=ubp;t1++) {
  lb2=0;
  ub2=floord(n-1,64);
#pragma omp parallel for private(lbv,ubv,t3,t4)
  for (t2=lb2;t2<=ub2;t2++) {
    for (t3=16*t1;t3<=min(n-1,16*t1+15);t3++) {
      for (t4=64*t2;t4<=min(n-1,64*t2+63);t4++) {
        A[t3][t4] = A[t3][t4] + B[t4][t3];;
      }
    }
  }
}
"""
SWEEPS = """for (k = 0; k < m; k++) for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
  A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) * 0.2;"""
DIAGONALS = """
if ((n >= 3) && (m >= 1)) {
  for (t1=0;t1<=m-1;t1++) {
    for (t2=2;t2<=2*n-4;t2++) {
      lbp=max(1,t2-n+2);
      ubp=min(n-2,t2-1);
#pragma omp parallel for private(lbv,ubv)
      for (t3=lbp;t3<=ubp;t3++) {
        A[t3][(t2-t3)] = (A[t3 - 1][(t2-t3)] + A[t3][(t2-t3) - 1] + A[t3][(t2-t3)]
          + A[t3][(t2-t3) + 1] + A[t3 + 1][(t2-t3)]) * 0.2;;
      }
    }
  }
}
"""
SHAPES = {
    "two levels of tiles": (TURNED, TWO_LEVELS, "8*t2+7", "8*t2+6"),
    "two parallel loops": (TURNED, TWO_PARALLEL, "lb2,ub2,t2,t3", "ub2,t2,t3"),
    "parallel diagonals": (SWEEPS, DIAGONALS, "for (t2=2;", "for (t2=3;"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_as_printed_and_with_one_change(tmp_path: Path, name: str) -> None:
    old, new, part, other = SHAPES[name]
    assert part in new
    before, after = tmp_path / "old.c", tmp_path / "new.c"
    before.write_text(f"{HEAD}  int i, j, k;\n#pragma scop\n{old}\n#pragma endscop\n}}\n")
    for text, verdict in ((new, Proved), (new.replace(part, other, 1), Refuted)):
        after.write_text(f"{HEAD}  int i, j, k;\n{OWN}{text}}}\n")
        assert isinstance(compare_files(before, after).verdict, verdict)
