/* sparse: several products of a sparse matrix, row by row, with a vector. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#ifndef T
#define T 20
#endif
#ifndef N
#define N 100000
#endif
#ifndef E
#define E 16
#endif

static int start[N + 1], column[N * E];
static double value[N * E], x[N], y[N];

static void initialise(void)
{
  for (int i = 0; i <= N; i++)
    start[i] = i * E;
  for (int k = 0; k < N * E; k++)
    column[k] = (int)((k * 2654435761u) % N), value[k] = 1.0 / (k % 9 + 1);
  for (int i = 0; i < N; i++)
    x[i] = i % 11;
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N; i++) {
      double sum = 0.0;
      for (int k = start[i]; k < start[i + 1]; k++)
        sum += value[k] * x[column[k]];
      y[i] = sum;
    }
    for (int i = 0; i < N; i++)
      x[i] = y[i] * 0.1;
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
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(x[N / 2]));
  return 0;
}
