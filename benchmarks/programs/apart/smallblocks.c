/* smallblocks: triangular factors of many small matrices, one after the other. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef COUNT
#define COUNT 20000
#endif
#ifndef N
#define N 12
#endif

static double a[COUNT][N][N];

static void initialise(void)
{
  for (int b = 0; b < COUNT; b++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        a[b][i][j] = i == j ? 20.0 + b % 7 : (double)((i * j + b) % 5) / 5;
}

static void kernel(void)
{
#pragma scop
  for (int b = 0; b < COUNT; b++)
    for (int k = 0; k < N; k++)
      for (int i = k + 1; i < N; i++) {
        a[b][i][k] /= a[b][k][k];
        for (int j = k + 1; j < N; j++)
          a[b][i][j] -= a[b][i][k] * a[b][k][j];
      }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)a[COUNT / 2][N - 1][N - 1]);
  return 0;
}
