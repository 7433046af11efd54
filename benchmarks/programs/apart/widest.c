/* widest: the widest path between every two points, by the points that a path may pass. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 700
#endif

static int width[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      width[i][j] = (i * 7 + j * 13) % 101 < 20 ? (i * j) % 97 + 1 : 0;
}

static void kernel(void)
{
#pragma scop
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        int through = width[i][k] < width[k][j] ? width[i][k] : width[k][j];
        if (through > width[i][j])
          width[i][j] = through;
      }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)width[N / 2][N / 3]);
  return 0;
}
