/* filters: a bank of filters over several signals. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
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

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[3][2][N / 2]));
  return 0;
}
