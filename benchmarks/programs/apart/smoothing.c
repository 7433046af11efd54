/* smoothing: exponential means down the columns, forwards and backwards, one column at a time. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 2500
#endif
#ifndef M
#define M 2500
#endif
static double x[N][M], forward[N][M], backward[N][M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      x[i][j] = (double)((i * 13 + j * 7) % 101);
  memset(forward, 1, sizeof forward);
  memset(backward, 1, sizeof backward);
}

static void kernel(void)
{
#pragma scop
  for (int j = 0; j < M; j++) {
    forward[0][j] = x[0][j];
    for (int i = 1; i < N; i++)
      forward[i][j] = 0.25 * x[i][j] + 0.75 * forward[i - 1][j];
    backward[N - 1][j] = forward[N - 1][j];
    for (int i = N - 2; i >= 0; i--)
      backward[i][j] = 0.25 * forward[i][j] + 0.75 * backward[i + 1][j];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(backward[N / 2][M / 2]));
  return 0;
}
