/* crosscovariance: how the columns of two tables vary together. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef ROWS
#define ROWS 1200
#endif
#ifndef A
#define A 400
#endif
#ifndef B
#define B 300
#endif

static double x[ROWS][A], y[ROWS][B], mx[A], my[B], both[A][B];

static void initialise(void)
{
  for (int r = 0; r < ROWS; r++) {
    for (int i = 0; i < A; i++)
      x[r][i] = (double)((r * i + 3) % 23);
    for (int j = 0; j < B; j++)
      y[r][j] = (double)((r * j + 5) % 19);
  }
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < A; i++) {
    mx[i] = 0;
    for (int r = 0; r < ROWS; r++)
      mx[i] += x[r][i];
    mx[i] /= ROWS;
  }
  for (int j = 0; j < B; j++) {
    my[j] = 0;
    for (int r = 0; r < ROWS; r++)
      my[j] += y[r][j];
    my[j] /= ROWS;
  }
  for (int i = 0; i < A; i++)
    for (int j = 0; j < B; j++) {
      both[i][j] = 0;
      for (int r = 0; r < ROWS; r++)
        both[i][j] += (x[r][i] - mx[i]) * (y[r][j] - my[j]);
      both[i][j] /= ROWS - 1;
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)both[A / 2][B / 2]);
  return 0;
}
