/* largest: where the largest value of every column is. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 5000
#endif
#ifndef M
#define M 5000
#endif
static float value[N][M], most[M];
static int at[M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      value[i][j] = (float)((i * 131 + j * 71) % 1009);
}

static void kernel(void)
{
#pragma scop
  for (int j = 0; j < M; j++) {
    float best = value[0][j];
    int place = 0;
    for (int i = 1; i < N; i++)
      if (value[i][j] > best) {
        best = value[i][j];
        place = i;
      }
    most[j] = best;
    at[j] = place;
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(most[M / 2] + at[M / 3]));
  return 0;
}
