/* gates: one step of an LSTM cell for a batch, without the nonlinear functions. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef B
#define B 64
#endif
#ifndef H
#define H 384
#endif

static float x[B][H], h[B][H], c[B][H], Wx[4 * H][H], Wh[4 * H][H], g[B][4 * H];

static void initialise(void)
{
  for (int b = 0; b < B; b++)
    for (int i = 0; i < H; i++) {
      x[b][i] = (float)((b + i) % 7) / 7;
      h[b][i] = (float)((b * 3 + i) % 5) / 5;
      c[b][i] = (float)((b + i * 3) % 11) / 11;
    }
  for (int i = 0; i < 4 * H; i++)
    for (int j = 0; j < H; j++) {
      Wx[i][j] = (float)((i + j) % 13) / 200;
      Wh[i][j] = (float)((i + 5 * j) % 17) / 200;
    }
}

static void kernel(void)
{
#pragma scop
  for (int b = 0; b < B; b++)
    for (int i = 0; i < 4 * H; i++) {
      float sum = 0;
      for (int j = 0; j < H; j++)
        sum += Wx[i][j] * x[b][j] + Wh[i][j] * h[b][j];
      g[b][i] = sum;
    }
  for (int b = 0; b < B; b++)
    for (int i = 0; i < H; i++) {
      c[b][i] = g[b][i] * c[b][i] + g[b][i + H] * g[b][i + 2 * H];
      h[b][i] = g[b][i + 3 * H] * c[b][i];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(h[B / 2][H / 2]));
  return 0;
}
