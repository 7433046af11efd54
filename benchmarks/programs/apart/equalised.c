/* equalised: the grey values of pictures, spread so that each is as frequent as the others. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef F
#define F 24
#endif
#ifndef H
#define H 480
#endif
#ifndef W
#define W 640
#endif

static unsigned char picture[F][H][W], spread[F][H][W];
static int count[F][256], sum[F][256];

static void initialise(void)
{
  for (int f = 0; f < F; f++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        picture[f][y][x] = (unsigned char)((x * x / 97 + y * 3 + f) % 191);
}

static void kernel(void)
{
#pragma scop
  for (int f = 0; f < F; f++)
    for (int g = 0; g < 256; g++)
      count[f][g] = 0;
  for (int x = 0; x < W; x++)
    for (int f = 0; f < F; f++)
      for (int y = 0; y < H; y++)
        count[f][picture[f][y][x]] += 1;
  for (int f = 0; f < F; f++) {
    sum[f][0] = count[f][0];
    for (int g = 1; g < 256; g++)
      sum[f][g] = sum[f][g - 1] + count[f][g];
  }
  for (int x = 0; x < W; x++)
    for (int f = 0; f < F; f++)
      for (int y = 0; y < H; y++)
        spread[f][y][x] = (unsigned char)(255 * sum[f][picture[f][y][x]] / (H * W));
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(spread[F / 2][H / 2][W / 2]));
  return 0;
}
