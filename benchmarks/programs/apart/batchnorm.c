/* batchnorm: every channel of a batch with mean zero and variance one. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef B
#define B 128
#endif
#ifndef C
#define C 64
#endif
#ifndef S
#define S 1024
#endif

static float in[B][C][S], out[B][C][S], mean[C], variance[C];

static void initialise(void)
{
  for (int b = 0; b < B; b++)
    for (int c = 0; c < C; c++)
      for (int s = 0; s < S; s++) {
        in[b][c][s] = (float)((c + b * 5 + s * 3) % 17);
        out[b][c][s] = 1;
      }
}

static void kernel(void)
{
#pragma scop
  for (int c = 0; c < C; c++) {
    mean[c] = 0;
    for (int b = 0; b < B; b++)
      for (int s = 0; s < S; s++)
        mean[c] += in[b][c][s];
    mean[c] = mean[c] / (B * S);
    variance[c] = 0;
    for (int b = 0; b < B; b++)
      for (int s = 0; s < S; s++)
        variance[c] += (in[b][c][s] - mean[c]) * (in[b][c][s] - mean[c]);
    variance[c] = variance[c] / (B * S);
    for (int b = 0; b < B; b++)
      for (int s = 0; s < S; s++)
        out[b][c][s] = (in[b][c][s] - mean[c]) / (variance[c] + 0.001f);
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[B / 2][C / 2][S / 2]));
  return 0;
}
