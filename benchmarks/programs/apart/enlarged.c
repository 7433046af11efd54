/* enlarged: a picture of twice the size, with means between its points, column by column. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef H
#define H 2400
#endif
#ifndef W
#define W 3200
#endif
static float in[H + 1][W + 1], out[2 * H][2 * W];

static void initialise(void)
{
  for (int y = 0; y <= H; y++)
    for (int x = 0; x <= W; x++)
      in[y][x] = (float)((y * 3 + x * 7) % 31);
  memset(out, 1, sizeof out);
}

static void kernel(void)
{
#pragma scop
  for (int x = 0; x < W; x++)
    for (int y = 0; y < H; y++) {
      out[2 * y][2 * x] = in[y][x];
      out[2 * y][2 * x + 1] = 0.5f * (in[y][x] + in[y][x + 1]);
      out[2 * y + 1][2 * x] = 0.5f * (in[y][x] + in[y + 1][x]);
      out[2 * y + 1][2 * x + 1] = 0.25f * (in[y][x] + in[y][x + 1] + in[y + 1][x] + in[y + 1][x + 1]);
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[H][W]));
  return 0;
}
