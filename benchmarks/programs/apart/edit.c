/* edit: the distance of two words, all rows kept. */
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

static int table[N + 1][M + 1];
static char first[N], second[M];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    first[i] = (char)((i * i + 3 * i) % 4);
  for (int j = 0; j < M; j++)
    second[j] = (char)((j * j * 5 + j) % 4);
  for (int i = 0; i <= N; i++)
    table[i][0] = i;
  for (int j = 0; j <= M; j++)
    table[0][j] = j;
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++)
      table[i][j] = 1;
}

static void kernel(void)
{
#pragma scop
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++) {
      table[i][j] = table[i - 1][j - 1] + (first[i - 1] != second[j - 1]);
      table[i][j] = table[i - 1][j] + 1 < table[i][j] ? table[i - 1][j] + 1 : table[i][j];
      table[i][j] = table[i][j - 1] + 1 < table[i][j] ? table[i][j - 1] + 1 : table[i][j];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(table[N][M]));
  return 0;
}
