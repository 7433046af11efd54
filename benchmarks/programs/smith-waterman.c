/* smith-waterman: the best local alignment of two sequences, by dynamic programming. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#ifndef N
#define N 6000
#endif
#ifndef M
#define M 6000
#endif

static int H[N + 1][M + 1], a[N + 1], b[M + 1];

static void initialise(void)
{
  for (int i = 0; i <= N; i++) {
    a[i] = i * i % 7 % 4;
    for (int j = 1; i > 0 && j <= M; j++)
      H[i][j] = 1;
  }
  for (int j = 0; j <= M; j++)
    b[j] = j * 3 % 11 % 4;
}

static void kernel(void)
{
#pragma scop
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++) {
      H[i][j] = H[i - 1][j - 1] + (a[i] == b[j] ? 3 : -3);
      H[i][j] = H[i][j] > H[i - 1][j] - 2 ? H[i][j] : H[i - 1][j] - 2;
      H[i][j] = H[i][j] > H[i][j - 1] - 2 ? H[i][j] : H[i][j - 1] - 2;
      H[i][j] = H[i][j] > 0 ? H[i][j] : 0;
    }
#pragma endscop
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  initialise();
  double start = now();
  kernel();
  double seconds = now() - start;
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)H[N][M]);
  return 0;
}
