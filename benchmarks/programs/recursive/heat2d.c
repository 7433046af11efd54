/* heat2d: a heat equation on a grid, cache-oblivious: trapezoids in both directions of space and in time
 * [Frigo and Strumpen], cut in space where they are wide and in time where they are not. */
#include <stdio.h>
#include <time.h>
#ifndef N
#define N 300
#endif
#ifndef T
#define T 60
#endif
#define LONG 8
static double U[2][N][N];

static void walk(int t0, int t1, int x0, int dx0, int x1, int dx1, int y0, int dy0, int y1, int dy1)
{
  int dt = t1 - t0;
  if (dt > 1 && 2 * (x1 - x0) + (dx1 - dx0) * dt >= 4 * dt && x1 - x0 > LONG) {
    int xm = (2 * (x0 + x1) + (2 + dx0 + dx1) * dt) / 4;
    walk(t0, t1, x0, dx0, xm, -1, y0, dy0, y1, dy1);
    walk(t0, t1, xm, -1, x1, dx1, y0, dy0, y1, dy1);
  } else if (dt > 1 && 2 * (y1 - y0) + (dy1 - dy0) * dt >= 4 * dt && y1 - y0 > LONG) {
    int ym = (2 * (y0 + y1) + (2 + dy0 + dy1) * dt) / 4;
    walk(t0, t1, x0, dx0, x1, dx1, y0, dy0, ym, -1);
    walk(t0, t1, x0, dx0, x1, dx1, ym, -1, y1, dy1);
  } else if (dt > LONG) {
    int s = dt / 2;
    walk(t0, t0 + s, x0, dx0, x1, dx1, y0, dy0, y1, dy1);
    walk(t0 + s, t1, x0 + dx0 * s, dx0, x1 + dx1 * s, dx1, y0 + dy0 * s, dy0, y1 + dy1 * s, dy1);
  } else
    for (int t = t0; t < t1; t++) {
      for (int x = x0; x < x1; x++)
        for (int y = y0; y < y1; y++)
          U[(t + 1) % 2][x][y] = 0.125 * (U[t % 2][x + 1][y] - 2.0 * U[t % 2][x][y] + U[t % 2][x - 1][y])
            + 0.125 * (U[t % 2][x][y + 1] - 2.0 * U[t % 2][x][y] + U[t % 2][x][y - 1]) + U[t % 2][x][y];
      x0 += dx0, x1 += dx1, y0 += dy0, y1 += dy1;
    }
}

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      U[0][i][j] = U[1][i][j] = (i * 7 + j * 3) % 13;
  clock_t start = clock();
/*@ polycheck start spec
  for (t = 0; t < T; t++)
    for (x = 1; x < N - 1; x++)
      for (y = 1; y < N - 1; y++)
        U[(t + 1) % 2][x][y] = 0.125 * (U[t % 2][x + 1][y] - 2.0 * U[t % 2][x][y] + U[t % 2][x - 1][y])
          + 0.125 * (U[t % 2][x][y + 1] - 2.0 * U[t % 2][x][y] + U[t % 2][x][y - 1]) + U[t % 2][x][y];
*/
  walk(0, T, 1, 0, N - 1, 0, 1, 0, N - 1, 0);
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return U[0][N / 2][N / 3] < -1e9;
}
