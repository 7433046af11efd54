/* batched: many products of small matrices. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef B
#define B 4000
#endif
#ifndef N
#define N 24
#endif

static double A[B][N][N], X[B][N][N], C[B][N][N];

static void initialise(void)
{
  for (int i = 0; i < B; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        A[i][j][k] = (double)((i + j * k) % 11) / 11;
  for (int i = 0; i < B; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        X[i][j][k] = (double)((i * k + j) % 13) / 13;
  for (int i = 0; i < B; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j][k] = 1;
}

static void kernel(void)
{
#pragma scop
  for (int b = 0; b < B; b++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        for (int k = 0; k < N; k++)
          C[b][i][j] += A[b][i][k] * X[b][k][j];
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)C[B / 2][N / 2][N / 3]);
  return 0;
}
