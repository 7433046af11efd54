/* predecessors: shortest paths between all nodes, and the node before the last one on each. */
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include "../timed.h"
#ifndef N
#define N 500
#endif

static double dist[N][N];
static int before[N][N];

static void initialise(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      dist[i][j] = i == j ? 0.0 : (double)((i * 37 + j * 101) % 997 + 1);
      before[i][j] = i;
    }
}

static void kernel(void)
{
#pragma scop
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        before[i][j] = dist[i][k] + dist[k][j] < dist[i][j] ? before[k][j] : before[i][j];
        dist[i][j] = dist[i][k] + dist[k][j] < dist[i][j] ? dist[i][k] + dist[k][j] : dist[i][j];
      }
#pragma endscop
}

/* --time: seconds in the region; otherwise a result, so that none is computed in vain. */
int main(int argc, char **argv)
{
  double seconds = timed();
  printf("%.9f\n", argc > 1 && !strcmp(argv[1], "--time") ? seconds : (double)(dist[N / 2][N / 3] + before[N / 3][N / 2]));
  return 0;
}
