/* inverse: the inverse of a lower triangle, in its own place. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 900
#endif

static double l[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      l[i][j] = i == j ? 2 : 1.0 / (2 + i + j);
}

static void kernel(void)
{
#pragma scop
  for (int j = 0; j < N; j++) {
    l[j][j] = 1 / l[j][j];
    for (int i = j + 1; i < N; i++) {
      l[i][j] = l[i][j] * l[j][j];
      for (int k = j + 1; k < i; k++)
        l[i][j] += l[i][k] * l[k][j];
      l[i][j] = -l[i][j] / l[i][i];
    }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(l[N - 1][N / 2]));
  return 0;
}
