/* A Seidel stencil, as people write it: every point becomes the mean of its neighbours, in place. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef N
#define N 1000
#endif
#ifndef STEPS
#define STEPS 20
#endif

static double A[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = ((double)i * (j + 2) + 2) / N;
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < STEPS; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        Point: A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5.0;
#pragma endscop
}

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* --time: the seconds in the region; --dump: the result, byte by byte. */
int main(int argc, char **argv)
{
  initialise();
  double start = now();
  kernel();
  double seconds = now() - start;
  if (argc > 1 && !strcmp(argv[1], "--dump"))
    fwrite(A, sizeof A, 1, stdout);
  else
    printf("%.9f\n", seconds);
  return 0;
}
