/* symmetric: the symmetric part of a matrix, and its largest sum of a row. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 3000
#endif

static double a[N][N], s[N][N], sums[N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = (double)((i * 7 + j * 5) % 31) - 15;
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      s[i][j] = 0.5 * (a[i][j] + a[j][i]);
  for (int i = 0; i < N; i++) {
    sums[i] = 0;
    for (int j = 0; j < N; j++)
      sums[i] += s[i][j] < 0 ? -s[i][j] : s[i][j];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)sums[N / 2]);
  return 0;
}
