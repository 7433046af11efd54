/* layernorm: every row with mean zero and variance one, times a weight, plus a bias. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef R
#define R 4096
#endif
#ifndef C
#define C 1024
#endif

static float in[R][C], out[R][C], weight[C], bias[C];

static void initialise(void)
{
  for (int r = 0; r < R; r++)
    for (int c = 0; c < C; c++)
      in[r][c] = (float)((r * 7 + c * 3) % 31), out[r][c] = 1;
  for (int c = 0; c < C; c++)
    weight[c] = (float)(c % 5), bias[c] = (float)(c % 3);
}

static void kernel(void)
{
#pragma scop
  for (int r = 0; r < R; r++) {
    float mean = 0, variance = 0;
    for (int c = 0; c < C; c++)
      mean += in[r][c];
    mean = mean / C;
    for (int c = 0; c < C; c++)
      variance += (in[r][c] - mean) * (in[r][c] - mean);
    variance = variance / C;
    for (int c = 0; c < C; c++)
      out[r][c] = (in[r][c] - mean) / (variance + 0.001f) * weight[c] + bias[c];
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
