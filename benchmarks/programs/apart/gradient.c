/* gradient: the gradient of a convolution's weights. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef B
#define B 4
#endif
#ifndef K
#define K 32
#endif
#ifndef C
#define C 32
#endif
#ifndef P
#define P 32
#endif
#ifndef Q
#define Q 32
#endif
#ifndef S
#define S 3
#endif

static float dy[B][K][P][Q], x[B][C][P + S][Q + S], dw[K][C][S][S];

static void initialise(void)
{
  for (int n = 0; n < B; n++) {
    for (int k = 0; k < K; k++)
      for (int p = 0; p < P; p++)
        for (int q = 0; q < Q; q++)
          dy[n][k][p][q] = (float)((n + k + p * 3 + q) % 17) / 17;
    for (int c = 0; c < C; c++)
      for (int p = 0; p < P + S; p++)
        for (int q = 0; q < Q + S; q++)
          x[n][c][p][q] = (float)((n * 5 + c + p + q * 2) % 13) / 13;
  }
}

static void kernel(void)
{
#pragma scop
  for (int n = 0; n < B; n++)
    for (int k = 0; k < K; k++)
      for (int c = 0; c < C; c++)
        for (int r = 0; r < S; r++)
          for (int s = 0; s < S; s++)
            for (int p = 0; p < P; p++)
              for (int q = 0; q < Q; q++)
                dw[k][c][r][s] += dy[n][k][p][q] * x[n][c][p + r][q + s];
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(dw[3][4][1][2]));
  return 0;
}
