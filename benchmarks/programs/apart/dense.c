/* dense: a layer of a network for a batch: products, a bias, and nothing below zero. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
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
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)out[BATCH / 2][OUT / 2]);
  return 0;
}
