/* alignment: scores of the best alignments of two words, with a price for gaps. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 6000
#endif

static int one[N], two[N], score[N + 1][N + 1];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    one[i] = i * i % 7 % 4, two[i] = i * 3 % 11 % 4;
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i <= N; i++)
    score[i][0] = -2 * i;
  for (int j = 0; j <= N; j++)
    score[0][j] = -2 * j;
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++) {
      score[i][j] = score[i - 1][j - 1] + (one[i - 1] == two[j - 1] ? 1 : -1);
      score[i][j] = score[i - 1][j] - 2 > score[i][j] ? score[i - 1][j] - 2 : score[i][j];
      score[i][j] = score[i][j - 1] - 2 > score[i][j] ? score[i][j - 1] - 2 : score[i][j];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(score[N][N]));
  return 0;
}
