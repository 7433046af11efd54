/* filters: a bank of filters over several signals. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#ifndef F
#define F 64
#endif
#ifndef C
#define C 8
#endif
#ifndef N
#define N 20000
#endif
#ifndef K
#define K 24
#endif

static float signal[C][N + K], filter[F][K], out[F][C][N];

static void initialise(void)
{
  for (int c = 0; c < C; c++)
    for (int n = 0; n < N + K; n++)
      signal[c][n] = (float)((c * 7 + n) % 13);
  for (int f = 0; f < F; f++)
    for (int k = 0; k < K; k++)
      filter[f][k] = (float)((f + k) % 5) / 8;
}

static void kernel(void)
{
#pragma scop
  for (int f = 0; f < F; f++)
    for (int c = 0; c < C; c++)
      for (int n = 0; n < N; n++) {
        float sum = 0;
        for (int k = 0; k < K; k++)
          sum += filter[f][k] * signal[c][n + k];
        out[f][c][n] = sum;
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
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[3][2][N / 2]));
  return 0;
}
