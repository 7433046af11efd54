/* banded: Cholesky's factorisation of a matrix of which a band is stored, row i from column i - B on. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 12000
#endif
#ifndef B
#define B 200
#endif
static double A[N][B + 1];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int d = 0; d <= B; d++)
      A[i][d] = d == B ? 4.0 * B : (double)((i * 3 + d * 7) % 11) / 11;
}

static void kernel(void)
{
#pragma scop
  for (int j = 0; j < N; j++) {
    A[j][B] = __builtin_sqrt(A[j][B]);
    for (int i = j + 1; i < N && i <= j + B; i++)
      A[i][j - i + B] /= A[j][B];
    for (int i = j + 1; i < N && i <= j + B; i++)
      for (int k = j + 1; k <= i; k++)
        A[i][k - i + B] -= A[i][j - i + B] * A[k][j - k + B];
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
