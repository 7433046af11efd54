/* upsampled: a transposed convolution, every value spread over a patch of a larger picture. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef C
#define C 32
#endif
#ifndef K
#define K 32
#endif
#ifndef H
#define H 40
#endif
#ifndef W
#define W 40
#endif
#ifndef P
#define P 4
#endif

static float in[C][H][W], w[C][K][P][P], out[K][2 * H + P][2 * W + P];

static void initialise(void)
{
  for (int c = 0; c < C; c++) {
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        in[c][y][x] = (float)((c + y * 3 + x * 7) % 29) / 29;
    for (int k = 0; k < K; k++)
      for (int p = 0; p < P; p++)
        for (int q = 0; q < P; q++)
          w[c][k][p][q] = (float)((c * 5 + k + p * 3 + q) % 19) / 19;
  }
}

static void kernel(void)
{
#pragma scop
  for (int c = 0; c < C; c++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        for (int k = 0; k < K; k++)
          for (int p = 0; p < P; p++)
            for (int q = 0; q < P; q++)
              out[k][2 * y + p][2 * x + q] += in[c][y][x] * w[c][k][p][q];
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[K / 2][H][W]));
  return 0;
}
