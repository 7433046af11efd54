/* heat2p: a heat equation on a torus, cache-oblivious: the wrapped direction is cut into trapezoids that
 * shrink, then those that fill the gaps between them; the other one is run as it is. */
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

static void step(int t, int from, int to)
{
  for (int r = from; r < to; r++) {
    int x = r % N;
    for (int y = 0; y < N; y++)
      U[(t + 1) % 2][x][y] = 0.2 * (U[t % 2][x][y] + U[t % 2][(x + 1) % N][y] + U[t % 2][(x + N - 1) % N][y]
        + U[t % 2][x][(y + 1) % N] + U[t % 2][x][(y + N - 1) % N]);
  }
}

static void walk(int t0, int t1, int x0, int dx0, int x1, int dx1)
{
  int dt = t1 - t0;
  if (dt > 1 && 2 * (x1 - x0) + (dx1 - dx0) * dt >= 4 * dt && x1 - x0 > LONG) {
    int xm = (2 * (x0 + x1) + (2 + dx0 + dx1) * dt) / 4;
    walk(t0, t1, x0, dx0, xm, -1);
    walk(t0, t1, xm, -1, x1, dx1);
  } else if (dt > LONG) {
    int s = dt / 2;
    walk(t0, t0 + s, x0, dx0, x1, dx1);
    walk(t0 + s, t1, x0 + dx0 * s, dx0, x1 + dx1 * s, dx1);
  } else
    for (int t = t0; t < t1; t++) {
      step(t, x0, x1);
      x0 += dx0, x1 += dx1;
    }
}

/* Around the torus: a trapezoid that shrinks from both sides, then one that grows into the gap. */
static void torus(int t0, int t1)
{
  int most = N / 2 - 1 > 0 ? N / 2 - 1 : 1;
  if (t1 - t0 > most) {
    torus(t0, t0 + most);
    torus(t0 + most, t1);
  } else {
    walk(t0, t1, 0, 1, N, -1);
    walk(t0, t1, N, -1, N, 1);
  }
}

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      U[0][i][j] = (i * 7 + j * 3) % 13;
  clock_t start = clock();
/*@ polycheck start spec
  for (t = 0; t < T; t++)
    for (x = 0; x < N; x++)
      for (y = 0; y < N; y++)
        U[(t + 1) % 2][x][y] = 0.2 * (U[t % 2][x][y] + U[t % 2][x < N - 1 ? x + 1 : 0][y]
          + U[t % 2][x > 0 ? x - 1 : N - 1][y]
          + U[t % 2][x][y < N - 1 ? y + 1 : 0] + U[t % 2][x][y > 0 ? y - 1 : N - 1]);
*/
  torus(0, T);
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return U[0][N / 2][N / 3] < -1e9;
}
