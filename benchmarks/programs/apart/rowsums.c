/* rowsums: prefix sums along the rows of a table and then down its columns. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 3000
#endif
#ifndef M
#define M 3000
#endif

static int in[N][M], out[N][M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      in[i][j] = (i * 5 + j * 3) % 17;
      out[i][j] = 1;
    }
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < N; i++) {
    int sum = 0;
    for (int j = 0; j < M; j++) {
      sum += in[i][j];
      out[i][j] = sum;
    }
  }
  for (int j = 0; j < M; j++)
    for (int i = 1; i < N; i++)
      out[i][j] += out[i - 1][j];
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[N - 1][M - 1]));
  return 0;
}
