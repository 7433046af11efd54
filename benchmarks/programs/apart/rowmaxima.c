/* rowmaxima: the largest number of each row, and where it is. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 4000
#endif
#ifndef M
#define M 4000
#endif

static double a[N][M], most[N];
static int place[N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] = (double)((i * 17 + j * 23) % 1009);
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < N; i++) {
    most[i] = a[i][0];
    place[i] = 0;
    for (int j = 1; j < M; j++)
      if (a[i][j] > most[i]) {
        most[i] = a[i][j];
        place[i] = j;
      }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(most[N / 2] + place[N / 3]));
  return 0;
}
