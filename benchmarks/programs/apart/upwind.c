/* upwind: a wave carried along, in place, by values of this step and of the one before. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef STEPS
#define STEPS 60
#endif
#ifndef N
#define N 1200
#endif

static double u[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      u[i][j] = (double)((i * j) % 29) / 29;
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < STEPS; t++)
    for (int i = 2; i < N - 2; i++)
      for (int j = 2; j < N - 2; j++)
        u[i][j] = 0.5 * u[i][j] + 0.2 * (u[i - 1][j] + u[i][j - 1]) + 0.05 * (u[i - 2][j] + u[i][j - 2]);
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)u[N / 2][N / 2]);
  return 0;
}
