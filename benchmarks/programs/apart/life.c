/* life: Conway's game of life, cells in bytes. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef T
#define T 20
#endif
#ifndef N
#define N 1500
#endif

static unsigned char alive[N][N], later[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      alive[i][j] = (i * 7 + j * 13 + i * j) % 5 < 2;
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        int around = alive[i - 1][j - 1] + alive[i - 1][j] + alive[i - 1][j + 1] + alive[i][j - 1]
                     + alive[i][j + 1] + alive[i + 1][j - 1] + alive[i + 1][j] + alive[i + 1][j + 1];
        later[i][j] = around == 3 || (around == 2 && alive[i][j]);
      }
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        alive[i][j] = later[i][j];
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(alive[N / 2][N / 2]));
  return 0;
}
