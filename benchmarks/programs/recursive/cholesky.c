/* cholesky: PolyBench 3, where one scalar holds every sum; the rows are tiled by 8.
 * -DFAULT: the last product of a sum is left out, as a compiler once did [Bao2016, table 8]. */
#include <math.h>
#include <stdio.h>
#include <time.h>
#ifndef N
#define N 400
#endif
#define TILE 8
#ifdef FAULT
#define LAST(i) ((i) - 1)
#else
#define LAST(i) (i)
#endif
static double A[N][N], p[N], x;

static void column(int i, int from, int to)
{
  for (int j = from; j < to; j++) {
    x = A[i][j];
    for (int k = 0; k < LAST(i); k++)
      x = x - A[j][k] * A[i][k];
    A[j][i] = x * p[i];
  }
}

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = i == j ? 4 * N : (i + j) % 5;
  clock_t start = clock();
/*@ polycheck start spec
  for (i = 0; i < N; i++) {
    x = A[i][i];
    for (j = 0; j < i; j++)
      x = x - A[i][j] * A[i][j];
    p[i] = 1.0 / sqrt(x);
    for (j = i + 1; j < N; j++) {
      x = A[i][j];
      for (k = 0; k < i; k++)
        x = x - A[j][k] * A[i][k];
      A[j][i] = x * p[i];
    }
  }
*/
  for (int i = 0; i < N; i++) {
    x = A[i][i];
    for (int j = 0; j < i; j++)
      x = x - A[i][j] * A[i][j];
    p[i] = 1.0 / sqrt(x);
    for (int tile = i + 1; tile < N; tile += TILE)
      column(i, tile, tile + TILE < N ? tile + TILE : N);
  }
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return A[N - 1][0] < -1e9;
}
