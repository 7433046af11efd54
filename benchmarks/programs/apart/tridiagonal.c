/* tridiagonal: many systems of equations with three diagonals, one in each row. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef M
#define M 2000
#endif
#ifndef N
#define N 1000
#endif

static double a[M][N], b[M][N], c[M][N], x[M][N];

static void initialise(void)
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = 0.25;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      b[i][j] = 2 + (double)((i + j) % 5) / 5;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      c[i][j] = 0.5;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      x[i][j] = (double)((i * 3 + j) % 17);
}

static void kernel(void)
{
#pragma scop
  for (int s = 0; s < M; s++) {
    for (int i = 1; i < N; i++) {
      b[s][i] -= a[s][i] / b[s][i - 1] * c[s][i - 1];
      x[s][i] -= a[s][i] / b[s][i - 1] * x[s][i - 1];
    }
    x[s][N - 1] /= b[s][N - 1];
    for (int i = 1; i < N; i++)
      x[s][N - 1 - i] = (x[s][N - 1 - i] - c[s][N - 1 - i] * x[s][N - i]) / b[s][N - 1 - i];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)x[M / 2][N / 2]);
  return 0;
}
