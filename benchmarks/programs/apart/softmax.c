/* softmax: rows of scores as probabilities. */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#ifndef R
#define R 4000
#endif
#ifndef C
#define C 1000
#endif

static float in[R][C], out[R][C], most[R], sum[R];

static void initialise(void)
{
  for (int r = 0; r < R; r++)
    for (int c = 0; c < C; c++)
      in[r][c] = (float)((r * 3 + c * 7) % 19) / 4;
}

static void kernel(void)
{
#pragma scop
  for (int r = 0; r < R; r++) {
    most[r] = in[r][0];
    for (int c = 1; c < C; c++)
      most[r] = in[r][c] > most[r] ? in[r][c] : most[r];
    sum[r] = 0;
    for (int c = 0; c < C; c++) {
      out[r][c] = expf(in[r][c] - most[r]);
      sum[r] += out[r][c];
    }
    for (int c = 0; c < C; c++)
      out[r][c] = out[r][c] / sum[r];
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
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[R / 2][C / 2]));
  return 0;
}
