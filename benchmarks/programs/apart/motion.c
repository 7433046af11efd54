/* motion: for every block of a picture the sums of absolute differences to the picture before. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef H
#define H 16
#endif
#ifndef W
#define W 16
#endif
#ifndef R
#define R 8
#endif

static unsigned char new[16 * H + 2 * R][16 * W + 2 * R], old[16 * H + 2 * R][16 * W + 2 * R];
static int sad[H][W][2 * R][2 * R];

static void initialise(void)
{
  for (int i = 0; i < 16 * H + 2 * R; i++)
    for (int j = 0; j < 16 * W + 2 * R; j++) {
      new[i][j] = (unsigned char)((i * 5 + j * 3) % 251);
      old[i][j] = (unsigned char)((i * 7 + j * 11) % 249);
    }
}

static void kernel(void)
{
#pragma scop
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      for (int dy = 0; dy < 2 * R; dy++)
        for (int dx = 0; dx < 2 * R; dx++) {
          sad[y][x][dy][dx] = 0;
          for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++)
              sad[y][x][dy][dx] += new[16 * y + i][16 * x + j] > old[16 * y + i + dy][16 * x + j + dx]
                ? new[16 * y + i][16 * x + j] - old[16 * y + i + dy][16 * x + j + dx]
                : old[16 * y + i + dy][16 * x + j + dx] - new[16 * y + i][16 * x + j];
        }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(sad[H / 2][W / 2][R][R]));
  return 0;
}
