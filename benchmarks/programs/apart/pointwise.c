/* pointwise: a convolution of 1 x 1, with a bias, and nothing below zero. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef O
#define O 96
#endif
#ifndef C
#define C 96
#endif
#ifndef P
#define P 12544
#endif
static float in[C][P], weight[O][C], bias[O], out[O][P];

static void initialise(void)
{
  memset(out, 1, sizeof out);
  for (int c = 0; c < C; c++)
    for (int p = 0; p < P; p++)
      in[c][p] = (float)((c * 7 + p * 3) % 29) / 8;
  for (int o = 0; o < O; o++) {
    bias[o] = (float)(o % 7 - 3);
    for (int c = 0; c < C; c++)
      weight[o][c] = (float)((o * 5 + c * 11) % 17 - 8) / 16;
  }
}

static void kernel(void)
{
#pragma scop
  for (int o = 0; o < O; o++)
    for (int p = 0; p < P; p++) {
      float sum = bias[o];
      for (int c = 0; c < C; c++)
        sum += weight[o][c] * in[c][p];
      out[o][p] = sum > 0 ? sum : 0;
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[O / 2][P / 2]));
  return 0;
}
