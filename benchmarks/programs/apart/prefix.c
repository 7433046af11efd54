/* prefix: sums of all rectangles from the first corner, along rows and then down columns. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef H
#define H 5000
#endif
#ifndef W
#define W 5000
#endif

static int in[H][W], sum[H][W];

static void initialise(void)
{
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      in[i][j] = (i * 7 + j * j) % 9;
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      sum[i][j] = 0;
}

static void kernel(void)
{
#pragma scop
  for (int y = 0; y < H; y++) {
    sum[y][0] = in[y][0];
    for (int x = 1; x < W; x++)
      sum[y][x] = sum[y][x - 1] + in[y][x];
  }
  for (int x = 0; x < W; x++)
    for (int y = 1; y < H; y++)
      sum[y][x] += sum[y - 1][x];
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)sum[H / 2][W / 2]);
  return 0;
}
