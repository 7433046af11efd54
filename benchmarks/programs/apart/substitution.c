/* substitution: backward substitution for many right sides. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 700
#endif
#ifndef M
#define M 600
#endif

static double U[N][N], X[N][M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      U[i][j] = (double)((i + j) % 7) / 7 + (i == j ? N : 0);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      X[i][j] = (double)((i * 3 + j) % 11);
}

static void kernel(void)
{
#pragma scop
  for (int m = 0; m < M; m++)
    for (int i = 0; i < N; i++) {
      for (int j = N - i; j < N; j++)
        X[N - 1 - i][m] -= U[N - 1 - i][j] * X[j][m];
      X[N - 1 - i][m] /= U[N - 1 - i][N - 1 - i];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)X[N / 2][M / 2]);
  return 0;
}
