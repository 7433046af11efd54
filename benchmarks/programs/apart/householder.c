/* householder: a matrix made triangular by reflections, column by column. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 500
#endif
#ifndef M
#define M 400
#endif

static double a[N][M], v[N], w[M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] = (double)((i * 7 + j * 3 + i * j) % 23) / 23 + (i == j);
}

static void kernel(void)
{
#pragma scop
  for (int k = 0; k < M; k++) {
    double norm = 0;
    for (int i = k; i < N; i++)
      norm += a[i][k] * a[i][k];
    double root = __builtin_sqrt(norm);
    double alpha = a[k][k] > 0 ? -root : root;
    double scale = norm - alpha * a[k][k];
    for (int i = k; i < N; i++)
      v[i] = a[i][k];
    v[k] = v[k] - alpha;
    for (int j = k; j < M; j++) {
      w[j] = 0;
      for (int i = k; i < N; i++)
        w[j] += v[i] * a[i][j];
      w[j] /= scale;
    }
    for (int j = k; j < M; j++)
      for (int i = k; i < N; i++)
        a[i][j] -= v[i] * w[j];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(a[M / 2][M / 2]));
  return 0;
}
