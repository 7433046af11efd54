/* reaction: two substances that react and spread. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef T
#define T 60
#endif
#ifndef N
#define N 700
#endif

static double u[N][N], v[N][N], u2[N][N], v2[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      u[i][j] = u2[i][j] = 1;
      v[i][j] = v2[i][j] = (i + j) % 50 == 0 ? 0.5 : 0;
    }
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        double rate = u[i][j] * v[i][j] * v[i][j];
        u2[i][j] = u[i][j] + 0.2 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j])
                   - rate + 0.04 * (1 - u[i][j]);
        v2[i][j] = v[i][j] + 0.1 * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1] - 4 * v[i][j])
                   + rate - 0.1 * v[i][j];
      }
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        u[i][j] = u2[i][j];
        v[i][j] = v2[i][j];
      }
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
