/* perceptron: two layers of a network with biases, negative values cut off between them. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef B
#define B 256
#endif
#ifndef N
#define N 512
#endif
#ifndef H
#define H 512
#endif
#ifndef M
#define M 256
#endif

static float x[B][N], w1[H][N], b1[H], h[B][H], w2[M][H], b2[M], y[B][M];

static void initialise(void)
{
  for (int i = 0; i < B; i++)
    for (int j = 0; j < N; j++)
      x[i][j] = (float)((i + j * 3) % 17) / 17;
  for (int i = 0; i < H; i++) {
    b1[i] = (float)(i % 3);
    for (int j = 0; j < N; j++)
      w1[i][j] = (float)((i * 5 + j) % 13) / 13 - 0.5f;
  }
  for (int i = 0; i < M; i++) {
    b2[i] = (float)(i % 5);
    for (int j = 0; j < H; j++)
      w2[i][j] = (float)((i + j * 7) % 11) / 11 - 0.5f;
  }
}

static void kernel(void)
{
#pragma scop
  for (int n = 0; n < B; n++) {
    for (int i = 0; i < H; i++) {
      float sum = b1[i];
      for (int j = 0; j < N; j++)
        sum += w1[i][j] * x[n][j];
      h[n][i] = sum > 0 ? sum : 0;
    }
    for (int i = 0; i < M; i++) {
      float sum = b2[i];
      for (int j = 0; j < H; j++)
        sum += w2[i][j] * h[n][j];
      y[n][i] = sum;
    }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(y[B / 2][M / 2]));
  return 0;
}
