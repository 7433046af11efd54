/* coefficients: Jacobi's iteration for an elliptic equation in three dimensions, with coefficients of their own for each point. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef T
#define T 10
#endif
#ifndef N
#define N 120
#endif

static double u[N][N][N], v[N][N][N], cx[N][N][N], cy[N][N][N], cz[N][N][N], rhs[N][N][N], diagonal[N][N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) {
        u[i][j][k] = v[i][j][k] = (i + j + k) % 3;
        cx[i][j][k] = 1 + (i % 3) * 0.1, cy[i][j][k] = 1 + (j % 3) * 0.1, cz[i][j][k] = 1 + (k % 3) * 0.1;
        rhs[i][j][k] = (i * j + k) % 5;
        diagonal[i][j][k] = 8;
      }
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          v[i][j][k] = (rhs[i][j][k] + cx[i][j][k] * u[i - 1][j][k] + cx[i + 1][j][k] * u[i + 1][j][k]
            + cy[i][j][k] * u[i][j - 1][k] + cy[i][j + 1][k] * u[i][j + 1][k]
            + cz[i][j][k] * u[i][j][k - 1] + cz[i][j][k + 1] * u[i][j][k + 1]) / diagonal[i][j][k];
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          u[i][j][k] = v[i][j][k];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(u[N / 2][N / 2][N / 2]));
  return 0;
}
