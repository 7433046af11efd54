/* unsharp: a picture of three colours sharpened: blurred along rows and columns, then set against itself. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef C
#define C 3
#endif
#ifndef N
#define N 1200
#endif
#ifndef M
#define M 1200
#endif

static float in[C][N + 4][M + 4], bx[C][N + 4][M + 4], by[C][N + 4][M + 4], sharp[C][N + 4][M + 4], out[C][N + 4][M + 4];

static void initialise(void)
{
  for (int c = 0; c < C; c++)
    for (int i = 0; i < N + 4; i++)
      for (int j = 0; j < M + 4; j++)
        in[c][i][j] = (float)((c + i * 7 + j * 3) % 255) / 255;
}

static void kernel(void)
{
#pragma scop
  for (int c = 0; c < C; c++)
    for (int i = 2; i < N + 2; i++)
      for (int j = 0; j < M + 4; j++)
        bx[c][i][j] = 0.0625f * in[c][i - 2][j] + 0.25f * in[c][i - 1][j] + 0.375f * in[c][i][j]
          + 0.25f * in[c][i + 1][j] + 0.0625f * in[c][i + 2][j];
  for (int c = 0; c < C; c++)
    for (int i = 2; i < N + 2; i++)
      for (int j = 2; j < M + 2; j++)
        by[c][i][j] = 0.0625f * bx[c][i][j - 2] + 0.25f * bx[c][i][j - 1] + 0.375f * bx[c][i][j]
          + 0.25f * bx[c][i][j + 1] + 0.0625f * bx[c][i][j + 2];
  for (int c = 0; c < C; c++)
    for (int i = 2; i < N + 2; i++)
      for (int j = 2; j < M + 2; j++)
        sharp[c][i][j] = in[c][i][j] * 4.0f - by[c][i][j] * 3.0f;
  for (int c = 0; c < C; c++)
    for (int i = 2; i < N + 2; i++)
      for (int j = 2; j < M + 2; j++) {
        float d = in[c][i][j] - by[c][i][j];
        out[c][i][j] = (d < 0 ? -d : d) < 0.001f ? in[c][i][j] : sharp[c][i][j];
      }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[1][N / 2][M / 2]));
  return 0;
}
