/* wave: a wave equation in two dimensions, by three buffers in turn. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef T
#define T 60
#endif
#ifndef N
#define N 1200
#endif

static double u[N][N], v[N][N], w[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      u[i][j] = (double)((i + j) % 7) / 7;
      v[i][j] = (double)((i * 3 + j) % 5) / 5;
      w[i][j] = 1;
    }
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        w[i][j] = 2 * v[i][j] - u[i][j] + 0.1 * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1] - 4 * v[i][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        u[i][j] = 2 * w[i][j] - v[i][j] + 0.1 * (w[i - 1][j] + w[i + 1][j] + w[i][j - 1] + w[i][j + 1] - 4 * w[i][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        v[i][j] = 2 * u[i][j] - w[i][j] + 0.1 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(v[N / 2][N / 2]));
  return 0;
}
