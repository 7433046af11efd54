/* lattice: a fluid on a lattice of nine directions: particles meet, then move on. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef T
#define T 20
#endif
#ifndef N
#define N 512
#endif
#ifndef M
#define M 512
#endif

static double f[9][N][M], g[9][N][M];
static double weight[9];
static double cx[9], cy[9];

static void initialise(void)
{
  for (int d = 0; d < 9; d++) {
    weight[d] = d == 0 ? 4.0 / 9 : d < 5 ? 1.0 / 9 : 1.0 / 36;
    cx[d] = d % 3 - 1;
    cy[d] = d / 3 - 1;
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        f[d][i][j] = g[d][i][j] = weight[d] * (1 + 0.01 * ((i + j) % 5));
  }
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) {
        double rho = 0, ux = 0, uy = 0;
        for (int d = 0; d < 9; d++) {
          rho += f[d][i][j];
          ux += f[d][i][j] * cx[d];
          uy += f[d][i][j] * cy[d];
        }
        for (int d = 0; d < 9; d++)
          g[d][i][j] = f[d][i][j] + 0.6 * (weight[d] * (rho + 3 * (cx[d] * ux + cy[d] * uy)) - f[d][i][j]);
      }
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++) {
        f[0][i][j] = g[0][i - 1][j - 1];
        f[1][i][j] = g[1][i][j - 1];
        f[2][i][j] = g[2][i + 1][j - 1];
        f[3][i][j] = g[3][i - 1][j];
        f[4][i][j] = g[4][i][j];
        f[5][i][j] = g[5][i + 1][j];
        f[6][i][j] = g[6][i - 1][j + 1];
        f[7][i][j] = g[7][i][j + 1];
        f[8][i][j] = g[8][i + 1][j + 1];
      }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(f[4][N / 2][M / 2]));
  return 0;
}
