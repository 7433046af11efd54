/* downsampling: a convolution layer that takes every second point. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef K
#define K 32
#endif
#ifndef C
#define C 32
#endif
#ifndef H
#define H 64
#endif
#ifndef W
#define W 64
#endif

static float in[C][2 * H + 2][2 * W + 2], filter[K][C][3][3], out[K][H][W];

static void initialise(void)
{
  for (int c = 0; c < C; c++)
    for (int y = 0; y < 2 * H + 2; y++)
      for (int x = 0; x < 2 * W + 2; x++)
        in[c][y][x] = (float)((c + y * 5 + x * 3) % 17);
  for (int k = 0; k < K; k++)
    for (int c = 0; c < C; c++)
      for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
          filter[k][c][r][s] = (float)((k + c + r + 2 * s) % 5) / 5;
}

static void kernel(void)
{
#pragma scop
  for (int k = 0; k < K; k++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        out[k][y][x] = 0;
        for (int c = 0; c < C; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[k][y][x] += in[c][2 * y + r][2 * x + s] * filter[k][c][r][s];
      }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[K / 2][H / 2][W / 2]));
  return 0;
}
