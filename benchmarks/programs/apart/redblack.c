/* redblack: Gauss-Seidel on a chessboard, the white fields first. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef T
#define T 20
#endif
#ifndef N
#define N 1000
#endif

static double u[2 * N + 2][2 * N + 2], f[2 * N + 2][2 * N + 2];

static void initialise(void)
{
  for (int i = 0; i < 2 * N + 2; i++)
    for (int j = 0; j < 2 * N + 2; j++) {
      u[i][j] = (double)((i + j) % 7);
      f[i][j] = (double)((i * j) % 5);
    }
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < 2 * N + 1; i++)
      for (int j = 1; j < 2 * N + 1; j++)
        if ((i + j) % 2 == 0)
          u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
    for (int i = 1; i < 2 * N + 1; i++)
      for (int j = 1; j < 2 * N + 1; j++)
        if ((i + j) % 2 == 1)
          u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(u[N][N]));
  return 0;
}
