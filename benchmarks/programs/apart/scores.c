/* scores: products of all queries with all keys, the largest of each query, and which key it is. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef Q
#define Q 1500
#endif
#ifndef K
#define K 1200
#endif
#ifndef D
#define D 64
#endif

static float query[Q][D], key[K][D], score[Q][K], most[Q];
static int which[Q];

static void initialise(void)
{
  for (int q = 0; q < Q; q++)
    for (int d = 0; d < D; d++)
      query[q][d] = (float)((q * 5 + d * 3) % 29) / 10;
  for (int k = 0; k < K; k++)
    for (int d = 0; d < D; d++)
      key[k][d] = (float)((k * 7 + d * 11) % 37) / 10;
}

static void kernel(void)
{
#pragma scop
  for (int q = 0; q < Q; q++) {
    most[q] = -1e30f;
    which[q] = 0;
    for (int k = 0; k < K; k++) {
      score[q][k] = 0;
      for (int d = 0; d < D; d++)
        score[q][k] += query[q][d] * key[k][d];
      if (score[q][k] > most[q]) {
        most[q] = score[q][k];
        which[q] = k;
      }
    }
  }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(which[Q / 2]));
  return 0;
}
