/* triangles: how many triangles each edge of a graph is in, by its matrix. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 600
#endif

static int edge[N][N], count[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      edge[i][j] = i != j && (i * 31 + j * 31 + i * j) % 5 == 0;
}

static void kernel(void)
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) {
      count[i][j] = 0;
      for (int k = 0; k < N; k++)
        count[i][j] += edge[i][j] * edge[i][k] * edge[k][j];
    }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(count[N / 2][N / 3]));
  return 0;
}
