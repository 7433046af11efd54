/* dense: a layer of a network for a batch: products, a bias, and nothing below zero. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef BATCH
#define BATCH 256
#endif
#ifndef IN
#define IN 512
#endif
#ifndef OUT
#define OUT 512
#endif

static float in[BATCH][IN], weight[OUT][IN], bias[OUT], out[BATCH][OUT];

static void initialise(void)
{
  for (int b = 0; b < BATCH; b++)
    for (int i = 0; i < IN; i++)
      in[b][i] = (float)((b * i + 1) % 9) / 9;
  for (int o = 0; o < OUT; o++) {
    bias[o] = (float)(o % 5);
    for (int i = 0; i < IN; i++)
      weight[o][i] = (float)((o + i * 3) % 7) / 7 - 0.5f;
  }
}

static void kernel(void)
{
#pragma scop
  for (int b = 0; b < BATCH; b++)
    for (int o = 0; o < OUT; o++) {
      out[b][o] = bias[o];
      for (int i = 0; i < IN; i++)
        out[b][o] += in[b][i] * weight[o][i];
      out[b][o] = out[b][o] < 0 ? 0 : out[b][o];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)out[BATCH / 2][OUT / 2]);
  return 0;
}
