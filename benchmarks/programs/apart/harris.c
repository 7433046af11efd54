/* harris: corners of a picture: gradients, their products, sums over 3 x 3, the response. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 1500
#endif
#ifndef M
#define M 1500
#endif

static float in[N][M], ix[N][M], iy[N][M], ixx[N][M], ixy[N][M], iyy[N][M];
static float sxx[N][M], sxy[N][M], syy[N][M], out[N][M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      in[i][j] = (float)((i * 7 + j * 3) % 255) / 255;
}

static void kernel(void)
{
#pragma scop
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++)
      iy[i][j] = in[i - 1][j - 1] * -0.08333333f + in[i + 1][j - 1] * 0.08333333f + in[i - 1][j] * -0.16666667f
        + in[i + 1][j] * 0.16666667f + in[i - 1][j + 1] * -0.08333333f + in[i + 1][j + 1] * 0.08333333f;
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++)
      ix[i][j] = in[i - 1][j - 1] * -0.08333333f + in[i - 1][j + 1] * 0.08333333f + in[i][j - 1] * -0.16666667f
        + in[i][j + 1] * 0.16666667f + in[i + 1][j - 1] * -0.08333333f + in[i + 1][j + 1] * 0.08333333f;
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++) {
      ixx[i][j] = ix[i][j] * ix[i][j];
      ixy[i][j] = ix[i][j] * iy[i][j];
      iyy[i][j] = iy[i][j] * iy[i][j];
    }
  for (int i = 2; i < N - 2; i++)
    for (int j = 2; j < M - 2; j++) {
      sxx[i][j] = 0;
      sxy[i][j] = 0;
      syy[i][j] = 0;
      for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) {
          sxx[i][j] += ixx[i + y][j + x];
          sxy[i][j] += ixy[i + y][j + x];
          syy[i][j] += iyy[i + y][j + x];
        }
    }
  for (int i = 2; i < N - 2; i++)
    for (int j = 2; j < M - 2; j++) {
      float det = sxx[i][j] * syy[i][j] - sxy[i][j] * sxy[i][j];
      float trace = sxx[i][j] + syy[i][j];
      out[i][j] = det - 0.04f * trace * trace;
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
