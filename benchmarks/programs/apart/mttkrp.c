/* mttkrp: a three-way tensor times the Khatri-Rao product of two factors, as in its decomposition. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef I
#define I 128
#endif
#ifndef J
#define J 96
#endif
#ifndef K
#define K 96
#endif
#ifndef R
#define R 64
#endif

static double X[I][J][K], B[J][R], C[K][R], M[I][R];

static void initialise(void)
{
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++)
      for (int k = 0; k < K; k++)
        X[i][j][k] = (double)((i * 3 + j * 5 + k * 7) % 13) / 13;
  for (int r = 0; r < R; r++) {
    for (int j = 0; j < J; j++)
      B[j][r] = (double)((j + r) % 11) / 11;
    for (int k = 0; k < K; k++)
      C[k][r] = (double)((k * 2 + r) % 7) / 7;
  }
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < I; i++)
    for (int r = 0; r < R; r++) {
      M[i][r] = 0.0;
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
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(M[I / 2][R / 3]));
  return 0;
}
