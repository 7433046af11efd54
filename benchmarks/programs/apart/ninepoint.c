/* ninepoint: steps of a stencil of nine points between two buffers. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 1000
#endif
#ifndef T
#define T 40
#endif

static float a[N][N], b[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = b[i][j] = (float)((i * 3 + j) % 13);
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        b[i][j] = 0.2f * a[i][j] + 0.15f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1])
                  + 0.05f * (a[i - 1][j - 1] + a[i - 1][j + 1] + a[i + 1][j - 1] + a[i + 1][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = 0.2f * b[i][j] + 0.15f * (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1])
                  + 0.05f * (b[i - 1][j - 1] + b[i - 1][j + 1] + b[i + 1][j - 1] + b[i + 1][j + 1]);
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)a[N / 2][N / 2]);
  return 0;
}
