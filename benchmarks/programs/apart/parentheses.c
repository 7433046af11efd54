/* parentheses: the cheapest order in which to multiply a chain of matrices. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 1200
#endif

static int d[N + 1], m[N][N];

static void initialise(void)
{
  for (int i = 0; i <= N; i++)
    d[i] = (i * 37) % 101 + 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      m[i][j] = 0;
}

static void kernel(void)
{
#pragma scop
  for (int l = 1; l < N; l++)
    for (int i = 0; i < N - l; i++) {
      m[i][i + l] = 2147483647;
      for (int k = i; k < i + l; k++)
        m[i][i + l] = m[i][k] + m[k + 1][i + l] + d[i] * d[k + 1] * d[i + l + 1] < m[i][i + l]
          ? m[i][k] + m[k + 1][i + l] + d[i] * d[k + 1] * d[i + l + 1] : m[i][i + l];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(m[0][N - 1]));
  return 0;
}
