/* bilateral: every pixel as the mean of its neighbours, those of another brightness counted less. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 1000
#endif
#ifndef M
#define M 1000
#endif
#ifndef W
#define W 3
#endif

static float in[N][M], out[N][M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      in[i][j] = (float)((i * 5 + j * 3) % 23), out[i][j] = 0;
}

static void kernel(void)
{
#pragma scop
  for (int i = W; i < N - W; i++)
    for (int j = W; j < M - W; j++) {
      float weights = 0, sum = 0;
      for (int k = -W; k <= W; k++)
        for (int l = -W; l <= W; l++) {
          float other = in[i + k][j + l];
          float weight = 1 / (1 + (other - in[i][j]) * (other - in[i][j]));
          weights += weight;
          sum += weight * other;
        }
      out[i][j] = sum / weights;
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(out[N / 2][M / 2]));
  return 0;
}
