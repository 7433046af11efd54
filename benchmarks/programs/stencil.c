/* stencil: heat in space; two buffers take turns. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#ifndef STEPS
#define STEPS 40
#endif
#ifndef N
#define N 160
#endif

static double u[N][N][N], v[N][N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        u[i][j][k] = v[i][j][k] = (double)((i + j * k) % 23) / 23;
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          v[i][j][k] = 0.4 * u[i][j][k] + 0.1 * (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k]
                       + u[i][j + 1][k] + u[i][j][k - 1] + u[i][j][k + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          u[i][j][k] = 0.4 * v[i][j][k] + 0.1 * (v[i - 1][j][k] + v[i + 1][j][k] + v[i][j - 1][k]
                       + v[i][j + 1][k] + v[i][j][k - 1] + v[i][j][k + 1]);
  }
#pragma endscop
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  initialise();
  double start = now();
  kernel();
  double seconds = now() - start;
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)u[N / 2][N / 2][N / 2]);
  return 0;
}
