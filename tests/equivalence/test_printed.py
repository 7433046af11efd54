"""Whole files in the style of loop optimisers: sizes are macros, bounds are in `lbp` and `ubv`, loops are
jammed with their remainders after them, `private` names what is not used."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Proved, Refuted

HELPERS = """#include <math.h>
#define ceild(n,d)  (((n)<0) ? -((-(n))/(d)) : ((n)+(d)-1)/(d))
#define floord(n,d) (((n)<0) ? -((-(n)+(d)-1)/(d)) : (n)/(d))
#define max(x,y)    ((x) > (y)? (x) : (y))
#define min(x,y)    ((x) < (y)? (x) : (y))
"""
FILE = """{helpers}
#include <stdio.h>
#ifndef R
#define R 1300
#endif
#ifndef W
#define W 700
#endif
#ifndef STEPS
#define STEPS 60
#endif
static double gain = 0.5, G[R][W], H[R][W], line[W];
static void start(void)
{{
  for (int i = 0; i < R; i++)
    for (int j = 0; j < W; j++)
      G[i][j] = H[i][j] = (double)(i * j % R) / W;
}}
static void kernel(void)
{{
  long i, j, k;
{own}
{region}
}}
int main(void)
{{
  start();
  kernel();
  printf("%g\\n", G[1][1] + line[1]);
}}
"""
OWN = "  int t1, t2, t3, t4, t5, t6, t7, t8, t9;\n int lb, ub, lbp, ubp, lb2, ub2;\n register int lbv, ubv;"

SMOOTHED = """
  for (i = 0; i < R; i++)
    for (j = 0; j < W; j++)
      H[i][j] = gain * H[i][j];
  for (i = 0; i < R; i++)
    for (j = 0; j < W; j++)
      line[j] += H[i][j];
"""
BY_COLUMNS = """
if ((R >= 1) && (W >= 1)) {
  lbp=0;
  ubp=floord(W-1,32);
#pragma omp parallel for private(lbv,ubv,t2,t3,t4,t5)
  for (t1=lbp;t1<=ubp;t1++) {
    for (t2=0;t2<=floord(R-1,32);t2++) {
      for (t3=32*t2;t3<=(min(R-1,32*t2+31))-3;t3+=4) {
        lbv=32*t1;
        ubv=min(W-1,32*t1+31);
#pragma ivdep
#pragma vector always
        for (t4=lbv;t4<=ubv;t4++) {
          H[t3][t4] = gain * H[t3][t4];;
          H[(t3+1)][t4] = gain * H[(t3+1)][t4];;
          H[(t3+2)][t4] = gain * H[(t3+2)][t4];;
          H[(t3+3)][t4] = gain * H[(t3+3)][t4];;
          line[t4] += H[t3][t4];;
          line[t4] += H[(t3+1)][t4];;
          line[t4] += H[(t3+2)][t4];;
          line[t4] += H[(t3+3)][t4];;
        }
      }
      for (;t3<=min(R-1,32*t2+31);t3++) {
        lbv=32*t1;
        ubv=min(W-1,32*t1+31);
#pragma ivdep
#pragma vector always
        for (t4=lbv;t4<=ubv;t4++) {
          H[t3][t4] = gain * H[t3][t4];;
          line[t4] += H[t3][t4];;
        }
      }
    }
  }
}
"""
SWEPT = """
  for (k = 0; k < STEPS; k++)
    for (i = 1; i < R - 1; i++)
      for (j = 1; j < W - 1; j++)
        G[i][j] = gain * (G[i-1][j] + G[i][j-1] + G[i][j] + G[i][j+1] + G[i+1][j]);
"""
BY_FRONTS = """
if ((R >= 3) && (STEPS >= 1) && (W >= 3)) {
  for (t1=0;t1<=STEPS-1;t1++) {
    for (t2=2*t1+1;t2<=2*t1+R-2;t2++) {
      lbv=t1+1;
      ubv=t1+W-2;
      for (t3=lbv;t3<=ubv;t3++) {
        G[(-2*t1+t2)][(-t1+t3)] = gain * (G[(-2*t1+t2)-1][(-t1+t3)] + G[(-2*t1+t2)][(-t1+t3)-1] + G[(-2*t1+t2)][(-t1+t3)] + G[(-2*t1+t2)][(-t1+t3)+1] + G[(-2*t1+t2)+1][(-t1+t3)]);;
      }
    }
  }
}
"""  # noqa: E501
TWO_LEVELS = """
if ((R >= 3) && (STEPS >= 1) && (W >= 3)) {
  for (t1=0;t1<=floord(2*STEPS+R-4,8);t1++) {
    lbp=max(ceild(t1,2),ceild(8*t1-STEPS+1,8));
    ubp=min(min(t1,floord(STEPS+R-3,8)),floord(8*t1+R+5,16));
#pragma omp parallel for private(lbv,ubv,t3,t4,t5,t6,t7,t8,t9)
    for (t2=lbp;t2<=ubp;t2++) {
      for (t3=max(t1-t2,ceild(8*t2-R-4,8));t3<=min(min(floord(8*t2+W+4,8),floord(8*t1-8*t2+W+5,8)),floord(STEPS+W-3,8));t3++) {
        for (t4=max(max(max(2*t1-2*t2,0),ceild(8*t3-W-1,4)),ceild(8*t2-R-1,4));t4<=min(min(min(2*t3+1,2*t2+1),2*t1-2*t2+1),floord(STEPS-1,4));t4++) {
          for (t5=max(max(2*t2,t4),ceild(8*t3-W,4));t5<=min(min(min(2*t2+1,floord(4*t4+R+1,4)),floord(8*t3+R+4,4)),floord(STEPS+R-3,4));t5++) {
            for (t6=max(max(2*t3,t4),ceild(4*t5-R,4));t6<=min(min(min(2*t3+1,floord(4*t5+W,4)),floord(4*t4+W+1,4)),floord(STEPS+W-3,4));t6++) {
              for (t7=max(max(max(4*t4,0),4*t6-W+2),4*t5-R+2);t7<=min(min(min(4*t6+2,4*t5+2),4*t4+3),STEPS-1);t7++) {
                for (t8=max(4*t5,t7+1);t8<=min(4*t5+3,t7+R-2);t8++) {
                  for (t9=max(4*t6,t7+1);t9<=min(4*t6+3,t7+W-2);t9++) {
                    G[(-t7+t8)][(-t7+t9)] = gain * (G[(-t7+t8)-1][(-t7+t9)] + G[(-t7+t8)][(-t7+t9)-1] + G[(-t7+t8)][(-t7+t9)] + G[(-t7+t8)][(-t7+t9)+1] + G[(-t7+t8)+1][(-t7+t9)]);;
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}
"""  # noqa: E501
RIGHT = {
    "jammed, in parallel": (SMOOTHED, BY_COLUMNS),
    "skewed": (SWEPT, BY_FRONTS),
    "two levels": (SWEPT, TWO_LEVELS),
}
FAULTS = [
    (SMOOTHED, BY_COLUMNS, "(min(R-1,32*t2+31))-3", "(min(R-1,32*t2+31))-2"),
    (SMOOTHED, BY_COLUMNS, "private(lbv,ubv,t2,t3,", "private(lbv,ubv,t2,"),
    (SWEPT, TWO_LEVELS, "min(2*t2+1,", "min(2*t2,"),
    (SWEPT, TWO_LEVELS, "2*t1-2*t2+1", "2*t1-2*t2+2"),
]


def _files(folder: Path, old: str, new: str) -> tuple[Path, Path]:
    before, after = folder / "old.c", folder / "new.c"
    before.write_text(FILE.format(helpers="", own="", region=f"#pragma scop{old}#pragma endscop"))
    after.write_text(FILE.format(helpers=HELPERS, own=OWN, region=new))
    return before, after


@pytest.mark.parametrize("name", RIGHT)
def test_files_with_sizes_that_are_macros(tmp_path: Path, name: str) -> None:
    found = compare_files(*_files(tmp_path, *RIGHT[name]))
    assert isinstance(found.verdict, Proved) and found.answers[0].way == "along its loops", found


def test_a_local_of_the_name_that_a_macro_has_for_what_it_is_given(tmp_path: Path) -> None:
    """`d` of `floord(n,d)` is no variable."""
    before, after = _files(tmp_path, *RIGHT["skewed"])
    for file in (before, after):
        text = file.read_text().replace("gain * (", "d * (")
        text = text.replace("  long i", "  double d = gain;\n  long i")
        file.write_text(text)
    found = compare_files(before, after)
    assert isinstance(found.verdict, Proved) and found.answers[0].way == "along its loops", found


@pytest.mark.parametrize(("old", "new", "part", "other"), FAULTS)
def test_faults_in_them_are_told(tmp_path: Path, old: str, new: str, part: str, other: str) -> None:
    assert part in new
    found = compare_files(*_files(tmp_path, old, new.replace(part, other, 1)))
    assert isinstance(found.verdict, Refuted), found
