/* powers: steps of a chain of states: a matrix times itself, again and again. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 320
#endif
#ifndef T
#define T 6
#endif

static double p[N][N], next[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      p[i][j] = (1.0 + (i * j) % 7) / (4.0 * N);
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        next[i][j] = 0;
        for (int k = 0; k < N; k++)
          next[i][j] += p[i][k] * p[k][j];
      }
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        p[i][j] = next[i][j];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)p[N / 2][N / 3]);
  return 0;
}
