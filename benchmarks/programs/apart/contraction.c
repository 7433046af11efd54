/* contraction: a contraction of tensors as quantum chemistry has them: C[a][b][c] = sum of A[d][a][e] B[e][b][d][c]. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 48
#endif

static double A[N][N][N], B[N][N][N][N], R[N][N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) {
        A[i][j][k] = (i + j * 2 + k) % 13;
        for (int l = 0; l < N; l++)
          B[i][j][k][l] = (i * 3 + j + k + l) % 7;
      }
}

static void kernel(void)
{
#pragma scop
  for (int a = 0; a < N; a++)
    for (int b = 0; b < N; b++)
      for (int c = 0; c < N; c++) {
        double sum = 0;
        for (int d = 0; d < N; d++)
          for (int e = 0; e < N; e++)
            sum += A[d][a][e] * B[e][b][d][c];
        R[a][b][c] = sum;
      }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(R[1][2][3]));
  return 0;
}
