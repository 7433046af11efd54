/* rightsolve: rows of many right-hand sides through an upper triangle. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 500
#endif
#ifndef M
#define M 700
#endif

static double u[N][N], x[M][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      u[i][j] = i == j ? 4.0 : (double)((i + j) % 7) / (7.0 * N);
  for (int r = 0; r < M; r++)
    for (int j = 0; j < N; j++)
      x[r][j] = (double)((r * 3 + j) % 11);
}

static void kernel(void)
{
#pragma scop
  for (int r = 0; r < M; r++)
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < j; k++)
        x[r][j] -= x[r][k] * u[k][j];
      x[r][j] /= u[j][j];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)x[M / 2][N - 1]);
  return 0;
}
