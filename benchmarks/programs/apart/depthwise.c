/* depthwise: a convolution of every channel by a filter of its own. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef C
#define C 128
#endif
#ifndef H
#define H 400
#endif
#ifndef W
#define W 400
#endif

static float in[C][H + 2][W + 2], filter[C][3][3], out[C][H][W];

static void initialise(void)
{
  for (int c = 0; c < C; c++)
    for (int y = 0; y < H + 2; y++)
      for (int x = 0; x < W + 2; x++)
        in[c][y][x] = (float)((c + y * 5 + x * 3) % 17);
  for (int c = 0; c < C; c++)
    for (int r = 0; r < 3; r++)
      for (int s = 0; s < 3; s++)
        filter[c][r][s] = (float)((c + r + 2 * s) % 5) / 5;
  for (int c = 0; c < C; c++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        out[c][y][x] = 1;
}

static void kernel(void)
{
#pragma scop
  for (int c = 0; c < C; c++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        float sum = 0;
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++)
            sum += in[c][y + r][x + s] * filter[c][r][s];
        out[c][y][x] = sum;
      }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[C / 2][H / 2][W / 2]));
  return 0;
}
