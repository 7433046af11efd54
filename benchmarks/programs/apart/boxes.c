/* boxes: a picture smoothed by means over boxes, whose sums go along: first rows, then columns. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 1500
#endif
#ifndef M
#define M 1500
#endif
#ifndef R
#define R 8
#endif

static double in[N][M], row[N][M], out[N][M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      in[i][j] = (i * 7 + j * 3) % 255;
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < N; i++) {
    row[i][R] = 0;
    for (int j = 0; j <= 2 * R; j++)
      row[i][R] += in[i][j];
    for (int j = R + 1; j < M - R; j++)
      row[i][j] = row[i][j - 1] + in[i][j + R] - in[i][j - R - 1];
  }
  for (int j = R; j < M - R; j++) {
    out[R][j] = 0;
    for (int i = 0; i <= 2 * R; i++)
      out[R][j] += row[i][j];
    for (int i = R + 1; i < N - R; i++)
      out[i][j] = out[i - 1][j] + row[i + R][j] - row[i - R - 1][j];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[N / 2][M / 2]));
  return 0;
}
