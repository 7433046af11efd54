/* diffusion: steps of heat in three dimensions with a conductivity at each point, between two buffers. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 120
#endif
#ifndef T
#define T 12
#endif

static double from[N][N][N], to[N][N][N], rate[N][N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) {
        from[i][j][k] = to[i][j][k] = (double)((i + j * 3 + k * 7) % 11);
        rate[i][j][k] = 0.1 + (double)((i * j + k) % 3) / 60;
      }
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          to[i][j][k] = from[i][j][k] + rate[i][j][k] * (from[i - 1][j][k] + from[i + 1][j][k]
                        + from[i][j - 1][k]
                        + from[i][j + 1][k] + from[i][j][k - 1] + from[i][j][k + 1] - 6 * from[i][j][k]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          from[i][j][k] = to[i][j][k];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)from[N / 2][N / 2][N / 2]);
  return 0;
}
