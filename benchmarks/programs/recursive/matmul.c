/* matmul: C = C + A B, halved along its longest side; halves of rows and of columns are tasks. */
#include <stdio.h>
#include <time.h>
#ifndef N
#define N 384
#endif
#define GRAIN 32
static double C[N][N], A[N][N], B[N][N];

static void product(int i0, int i1, int j0, int j1, int k0, int k1)
{
  int di = i1 - i0, dj = j1 - j0, dk = k1 - k0;
  if (di <= GRAIN && dj <= GRAIN && dk <= GRAIN) {
    for (int i = i0; i < i1; i++)
      for (int k = k0; k < k1; k++)
        for (int j = j0; j < j1; j++)
          C[i][j] += A[i][k] * B[k][j];
  } else if (di >= dj && di >= dk) {
#pragma omp task
    product(i0, i0 + di / 2, j0, j1, k0, k1);
    product(i0 + di / 2, i1, j0, j1, k0, k1);
#pragma omp taskwait
  } else if (dj >= dk) {
#pragma omp task
    product(i0, i1, j0, j0 + dj / 2, k0, k1);
    product(i0, i1, j0 + dj / 2, j1, k0, k1);
#pragma omp taskwait
  } else {
    product(i0, i1, j0, j1, k0, k0 + dk / 2);
    product(i0, i1, j0, j1, k0 + dk / 2, k1);
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
    for (j = 0; j < N; j++)
      for (k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
*/
#pragma omp parallel
#pragma omp single
  product(0, N, 0, N, 0, N);
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return C[N / 2][N / 3] < 0;
}
