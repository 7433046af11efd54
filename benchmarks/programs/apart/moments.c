/* moments: sums of the first four powers of every column. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 4000
#endif
#ifndef M
#define M 2000
#endif

static double data[N][M], mean[M], second[M], third[M], fourth[M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      data[i][j] = (i * 3 + j * 5) % 17 / 8.0;
}

static void kernel(void)
{
#pragma scop
  for (int j = 0; j < M; j++) {
    mean[j] = 0;
    for (int i = 0; i < N; i++)
      mean[j] += data[i][j];
    mean[j] = mean[j] / N;
    second[j] = 0;
    third[j] = 0;
    fourth[j] = 0;
    for (int i = 0; i < N; i++) {
      double d = data[i][j] - mean[j];
      second[j] += d * d;
      third[j] += d * d * d;
      fourth[j] += d * d * d * d;
    }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(fourth[M / 2]));
  return 0;
}
