/* A matrix multiplication, as people write it. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef N
#define N 800
#endif

static double A[N][N], B[N][N], C[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] = (double)(i * j % 7) / 7;
      B[i][j] = (double)(i + j) / N;
    }
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      Init: C[i][j] = 0;
      for (int k = 0; k < N; k++)
        Mult: C[i][j] += A[i][k] * B[k][j];
    }
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
    fwrite(C, sizeof C, 1, stdout);
  else
    printf("%.9f\n", seconds);
  return 0;
}
