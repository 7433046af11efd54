/* accumulated: Cholesky's factorisation with its sums in a variable. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#include <math.h>
#ifndef N
#define N 1000
#endif

static double a[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = i == j ? N : 1.0 / (1 + i + j);
}

static void kernel(void)
{
#pragma scop
  for (int j = 0; j < N; j++) {
    double sum = a[j][j];
    for (int k = 0; k < j; k++)
      sum -= a[j][k] * a[j][k];
    a[j][j] = sqrt(sum);
    for (int i = j + 1; i < N; i++) {
      sum = a[i][j];
      for (int k = 0; k < j; k++)
        sum -= a[i][k] * a[j][k];
      a[i][j] = sum / a[j][j];
    }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(a[N - 1][N / 2]));
  return 0;
}
