/* histogram: how often each value occurs in each row of a picture. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef R
#define R 2000
#endif
#ifndef C
#define C 4000
#endif
#ifndef B
#define B 256
#endif

static unsigned char picture[R][C];
static int count[R][B], total[B];

static void initialise(void)
{
  for (int r = 0; r < R; r++)
    for (int c = 0; c < C; c++)
      picture[r][c] = (unsigned char)((r * 31 + c * 17 + r * c) % B);
}

static void kernel(void)
{
#pragma scop
  for (int r = 0; r < R; r++)
    for (int b = 0; b < B; b++)
      count[r][b] = 0;
  for (int r = 0; r < R; r++)
    for (int c = 0; c < C; c++)
      count[r][picture[r][c]] += 1;
  for (int b = 0; b < B; b++)
    for (int r = 0; r < R; r++)
      total[b] += count[r][b];
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(total[7]));
  return 0;
}
