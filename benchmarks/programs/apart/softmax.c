/* softmax: rows of scores as probabilities. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#include <math.h>
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

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[R / 2][C / 2]));
  return 0;
}
