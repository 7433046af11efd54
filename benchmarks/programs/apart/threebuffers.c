/* threebuffers: waves on a membrane: the last two states give the next one, in three buffers. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef T
#define T 120
#endif
#ifndef N
#define N 700
#endif

static double before[N][N], now_[N][N], after[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      before[i][j] = now_[i][j] = (double)(i * j % 13);
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        after[i][j] = 2 * now_[i][j] - before[i][j] +
                      0.2 * (now_[i - 1][j] + now_[i + 1][j] + now_[i][j - 1] + now_[i][j + 1] - 4 * now_[i][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        before[i][j] = now_[i][j];
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        now_[i][j] = after[i][j];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(now_[N / 2][N / 2]));
  return 0;
}
