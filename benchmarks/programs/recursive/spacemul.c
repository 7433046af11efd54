/* spacemul: C = A B without storage for partial products: eight products of quarters, four tasks at a time.
 * The first half of them sets C to 0 where it starts. */
#include <stdio.h>
#include <time.h>
#ifndef N
#define N 384
#endif
#define GRAIN 24
static double C[N][N], A[N][N], B[N][N];

static void quarters(int i, int j, int k, int n)
{
  if (n <= GRAIN || n % 2 != 0) {
    if (k == 0)
      for (int r = i; r < i + n; r++)
        for (int c = j; c < j + n; c++)
          C[r][c] = 0.0;
    for (int r = i; r < i + n; r++)
      for (int l = k; l < k + n; l++)
        for (int c = j; c < j + n; c++)
          C[r][c] += A[r][l] * B[l][c];
    return;
  }
  int h = n / 2;
  for (int half = 0; half < 2; half++) {
#pragma omp task
    quarters(i, j, k + half * h, h);
#pragma omp task
    quarters(i, j + h, k + half * h, h);
#pragma omp task
    quarters(i + h, j, k + half * h, h);
    quarters(i + h, j + h, k + half * h, h);
#pragma omp taskwait
  }
}

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] = (i * 3 + j) % 7;
      B[i][j] = (i + j * 5) % 11;
    }
  clock_t start = clock();
/*@ polycheck start spec
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) {
      C[i][j] = 0.0;
      for (k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
*/
#pragma omp parallel
#pragma omp single
  quarters(0, 0, 0, N);
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return C[N / 2][N / 3] < 0;
}
