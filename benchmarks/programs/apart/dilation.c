/* dilation: the brightest of the nine pixels around each one. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef H
#define H 9000
#endif
#ifndef W
#define W 9000
#endif

static unsigned char in[H][W], out[H][W];

static void initialise(void)
{
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      in[y][x] = (unsigned char)((y * 31 + x * x) % 251);
      out[y][x] = 0;
    }
}

static void kernel(void)
{
#pragma scop
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      out[y][x] = in[y][x];
      for (int r = -1; r <= 1; r++)
        for (int s = -1; s <= 1; s++)
          if (in[y + r][x + s] > out[y][x])
            out[y][x] = in[y + r][x + s];
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
