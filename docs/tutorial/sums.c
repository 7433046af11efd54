/* x = A^T y, as people write it. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#ifndef N
#define N 4000
#endif

static double A[N][N], x[N], y[N];

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < N; i++) {
    Clear: x[i] = 0;
    for (int j = 0; j < N; j++)
      Add: x[i] += A[j][i] * y[j];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  for (int i = 0; i < N; i++) {
    y[i] = (double)(i % 7) / 7;
    for (int j = 0; j < N; j++)
      A[i][j] = (double)(i * 3 + j) / N;
  }
  struct timespec start, end;
  clock_gettime(CLOCK, &start);
  kernel();
  clock_gettime(CLOCK, &end);
  if (argc > 1 && !strcmp(argv[1], "--dump"))
    fwrite(x, sizeof x, 1, stdout);
  else
    printf("%.9f\n", (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
  return 0;
}
