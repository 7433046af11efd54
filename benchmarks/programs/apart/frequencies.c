/* frequencies: a discrete Fourier transform of a picture, of its columns and then of its rows. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 320
#endif

static double x[N][N], co[N][N], si[N][N], re[N][N], im[N][N], re2[N][N], im2[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      x[i][j] = (i * 7 + j * 3) % 256;
      co[i][j] = 1.0 - (double)(2 * ((i * j) % N)) / N;
      si[i][j] = (double)((i * j) % N) / N;
    }
}

static void kernel(void)
{
#pragma scop
  for (int u = 0; u < N; u++)
    for (int j = 0; j < N; j++) {
      re[u][j] = 0.0;
      im[u][j] = 0.0;
      for (int i = 0; i < N; i++) {
        re[u][j] += co[u][i] * x[i][j];
        im[u][j] += si[u][i] * x[i][j];
      }
    }
  for (int u = 0; u < N; u++)
    for (int v = 0; v < N; v++) {
      re2[u][v] = 0.0;
      im2[u][v] = 0.0;
      for (int j = 0; j < N; j++) {
        re2[u][v] += co[v][j] * re[u][j] - si[v][j] * im[u][j];
        im2[u][v] += co[v][j] * im[u][j] + si[v][j] * re[u][j];
      }
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(re2[N / 2][N / 3] + im2[N / 3][N / 2]));
  return 0;
}
