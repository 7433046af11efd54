/* nearest: for every point, which centre is the nearest one. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 40000
#endif
#ifndef K
#define K 200
#endif
#ifndef D
#define D 8
#endif

static float point[N][D], centre[K][D], least[N];
static int which[N];

static void initialise(void)
{
  for (int n = 0; n < N; n++)
    for (int d = 0; d < D; d++)
      point[n][d] = (float)((n * 7 + d * 3) % 29);
  for (int k = 0; k < K; k++)
    for (int d = 0; d < D; d++)
      centre[k][d] = (float)((k * 5 + d * 11) % 31);
}

static void kernel(void)
{
#pragma scop
  for (int n = 0; n < N; n++) {
    least[n] = 1e30f;
    which[n] = -1;
    for (int k = 0; k < K; k++) {
      float distance = 0;
      for (int d = 0; d < D; d++)
        distance += (point[n][d] - centre[k][d]) * (point[n][d] - centre[k][d]);
      which[n] = distance < least[n] ? k : which[n];
      least[n] = distance < least[n] ? distance : least[n];
    }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(which[N / 2]));
  return 0;
}
