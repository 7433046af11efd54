/* gaps: alignment of two sequences with affine costs of gaps, three tables. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 2000
#endif
#ifndef M
#define M 2000
#endif

static int H[N + 1][M + 1], E[N + 1][M + 1], F[N + 1][M + 1];
static int same[N + 1][M + 1];

static void initialise(void)
{
  for (int i = 0; i <= N; i++)
    for (int j = 0; j <= M; j++) {
      same[i][j] = (i * 7 + j * 5) % 4 == 0 ? 5 : -3;
      H[i][j] = E[i][j] = F[i][j] = i && j ? 0 : -8 - i - j;
    }
}

static void kernel(void)
{
#pragma scop
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++) {
      E[i][j] = E[i][j - 1] - 1 > H[i][j - 1] - 8 ? E[i][j - 1] - 1 : H[i][j - 1] - 8;
      F[i][j] = F[i - 1][j] - 1 > H[i - 1][j] - 8 ? F[i - 1][j] - 1 : H[i - 1][j] - 8;
      H[i][j] = E[i][j] > F[i][j] ? E[i][j] : F[i][j];
      H[i][j] = H[i - 1][j - 1] + same[i][j] > H[i][j] ? H[i - 1][j - 1] + same[i][j] : H[i][j];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(H[N][M]));
  return 0;
}
