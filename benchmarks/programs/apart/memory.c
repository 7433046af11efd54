/* memory: the steps of a recurrent network with gates, for a batch of sequences. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef T
#define T 12
#endif
#ifndef S
#define S 48
#endif
#ifndef N
#define N 160
#endif

static double x[T][S][N], h[T + 1][S][N], c[T + 1][S][N], Wf[N][N], Uf[N][N], Wg[N][N], Ug[N][N];
static double forget[S][N], given[S][N];

static void initialise(void)
{
  for (int t = 0; t < T; t++)
    for (int s = 0; s < S; s++)
      for (int n = 0; n < N; n++)
        x[t][s][n] = (double)((t + s * 3 + n * 5) % 23) / 23 - 0.5;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      Wf[i][j] = (double)((i + j) % 13) / 130, Uf[i][j] = (double)((i * 3 + j) % 11) / 110;
      Wg[i][j] = (double)((i + j * 5) % 7) / 70, Ug[i][j] = (double)((i * 2 + j) % 5) / 50;
    }
}

static void kernel(void)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int s = 0; s < S; s++)
      for (int n = 0; n < N; n++) {
        forget[s][n] = 0.0;
        given[s][n] = 0.0;
        for (int k = 0; k < N; k++) {
          forget[s][n] += Wf[n][k] * x[t][s][k] + Uf[n][k] * h[t][s][k];
          given[s][n] += Wg[n][k] * x[t][s][k] + Ug[n][k] * h[t][s][k];
        }
      }
    for (int s = 0; s < S; s++)
      for (int n = 0; n < N; n++) {
        c[t + 1][s][n] = c[t][s][n] / (1.0 + forget[s][n] * forget[s][n]) + given[s][n] * 0.5;
        h[t + 1][s][n] = c[t + 1][s][n] / (1.0 + c[t + 1][s][n] * c[t + 1][s][n]);
      }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(h[T][S / 2][N / 2]));
  return 0;
}
