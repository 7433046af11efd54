/* heat: diffusion on a grid, two grids in turn; in each step the rows are halved into tasks. */
#include <stdio.h>
#include <time.h>
#ifndef N
#define N 500
#endif
#ifndef T
#define T 40
#endif
#define GRAIN 25
static double A[2][N][N];

static void rows(int t, int lo, int hi)
{
  if (hi - lo > GRAIN) {
    int middle = (lo + hi) / 2;
#pragma omp task
    rows(t, lo, middle);
    rows(t, middle, hi);
#pragma omp taskwait
    return;
  }
  int from = t % 2, to = (t + 1) % 2;
  for (int i = lo; i < hi; i++)
    for (int j = 1; j < N - 1; j++)
      A[to][i][j] = A[from][i][j] + 0.1 * (A[from][i + 1][j] + A[from][i - 1][j])
                    + 0.1 * (A[from][i][j + 1] + A[from][i][j - 1] - 4.0 * A[from][i][j]);
}

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[0][i][j] = A[1][i][j] = (i * 7 + j * 3) % 13;
  clock_t start = clock();
/*@ polycheck start spec
  for (t = 0; t < T; t++)
    for (i = 1; i < N - 1; i++)
      for (j = 1; j < N - 1; j++)
        A[(t + 1) % 2][i][j] = A[t % 2][i][j] + 0.1 * (A[t % 2][i + 1][j] + A[t % 2][i - 1][j])
          + 0.1 * (A[t % 2][i][j + 1] + A[t % 2][i][j - 1] - 4.0 * A[t % 2][i][j]);
*/
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < T; t++)
    rows(t, 1, N - 1);
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return A[0][N / 2][N / 3] < 0;
}
