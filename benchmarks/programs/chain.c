/* chain: the product of three matrices; a scalar holds each sum. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#ifndef N
#define N 600
#endif

static double A[N][N], B[N][N], C[N][N], T[N][N], D[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] = (double)(i * j % 13) / 13;
      B[i][j] = (double)((i + j) % 17) / 17;
      C[i][j] = (double)((i + 2 * j) % 19) / 19;
      T[i][j] = D[i][j] = 1;
    }
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++)
        sum += A[i][k] * B[k][j];
      T[i][j] = sum;
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++)
        sum += T[i][k] * C[k][j];
      D[i][j] = sum;
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
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)D[N / 2][N / 2]);
  return 0;
}
