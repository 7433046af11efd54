/* pivoting: LU decomposition; the largest element of a column becomes its pivot. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#ifndef N
#define N 900
#endif

static double A[N][N];
static int row[N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = (double)((i * 7 + j * j) % 31) / 31 + (i == j ? N : 0);
}

static void kernel(void)
{
#pragma scop
  for (int k = 0; k < N; k++) {
    row[k] = k;
    for (int i = k + 1; i < N; i++)
      if (A[i][k] * A[i][k] > A[row[k]][k] * A[row[k]][k])
        row[k] = i;
    for (int j = 0; j < N; j++) {
      double kept = A[k][j];
      A[k][j] = A[row[k]][j];
      A[row[k]][j] = kept;
    }
    for (int i = k + 1; i < N; i++)
      A[i][k] /= A[k][k];
    for (int i = k + 1; i < N; i++)
      for (int j = k + 1; j < N; j++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  initialise();
  double start = now();
  kernel();
  double seconds = now() - start;
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)A[N - 1][N - 1]);
  return 0;
}
