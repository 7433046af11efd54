/* cosine: every square of eight by eight points of a picture by a cosine transform, in two products. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef H
#define H 400
#endif
#ifndef W
#define W 400
#endif

static float in[8 * H][8 * W], out[8 * H][8 * W], half[8][8], basis[8][8];

static void initialise(void)
{
  for (int i = 0; i < 8 * H; i++)
    for (int j = 0; j < 8 * W; j++) {
      in[i][j] = (float)((i * 5 + j * 3) % 251);
      out[i][j] = 1;
    }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      basis[i][j] = (float)((i * j) % 7) / 7 - 0.5f;
}

static void kernel(void)
{
#pragma scop
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
          half[i][j] = 0;
          for (int k = 0; k < 8; k++)
            half[i][j] += basis[i][k] * in[8 * y + k][8 * x + j];
        }
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
          out[8 * y + i][8 * x + j] = 0;
          for (int k = 0; k < 8; k++)
            out[8 * y + i][8 * x + j] += half[i][k] * basis[j][k];
        }
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[4 * H][4 * W]));
  return 0;
}
