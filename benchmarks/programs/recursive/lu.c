/* lu: factors without pivots, in place; quarters of the matrix, the panels beside a block as tasks. */
#include <stdio.h>
#include <time.h>
#ifndef N
#define N 512
#endif
#define GRAIN 32
static double A[N][N];

static void update(int i0, int i1, int j0, int j1, int k0, int k1)
{
  if (i1 - i0 > GRAIN) {
#pragma omp task
    update(i0, (i0 + i1) / 2, j0, j1, k0, k1);
    update((i0 + i1) / 2, i1, j0, j1, k0, k1);
#pragma omp taskwait
  } else if (j1 - j0 > GRAIN) {
#pragma omp task
    update(i0, i1, j0, (j0 + j1) / 2, k0, k1);
    update(i0, i1, (j0 + j1) / 2, j1, k0, k1);
#pragma omp taskwait
  } else
    for (int k = k0; k < k1; k++)
      for (int i = i0; i < i1; i++)
        for (int j = j0; j < j1; j++)
          A[i][j] -= A[i][k] * A[k][j];
}

static void upper(int lo, int hi, int j0, int j1)
{
  if (hi - lo > GRAIN) {
    int middle = (lo + hi) / 2;
    upper(lo, middle, j0, j1);
    update(middle, hi, j0, j1, lo, middle);
    upper(middle, hi, j0, j1);
  } else
    for (int i = lo; i < hi; i++)
      for (int k = lo; k < i; k++)
        for (int j = j0; j < j1; j++)
          A[i][j] -= A[i][k] * A[k][j];
}

static void lower(int lo, int hi, int i0, int i1)
{
  if (hi - lo > GRAIN) {
    int middle = (lo + hi) / 2;
    lower(lo, middle, i0, i1);
    update(i0, i1, middle, hi, lo, middle);
    lower(middle, hi, i0, i1);
  } else
    for (int i = i0; i < i1; i++)
      for (int j = lo; j < hi; j++) {
        for (int k = lo; k < j; k++)
          A[i][j] -= A[i][k] * A[k][j];
        A[i][j] /= A[j][j];
      }
}

static void factor(int lo, int hi)
{
  int middle = (lo + hi) / 2;
  if (hi - lo <= 1)
    return;
  factor(lo, middle);
#pragma omp task
  upper(lo, middle, middle, hi);
  lower(lo, middle, middle, hi);
#pragma omp taskwait
  update(middle, hi, middle, hi, lo, middle);
  factor(middle, hi);
}

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = i == j ? 2 * N : (i * 7 + j * 3) % 13;
  clock_t start = clock();
/*@ polycheck start spec
  for (i = 0; i < N; i++) {
    for (j = 0; j < i; j++) {
      for (k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (j = i; j < N; j++)
      for (k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
*/
#pragma omp parallel
#pragma omp single
  factor(0, N);
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return A[N / 2][N / 3] < -1e9;
}
