/* Shortest paths: a ternary over the elements, written on several lines. */
static void paths(int n, int path[restrict n][n])
{
#pragma scop
  for (int k = 0; k < POLYBENCH_LOOP_BOUND(2800, n); k++)
    for (int i = 0; i < POLYBENCH_LOOP_BOUND(2800, n); i++)
      for (int j = 0; j < POLYBENCH_LOOP_BOUND(2800, n); j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j]
                     ? path[i][j]
                     : path[i][k] + path[k][j];
#pragma endscop
}
