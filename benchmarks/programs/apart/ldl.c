/* ldl: the factors L, D of a symmetric matrix, without roots. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 900
#endif

static double A[N][N], d[N], v[N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = i == j ? 2.0 * N : (double)((i + j) % 17) / 17;
}

static void kernel(void)
{
#pragma scop
  for (int j = 0; j < N; j++) {
    for (int k = 0; k < j; k++)
      v[k] = A[j][k] * d[k];
    d[j] = A[j][j];
    for (int k = 0; k < j; k++)
      d[j] -= A[j][k] * v[k];
    for (int i = j + 1; i < N; i++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * v[k];
      A[i][j] /= d[j];
    }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(A[N - 1][N / 2] + d[N / 2]));
  return 0;
}
