/* autocorrelation: how much signals are like themselves, some steps later. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef S
#define S 64
#endif
#ifndef N
#define N 4000
#endif
#ifndef L
#define L 256
#endif

static double x[S][N + L], r[S][L];

static void initialise(void)
{
  for (int s = 0; s < S; s++)
    for (int i = 0; i < N + L; i++)
      x[s][i] = (s + i * i) % 17;
}

static void kernel(void)
{
#pragma scop
  for (int s = 0; s < S; s++)
    for (int l = 0; l < L; l++) {
      double sum = 0;
      for (int i = 0; i < N; i++)
        sum += x[s][i] * x[s][i + l];
      r[s][l] = sum / N;
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(r[S / 2][L / 2]));
  return 0;
}
