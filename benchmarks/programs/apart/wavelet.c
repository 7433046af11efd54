/* wavelet: a step of a wavelet transform of a picture by lifting, along its rows and then its columns. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef H
#define H 2048
#endif
#ifndef W
#define W 2048
#endif

static float x[H][W];

static void initialise(void)
{
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      x[i][j] = (float)((i * 5 + j * 3) % 256);
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < H; i++) {
    for (int j = 0; j < W / 2 - 1; j++)
      x[i][2 * j + 1] -= 0.5f * (x[i][2 * j] + x[i][2 * j + 2]);
    for (int j = 1; j < W / 2; j++)
      x[i][2 * j] += 0.25f * (x[i][2 * j - 1] + x[i][2 * j + 1]);
  }
  for (int j = 0; j < W; j++) {
    for (int i = 0; i < H / 2 - 1; i++)
      x[2 * i + 1][j] -= 0.5f * (x[2 * i][j] + x[2 * i + 2][j]);
    for (int i = 1; i < H / 2; i++)
      x[2 * i][j] += 0.25f * (x[2 * i - 1][j] + x[2 * i + 1][j]);
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(x[H / 2][W / 3]));
  return 0;
}
