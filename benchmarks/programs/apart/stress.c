/* stress: elastic waves in two dimensions: speeds from stresses, stresses from speeds, on staggered points. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef T
#define T 30
#endif
#ifndef N
#define N 600
#endif
#ifndef M
#define M 600
#endif

static double vx[N][M], vy[N][M], sxx[N][M], syy[N][M], sxy[N][M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      vx[i][j] = vy[i][j] = 0;
      sxx[i][j] = (i + j) % 3, syy[i][j] = (i * 2 + j) % 5, sxy[i][j] = (i - j) % 7;
    }
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++) {
        vx[i][j] += 0.1 * (sxx[i][j] - sxx[i - 1][j] + sxy[i][j] - sxy[i][j - 1]);
        vy[i][j] += 0.1 * (sxy[i + 1][j] - sxy[i][j] + syy[i][j + 1] - syy[i][j]);
      }
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++) {
        double dx = vx[i + 1][j] - vx[i][j], dy = vy[i][j] - vy[i][j - 1];
        sxx[i][j] += 0.1 * (3 * dx + dy);
        syy[i][j] += 0.1 * (dx + 3 * dy);
        sxy[i][j] += 0.1 * (vx[i][j + 1] - vx[i][j] + vy[i][j] - vy[i - 1][j]);
      }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(vx[N / 2][M / 2]));
  return 0;
}
