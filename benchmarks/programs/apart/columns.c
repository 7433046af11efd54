/* columns: the columns of a table made alike: means, then deviations, then all values scaled. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 3000
#endif
#ifndef M
#define M 2000
#endif

static double a[N][M], mean[M], deviation[M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] = (i * 3 + j * 5) % 31;
}

static void kernel(void)
{
#pragma scop
  for (int j = 0; j < M; j++) {
    mean[j] = 0;
    for (int i = 0; i < N; i++)
      mean[j] += a[i][j];
    mean[j] /= N;
    deviation[j] = 0;
    for (int i = 0; i < N; i++)
      deviation[j] += (a[i][j] - mean[j]) * (a[i][j] - mean[j]);
    deviation[j] = __builtin_sqrt(deviation[j] / N);
    for (int i = 0; i < N; i++)
      a[i][j] = (a[i][j] - mean[j]) / (deviation[j] + 0.1);
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(a[N / 2][M / 2]));
  return 0;
}
