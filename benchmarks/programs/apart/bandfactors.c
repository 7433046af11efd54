/* bandfactors: Cholesky factors of a banded matrix, kept by its diagonals. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 6000
#endif
#ifndef B
#define B 128
#endif

static double A[N][B + 1];

static void initialise(void)
{
  for (int j = 0; j < N; j++)
    for (int d = 0; d <= B; d++)
      A[j][d] = d == 0 ? 4.0 * B : (double)((j + 3 * d) % 17) / 17;
}

/* A[j][d] is the element in column j, d rows below the diagonal. */
static void kernel(void)
{
#pragma scop
  for (int j = 0; j < N - B; j++) {
    for (int d = 1; d <= B; d++)
      A[j][d] = A[j][d] / A[j][0];
    for (int k = 1; k <= B; k++)
      for (int d = k; d <= B; d++)
        A[j + k][d - k] = A[j + k][d - k] - A[j][k] * A[j][d] * A[j][0];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(A[N / 2][B / 2]));
  return 0;
}
