/* closure: which nodes are reached from which, by matrices of ints. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 700
#endif

static int reached[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      reached[i][j] = (i * 17 + j * 23) % 97 == 0;
}

static void kernel(void)
{
#pragma scop
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        reached[i][j] = reached[i][j] | (reached[i][k] & reached[k][j]);
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(reached[1][N - 2]));
  return 0;
}
