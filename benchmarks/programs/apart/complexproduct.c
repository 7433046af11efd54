/* complexproduct: a product of complex matrices, real and imaginary parts in arrays of their own. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 500
#endif
#ifndef M
#define M 500
#endif
#ifndef K
#define K 500
#endif

static double ar[N][K], ai[N][K], br[K][M], bi[K][M], cr[N][M], ci[N][M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int k = 0; k < K; k++)
      ar[i][k] = (i + k) % 7, ai[i][k] = (i - k) % 5;
  for (int k = 0; k < K; k++)
    for (int j = 0; j < M; j++)
      br[k][j] = (k * 3 + j) % 11, bi[k][j] = (k + j * 2) % 9;
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      cr[i][j] = 0;
      ci[i][j] = 0;
      for (int k = 0; k < K; k++) {
        cr[i][j] += ar[i][k] * br[k][j] - ai[i][k] * bi[k][j];
        ci[i][j] += ar[i][k] * bi[k][j] + ai[i][k] * br[k][j];
      }
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(cr[N / 2][M / 3] + ci[1][2]));
  return 0;
}
