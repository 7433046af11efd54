/* quadratic: the length of every row by a symmetric matrix. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef R
#define R 1000
#endif
#ifndef C
#define C 600
#endif

static double x[R][C], p[C][C], length[R];

static void initialise(void)
{
  for (int r = 0; r < R; r++)
    for (int c = 0; c < C; c++)
      x[r][c] = (double)((r * 3 + c * 7) % 19) / 10;
  for (int i = 0; i < C; i++)
    for (int j = 0; j < C; j++)
      p[i][j] = (double)((i + j) % 23) / 10;
}

static void kernel(void)
{
#pragma scop
  for (int r = 0; r < R; r++) {
    length[r] = 0;
    for (int i = 0; i < C; i++) {
      double t = 0;
      for (int j = 0; j < C; j++)
        t += p[j][i] * x[r][j];
      length[r] += t * x[r][i];
    }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(length[R / 2]));
  return 0;
}
