/* integers: products of short integers, summed up in wider ones. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef I
#define I 1000
#endif
#ifndef J
#define J 1000
#endif
#ifndef K
#define K 1024
#endif
static short left[I][K], right[J][K];
static int sum[I][J];

static void initialise(void)
{
  memset(sum, 1, sizeof sum);
  for (int k = 0; k < K; k++) {
    for (int i = 0; i < I; i++)
      left[i][k] = (short)((i * 7 + k * 3) % 255 - 127);
    for (int j = 0; j < J; j++)
      right[j][k] = (short)((j * 5 + k * 11) % 255 - 127);
  }
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      sum[i][j] = 0;
      for (int k = 0; k < K; k++)
        sum[i][j] += left[i][k] * right[j][k];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(sum[I / 2][J / 2]));
  return 0;
}
