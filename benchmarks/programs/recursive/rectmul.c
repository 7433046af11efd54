/* rectmul: C = C + A B of rectangular matrices, which are passed as blocks; quarters of C are tasks. */
#include <stdio.h>
#include <time.h>
#ifndef M
#define M 320
#endif
#ifndef N
#define N 448
#endif
#ifndef K
#define K 256
#endif
#define GRAIN 32
static double C[M][N], A[M][K], B[K][N];

static void block(int i0, int j0, int k0, int m, int n, int k)
{
  for (int i = i0; i < i0 + m; i++)
    for (int l = k0; l < k0 + k; l++)
      for (int j = j0; j < j0 + n; j++)
        C[i][j] += A[i][l] * B[l][j];
}

static void rectangles(int i0, int j0, int k0, int m, int n, int k)
{
  if (m <= GRAIN && n <= GRAIN) {
    for (int at = 0; at < k; at += GRAIN)
      block(i0, j0, k0 + at, m, n, k - at < GRAIN ? k - at : GRAIN);
  } else if (m <= GRAIN || n <= GRAIN) {
    int upper = n <= GRAIN ? m / 2 : m, left = m <= GRAIN ? n / 2 : n;
#pragma omp task
    rectangles(i0, j0, k0, upper, left, k);
    if (upper < m)
      rectangles(i0 + upper, j0, k0, m - upper, n, k);
    else
      rectangles(i0, j0 + left, k0, m, n - left, k);
#pragma omp taskwait
  } else {
#pragma omp task
    rectangles(i0, j0, k0, m / 2, n / 2, k);
#pragma omp task
    rectangles(i0, j0 + n / 2, k0, m / 2, n - n / 2, k);
#pragma omp task
    rectangles(i0 + m / 2, j0, k0, m - m / 2, n / 2, k);
    rectangles(i0 + m / 2, j0 + n / 2, k0, m - m / 2, n - n / 2, k);
#pragma omp taskwait
  }
}

int main(void)
{
  for (int i = 0; i < M; i++)
    for (int k = 0; k < K; k++)
      A[i][k] = (i * 3 + k) % 7;
  for (int k = 0; k < K; k++)
    for (int j = 0; j < N; j++)
      B[k][j] = (k + j * 5) % 11;
  clock_t start = clock();
/*@ polycheck start spec
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++)
      for (k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
*/
#pragma omp parallel
#pragma omp single
  rectangles(0, 0, 0, M, N, K);
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return C[M / 2][N / 3] < 0;
}
