"""Kernels rewritten by hand: tiles of a size chosen at run time, recursion, unrolling.

Each is the text of the region, with the functions it calls; the file around it stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.check.support import kernel


@dataclass(frozen=True)
class Version:
    kernel: str
    title: str
    region: str
    functions: str = ""

    @property
    def text(self) -> str:
        """The whole file."""
        original = kernel(self.kernel).read_text()
        new = re.sub(
            r"(#pragma scop\n).*(#pragma endscop)",
            lambda found: f"{found[1]}{self.region}\n{found[2]}",
            original,
            count=1,
            flags=re.DOTALL,
        )
        head = "static void kernel(void)"
        return new.replace(head, f"{MACROS}{self.functions}\n{head}", 1)


MACROS = """\
#define least(a, b) ((a) < (b) ? (a) : (b))
#define most(a, b) ((a) > (b) ? (a) : (b))
static long tile(void) { return 3; }
"""

PARAMETRIC = [
    Version(
        "gemm",
        "parametric",
        """\
long T = tile(), it, jt, kt, ii, jj, kk;
for (ii = 0; ii < NI; ii++)
  for (jj = 0; jj < NJ; jj++)
    C[ii][jj] *= beta;
for (it = 0; it < (NI + T - 1) / T; it++)
  for (jt = 0; jt < (NJ + T - 1) / T; jt++)
    for (kt = 0; kt < (NK + T - 1) / T; kt++)
      for (ii = it * T; ii < least(NI, it * T + T); ii++)
        for (kk = kt * T; kk < least(NK, kt * T + T); kk++)
          for (jj = jt * T; jj < least(NJ, jt * T + T); jj++)
            C[ii][jj] += alpha * A[ii][kk] * B[kk][jj];""",
    ),
    Version(
        "syrk",
        "parametric",
        """\
long T = tile(), it, kt, ii, jj, kk;
for (it = 0; it * T < N; it++)
  for (kt = 0; kt * T < M; kt++)
    for (ii = it * T; ii < least(N, it * T + T); ii++)
      for (kk = kt * T; kk < least(M, kt * T + T); kk++) {
        if (kk == 0)
          for (jj = 0; jj <= ii; jj++)
            C[ii][jj] *= beta;
        for (jj = 0; jj <= ii; jj++)
          C[ii][jj] += alpha * A[ii][kk] * A[jj][kk];
      }""",
    ),
    Version(
        "mvt",
        "parametric",
        """\
long T = tile(), it, jt, ii, jj;
for (jt = 0; jt < N; jt += T)
  for (it = 0; it < N; it += T)
    for (jj = jt; jj < least(N, jt + T); jj++)
      for (ii = it; ii < least(N, it + T); ii++) {
        x1[ii] = x1[ii] + A[ii][jj] * y_1[jj];
        x2[jj] = x2[jj] + A[ii][jj] * y_2[ii];
      }""",
    ),
    Version(
        "gesummv",
        "parametric",
        """\
long T = tile(), it, jt, ii, jj;
for (it = 0; it < N; it += T)
  for (jt = 0; jt < N; jt += T)
    for (ii = it; ii < least(N, it + T); ii++) {
      if (jt == 0) { tmp[ii] = 0.0; y[ii] = 0.0; }
      for (jj = jt; jj < least(N, jt + T); jj++) {
        tmp[ii] = A[ii][jj] * x[jj] + tmp[ii];
        y[ii] = B[ii][jj] * x[jj] + y[ii];
      }
      if (jt + T >= N) y[ii] = alpha * tmp[ii] + beta * y[ii];
    }""",
    ),
    Version(
        "jacobi-2d",
        "parametric",
        """\
long T = tile(), s, it, jt, ii, jj;
for (s = 0; s < TSTEPS; s++) {
  for (it = 1; it < N - 1; it += T)
    for (jt = 1; jt < N - 1; jt += T)
      for (ii = it; ii < least(N - 1, it + T); ii++)
        for (jj = jt; jj < least(N - 1, jt + T); jj++)
          B[ii][jj] = 0.2 * (A[ii][jj] + A[ii][jj - 1] + A[ii][jj + 1] + A[ii + 1][jj] + A[ii - 1][jj]);
  for (jt = 1; jt < N - 1; jt += T)
    for (it = 1; it < N - 1; it += T)
      for (ii = it; ii < least(N - 1, it + T); ii++)
        for (jj = jt; jj < least(N - 1, jt + T); jj++)
          A[ii][jj] = 0.2 * (B[ii][jj] + B[ii][jj - 1] + B[ii][jj + 1] + B[ii + 1][jj] + B[ii - 1][jj]);
}""",
    ),
    Version(
        "syr2k",
        "parametric",
        """\
long T = tile(), it, jt, ii, jj, kk;
for (it = 0; it < N; it += T)
  for (jt = 0; jt <= it + T - 1; jt += T)
    for (ii = it; ii < least(N, it + T); ii++)
      for (jj = jt; jj <= least(ii, jt + T - 1); jj++) {
        C[ii][jj] *= beta;
        for (kk = 0; kk < M; kk++)
          C[ii][jj] += A[jj][kk] * alpha * B[ii][kk] + B[jj][kk] * alpha * A[ii][kk];
      }""",
    ),
    Version(
        "lu",
        "parametric",
        """\
long T = tile(), kt, ii, jj, kk;
for (kt = 0; kt < N; kt += T)
  for (ii = kt; ii < N; ii++)
    for (kk = kt; kk < least(ii + 1, least(N, kt + T)); kk++) {
      if (ii > kk) A[ii][kk] /= A[kk][kk];
      for (jj = kk + 1; jj < N; jj++)
        if (ii > kk) A[ii][jj] -= A[ii][kk] * A[kk][jj];
    }""",
    ),
]

RECURSIVE = [
    Version(
        "gemm",
        "recursive",
        """\
{
  long ii, jj;
  for (ii = 0; ii < NI; ii++)
    for (jj = 0; jj < NJ; jj++)
      C[ii][jj] *= beta;
  product(0, NI, 0, NJ, 0, NK);
}""",
        """\
static void product(long i0, long i1, long j0, long j1, long k0, long k1)
{
  long di = i1 - i0, dj = j1 - j0, dk = k1 - k0;
  if (di <= 2 && dj <= 2 && dk <= 2) {
    for (long i = i0; i < i1; i++)
      for (long k = k0; k < k1; k++)
        for (long j = j0; j < j1; j++)
          C[i][j] += alpha * A[i][k] * B[k][j];
  } else if (di >= dj && di >= dk) {
    product(i0, i0 + di / 2, j0, j1, k0, k1);
    product(i0 + di / 2, i1, j0, j1, k0, k1);
  } else if (dj >= dk) {
    product(i0, i1, j0, j0 + dj / 2, k0, k1);
    product(i0, i1, j0 + dj / 2, j1, k0, k1);
  } else {
    product(i0, i1, j0, j1, k0, k0 + dk / 2);
    product(i0, i1, j0, j1, k0 + dk / 2, k1);
  }
}
""",
    ),
    Version(
        "heat-3d",
        "recursive",
        "walk(0, 2 * TSTEPS, 1, 0, N - 1, 0);",
        """\
static void plane(long s, long i)
{
  long j, k;
  for (j = 1; j < N - 1; j++)
    for (k = 1; k < N - 1; k++)
      if (s % 2 == 0)
        B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k])
                     + 0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k])
                     + 0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
      else
        A[i][j][k] = 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k])
                     + 0.125 * (B[i][j + 1][k] - 2.0 * B[i][j][k] + B[i][j - 1][k])
                     + 0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
}
static void walk(long t0, long t1, long x0, long dx0, long x1, long dx1)
{
  long dt = t1 - t0;
  if (dt == 1) {
    for (long x = x0; x < x1; x++)
      plane(t0, x);
  } else if (dt > 1) {
    if (2 * (x1 - x0) + (dx1 - dx0) * dt >= 4 * dt) {
      long xm = (2 * (x0 + x1) + (2 + dx0 + dx1) * dt) / 4;
      walk(t0, t1, x0, dx0, xm, -1);
      walk(t0, t1, xm, -1, x1, dx1);
    } else {
      long s = dt / 2;
      walk(t0, t0 + s, x0, dx0, x1, dx1);
      walk(t0 + s, t1, x0 + dx0 * s, dx0, x1 + dx1 * s, dx1);
    }
  }
}
""",
    ),
    Version(
        "lu",
        "recursive",
        "factor(0, N);",
        """\
static void update(long i0, long i1, long j0, long j1, long k0, long k1)
{
  if (i1 - i0 > 2) {
    update(i0, (i0 + i1) / 2, j0, j1, k0, k1);
    update((i0 + i1) / 2, i1, j0, j1, k0, k1);
  } else if (j1 - j0 > 2) {
    update(i0, i1, j0, (j0 + j1) / 2, k0, k1);
    update(i0, i1, (j0 + j1) / 2, j1, k0, k1);
  } else
    for (long k = k0; k < k1; k++)
      for (long i = i0; i < i1; i++)
        for (long j = j0; j < j1; j++)
          A[i][j] -= A[i][k] * A[k][j];
}
static void upper(long lo, long mid, long j0, long j1)
{
  for (long i = lo; i < mid; i++)
    update(i, i + 1, j0, j1, lo, i);
}
static void lower(long lo, long mid, long i0, long i1)
{
  for (long j = lo; j < mid; j++) {
    update(i0, i1, j, j + 1, lo, j);
    for (long i = i0; i < i1; i++)
      A[i][j] /= A[j][j];
  }
}
static void factor(long lo, long hi)
{
  long mid = (lo + hi) / 2;
  if (hi - lo <= 1) return;
  factor(lo, mid);
  upper(lo, mid, mid, hi);
  lower(lo, mid, mid, hi);
  update(mid, hi, mid, hi, lo, mid);
  factor(mid, hi);
}
""",
    ),
    Version(
        "seidel-2d",
        "recursive",
        "for (long s = 0; s < TSTEPS; s++) sweep(1, N - 2, 2, 2 * N - 4);",
        """\
static void sweep(long ilo, long ihi, long dlo, long dhi)
{
  if (ilo > ihi || dlo > dhi) return;
  if (ilo == ihi && dlo == dhi) {
    long i = ilo, j = dlo - ilo;
    if (1 <= j && j <= N - 2)
      A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                 A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;
    return;
  }
  long im = (ilo + ihi) / 2, dm = (dlo + dhi) / 2;
  sweep(ilo, im, dlo, dm);
  sweep(ilo, im, dm + 1, dhi);
  sweep(im + 1, ihi, dlo, dm);
  sweep(im + 1, ihi, dm + 1, dhi);
}
""",
    ),
]

UNROLLED = [
    Version(
        "atax",
        "unrolled, through a pointer to a function",
        """\
long ii, jj;
void (*rest)(long) = one_row;
for (jj = N - 1; jj >= 0; jj--) y[jj] = 0.0;
for (ii = 0; ii < M; ii++) rest(ii);""",
        """\
static void one_row(long i)
{
  long j = 0;
  tmp[i] = 0.0;
  while (j + 1 < N) {
    tmp[i] += A[i][j] * x[j];
    tmp[i] += A[i][j + 1] * x[j + 1];
    j += 2;
  }
  if (j < N) tmp[i] += A[i][j] * x[j];
  for (j = N - 1; j >= 0; j--) y[j] += A[i][j] * tmp[i];
}
""",
    ),
]

VERSIONS = [*PARAMETRIC, *RECURSIVE, *UNROLLED]
