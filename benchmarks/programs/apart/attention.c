/* attention: scores of all pairs of rows, by scalar products, and rows weighted by them. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef L
#define L 1024
#endif
#ifndef D
#define D 64
#endif

static float Q[L][D], K[L][D], V[L][D], S[L][L], out[L][D];

static void initialise(void)
{
  for (int i = 0; i < L; i++)
    for (int j = 0; j < D; j++)
      Q[i][j] = (float)((i * 3 + j) % 19) / 19;
  for (int i = 0; i < L; i++)
    for (int j = 0; j < D; j++)
      K[i][j] = (float)((i * 5 + j) % 19) / 19;
  for (int i = 0; i < L; i++)
    for (int j = 0; j < D; j++)
      V[i][j] = (float)((i * 7 + j) % 19) / 19;
  for (int i = 0; i < L; i++)
    for (int j = 0; j < D; j++)
      out[i][j] = 0;
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < L; i++)
    for (int j = 0; j < L; j++) {
      float sum = 0;
      for (int d = 0; d < D; d++)
        sum += Q[i][d] * K[j][d];
      S[i][j] = sum * 0.125f;
    }
  for (int i = 0; i < L; i++)
    for (int d = 0; d < D; d++) {
      float sum = 0;
      for (int j = 0; j < L; j++)
        sum += S[i][j] * V[j][d];
      out[i][d] = sum;
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)out[L / 2][D / 2]);
  return 0;
}
