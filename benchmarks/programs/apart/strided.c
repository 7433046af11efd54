/* strided: a convolution that takes every second point of every second row. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef K
#define K 32
#endif
#ifndef C
#define C 16
#endif
#ifndef H
#define H 60
#endif
#ifndef W
#define W 64
#endif
#ifndef R
#define R 5
#endif

static float in[C][2 * H + R][2 * W + R], weight[K][C][R][R], out[K][H][W];

static void initialise(void)
{
  for (int i = 0; i < C; i++)
    for (int j = 0; j < 2 * H + R; j++)
      for (int k = 0; k < 2 * W + R; k++)
        in[i][j][k] = (float)((i + j * k) % 17) / 17;
  for (int i = 0; i < K; i++)
    for (int j = 0; j < C; j++)
      for (int k = 0; k < R; k++)
        for (int l = 0; l < R; l++)
          weight[i][j][k][l] = (float)((i + j + k * l) % 13) / 13;
  for (int i = 0; i < K; i++)
    for (int j = 0; j < H; j++)
      for (int k = 0; k < W; k++)
        out[i][j][k] = 1;
}

static void kernel(void)
{
#pragma scop
  for (int k = 0; k < K; k++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        for (int c = 0; c < C; c++)
          for (int r = 0; r < R; r++)
            for (int s = 0; s < R; s++)
              out[k][y][x] += in[c][2 * y + r][2 * x + s] * weight[k][c][r][s];
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)out[K / 2][H / 2][W / 2]);
  return 0;
}
