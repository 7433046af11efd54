/* pooling: the largest of every square of three by three points, every second one. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef C
#define C 64
#endif
#ifndef H
#define H 200
#endif
#ifndef W
#define W 200
#endif

static float in[C][2 * H + 1][2 * W + 1], out[C][H][W];

static void initialise(void)
{
  for (int c = 0; c < C; c++)
    for (int y = 0; y < 2 * H + 1; y++)
      for (int x = 0; x < 2 * W + 1; x++)
        in[c][y][x] = (float)((c + y * 5 + x * 3) % 17);
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
        float most = in[c][2 * y][2 * x];
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++)
            most = in[c][2 * y + r][2 * x + s] > most ? in[c][2 * y + r][2 * x + s] : most;
        out[c][y][x] = most;
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
