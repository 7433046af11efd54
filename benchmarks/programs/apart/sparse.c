/* sparse: several products of a sparse matrix, row by row, with a vector. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
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

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(x[N / 2]));
  return 0;
}
