/* padded: a filter of 5 by 5 over an image, which goes on with zeros around it. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef H
#define H 1500
#endif
#ifndef W
#define W 1500
#endif
#ifndef R
#define R 2
#endif

static float in[H][W], out[H][W], tap[2 * R + 1][2 * R + 1];

static void initialise(void)
{
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      in[y][x] = (float)((y * 3 + x * 5) % 17);
  for (int r = 0; r <= 2 * R; r++)
    for (int s = 0; s <= 2 * R; s++)
      tap[r][s] = (float)(r + s + 1) / 25;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      out[y][x] = 0;
}

static void kernel(void)
{
#pragma scop
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      out[y][x] = 0;
      for (int r = -R; r <= R; r++)
        for (int s = -R; s <= R; s++)
          if (y + r >= 0 && y + r < H && x + s >= 0 && x + s < W)
            out[y][x] += in[y + r][x + s] * tap[r + R][s + R];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)out[H / 2][W / 2]);
  return 0;
}
