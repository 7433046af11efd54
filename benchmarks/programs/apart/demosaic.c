/* demosaic: red, green and blue of a picture whose sensors see one colour each. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef H
#define H 1500
#endif
#ifndef W
#define W 2000
#endif

static unsigned short raw[2 * H + 2][2 * W + 4], red[2 * H + 2][2 * W + 4], green[2 * H + 2][2 * W + 4],
  blue[2 * H + 2][2 * W + 4];

static void initialise(void)
{
  for (int i = 0; i < 2 * H + 2; i++)
    for (int j = 0; j < 2 * W + 4; j++)
      raw[i][j] = (unsigned short)((i * 13 + j * 7) % 1024);
}

static void kernel(void)
{
#pragma scop
  for (int i = 1; i <= H; i++)
    for (int j = 1; j <= W; j++) {
      red[2 * i][2 * j] = raw[2 * i][2 * j];
      red[2 * i][2 * j + 1] = (raw[2 * i][2 * j] + raw[2 * i][2 * j + 2]) / 2;
      green[2 * i][2 * j] = (raw[2 * i - 1][2 * j] + raw[2 * i + 1][2 * j] + raw[2 * i][2 * j - 1] + raw[2 * i][2 * j + 1]) / 4;
      green[2 * i][2 * j + 1] = raw[2 * i][2 * j + 1];
    }
  for (int i = 1; i <= H; i++)
    for (int j = 1; j <= W; j++)
      blue[2 * i][2 * j] = (raw[2 * i - 1][2 * j - 1] + raw[2 * i + 1][2 * j - 1] + raw[2 * i - 1][2 * j + 1] + raw[2 * i + 1][2 * j + 1]) / 4;
  for (int i = 1; i <= H; i++)
    for (int j = 1; j <= W; j++)
      blue[2 * i][2 * j + 1] = (raw[2 * i - 1][2 * j + 1] + raw[2 * i + 1][2 * j + 1]) / 2;
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(red[H][W] + green[H][W] + blue[H][W]));
  return 0;
}
