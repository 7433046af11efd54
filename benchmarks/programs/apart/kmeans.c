/* kmeans: the nearest of some centres for every point. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 20000
#endif
#ifndef K
#define K 64
#endif
#ifndef D
#define D 16
#endif

static float point[N][D], centre[K][D], least[N];
static int nearest[N];

static void initialise(void)
{
  for (int n = 0; n < N; n++)
    for (int d = 0; d < D; d++)
      point[n][d] = (float)((n * 7 + d * 3) % 101) / 10;
  for (int k = 0; k < K; k++)
    for (int d = 0; d < D; d++)
      centre[k][d] = (float)((k * 11 + d * 5) % 97) / 10;
}

static void kernel(void)
{
#pragma scop
  for (int n = 0; n < N; n++) {
    least[n] = 1e30f;
    nearest[n] = 0;
    for (int k = 0; k < K; k++) {
      float distance = 0;
      for (int d = 0; d < D; d++)
        distance += (point[n][d] - centre[k][d]) * (point[n][d] - centre[k][d]);
      if (distance < least[n]) {
        least[n] = distance;
        nearest[n] = k;
      }
    }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(nearest[N / 2]));
  return 0;
}
