/* factors: a tensor of three dimensions times two matrices of factors, for each rank (MTTKRP). */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef I
#define I 160
#endif
#ifndef J
#define J 160
#endif
#ifndef K
#define K 160
#endif
#ifndef R
#define R 32
#endif

static double X[I][J][K], B[J][R], C[K][R], M[I][R];

static void initialise(void)
{
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++)
      for (int k = 0; k < K; k++)
        X[i][j][k] = (i + j * 2 + k) % 13;
  for (int j = 0; j < J; j++)
    for (int r = 0; r < R; r++)
      B[j][r] = (j + r) % 5;
  for (int k = 0; k < K; k++)
    for (int r = 0; r < R; r++)
      C[k][r] = (k * 2 + r) % 7;
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < I; i++)
    for (int r = 0; r < R; r++) {
      M[i][r] = 0;
      for (int j = 0; j < J; j++)
        for (int k = 0; k < K; k++)
          M[i][r] += X[i][j][k] * B[j][r] * C[k][r];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(M[I / 2][3]));
  return 0;
}
