/* knapsack: the most valuable load, for every capacity. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 400
#endif
#ifndef W
#define W 50000
#endif

static int best[N + 1][W + 1], value[N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    value[i] = 1 + i * 7 % 23;
  for (int i = 0; i <= N; i++)
    for (int w = 0; w <= W; w++)
      best[i][w] = 0;
}

static void kernel(void)
{
#pragma scop
  for (int i = 1; i <= N; i++)
    for (int w = 0; w <= W; w++) {
      best[i][w] = best[i - 1][w];
      if (w >= 3 * i)
        best[i][w] = best[i - 1][w - 3 * i] + value[i - 1] > best[i][w] ? best[i - 1][w - 3 * i] + value[i - 1] : best[i][w];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(best[N][W]));
  return 0;
}
