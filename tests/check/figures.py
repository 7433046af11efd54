"""The programs of [Bao2016, figures 1, 2 and 6], as C."""

from __future__ import annotations

FRAME = """\
#include <stdio.h>
#define N {n}
double A[N], B[N];
int idx[] = {{0, 3, 3, 50, N}};

void fn(int lo, int hi) {{
  if (lo>hi) return;
  if (lo==hi) A[lo] = B[lo];
  else {{
    fn(lo, (lo+hi)/2);
    fn((lo+hi)/2+1, hi); }} }}

int main(void)
{{
  int i, j, T = 7, M = 4;
  /*@ polycheck start spec
  for (i=0; i<N; i++)
    A[i] = B[i];
  */
{program}
  /*@ polycheck end
  */
  printf("%d %d %f\\n", T, M, A[0]);
  return 0;
}}
"""

FIGURE_1 = {
    "a": """\
for (i=0; i<N; i++)
/*S:*/ A[i] = B[i];""",
    "b": """\
for (i=0; i<N/32; i++)
  for (j=0; j<32; j++)
    A[i*32+j] = B[i*32+j];
for (j=(N/32)*32; j<N; j++)
  A[j] = B[j];""",
    "c": """\
i=0; do { //N and T are coprime
  A[i] = B[i];
  i = (i+T)%N;
} while (i!=0);""",
    "d": """\
for (i=0; i<N/T; i++)
  for (j=0; j<T; j++)
    A[i*T+j] = B[i*T+j];
for (j=(N/T)*T; j<N; j++)
  A[j] = B[j];""",
    "e": """\
for (i=0; i<M; i++)
  for (j=idx[i]; j<idx[i+1]; j++)
    A[j] = B[j];
//0=idx[0]<=idx[1]<=...<=idx[M]=N""",
    "f": "/*Call fn*/ fn(0,N-1);",
}


def figure_1(version: str, n: int = 100) -> str:
    return FRAME.format(n=n, program=FIGURE_1[version])


FIGURE_2 = """\
for (t = 0; t <= T-1; t++)
  for (i = 1; i <= N-1; i++)
    for (j = 1; j <= N-1; j++)
      S1: A[i][j]=A[i-1][j]+A[i][j-1];"""

LAST_TWO = """\
    seidel_rec(t, (ilo+ihi)/2 + 1, ihi, jlo, (jlo+jhi)/2, T, N, A); //Bottom-Left
    seidel_rec(t, (ilo+ihi)/2 + 1, ihi, (jlo+jhi)/2 + 1, jhi, T, N, A); //Bottom-Right
"""

FIGURE_6 = """\
static double grid[4][4];

void seidel_rec(int t, int ilo, int ihi, int jlo, int jhi, int T, int N, double A[N][N])
{{
  if (ilo>ihi || jlo>jhi) return;
  if (ilo==ihi && jlo==jhi)
    A[ilo][jlo] = A[ilo-1][jlo] + A[ilo][jlo-1];
  else {{
    seidel_rec(t, ilo, (ilo+ihi)/2, jlo, (jlo+jhi)/2, T, N, A); //Top-Left
    seidel_rec(t, ilo, (ilo+ihi)/2, (jlo+jhi)/2 + 1, jhi, T, N, A); //Top-Right
{rest}
    if (ilo==1 && ihi==N-1 && jlo==1 && jhi==N-1 && t<T-1)
      seidel_rec(t+1, ilo, ihi, jlo, jhi, T, N, A); // Next time step
  }}
}}

static void solve(double A[4][4])
{{
  /*@ polycheck start spec
{spec}
  */
  /*@ polycheck size T = 2, N = 4 */
  seidel_rec(0, 1, 3, 1, 3, 2, 4, A);
  /*@ polycheck end */
}}

int main(void)
{{
  solve(grid);
  return 0;
}}
"""


def figure_6(*, swapped: bool = False) -> str:
    """The recursive Seidel; `swapped` has the last two quadrants the wrong way round [Bao2016, table 4]."""
    lines = LAST_TWO.splitlines()
    rest = "\n".join(reversed(lines) if swapped else lines)
    return FIGURE_6.format(rest=rest, spec=FIGURE_2)
