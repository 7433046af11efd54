/* sobel: edges of a picture, by two filters of nine taps. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef H
#define H 4000
#endif
#ifndef W
#define W 4000
#endif

static float in[H][W], out[H][W];

static void initialise(void)
{
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      in[i][j] = (float)((i * 5 + j * 3) % 251);
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      out[i][j] = 1;
}

static void kernel(void)
{
#pragma scop
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      float across = in[y - 1][x + 1] - in[y - 1][x - 1] + 2 * (in[y][x + 1] - in[y][x - 1]) + in[y + 1][x + 1] - in[y + 1][x - 1];
      float down = in[y + 1][x - 1] - in[y - 1][x - 1] + 2 * (in[y + 1][x] - in[y - 1][x]) + in[y + 1][x + 1] - in[y - 1][x + 1];
      out[y][x] = across * across + down * down;
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
