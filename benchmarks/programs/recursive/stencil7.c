/* stencil7: 7 points in three dimensions, cache-oblivious: trapezoids in every direction of space and in
 * time, cut in space where they are wide and in time where they are not. */
#include <stdio.h>
#include <time.h>
#ifndef N
#define N 80
#endif
#ifndef T
#define T 24
#endif
#define LONG 6
static double U[2][N][N][N], c0 = 0.4, c1 = 0.1;

/* From `from` to `to` at the first step; the bounds move by `dfrom` and `dto` with each. */
struct side {
  int from, dfrom, to, dto;
};

static struct side later(struct side one, int steps)
{
  struct side moved = {one.from + one.dfrom * steps, one.dfrom, one.to + one.dto * steps, one.dto};
  return moved;
}

static int is_wide(struct side one, int steps)
{
  return steps > 1 && 2 * (one.to - one.from) + (one.dto - one.dfrom) * steps >= 4 * steps
         && one.to - one.from > LONG;
}

static int middle(struct side one, int steps)
{
  return (2 * (one.from + one.to) + (2 + one.dfrom + one.dto) * steps) / 4;
}

static struct side before(struct side one, int at)
{
  struct side part = {one.from, one.dfrom, at, -1};
  return part;
}

static struct side after(struct side one, int at)
{
  struct side part = {at, -1, one.to, one.dto};
  return part;
}

static void walk(int t0, int t1, struct side a, struct side b, struct side c)
{
  int steps = t1 - t0;
  if (is_wide(a, steps)) {
    int at = middle(a, steps);
    walk(t0, t1, before(a, at), b, c);
    walk(t0, t1, after(a, at), b, c);
  } else if (is_wide(b, steps)) {
    int at = middle(b, steps);
    walk(t0, t1, a, before(b, at), c);
    walk(t0, t1, a, after(b, at), c);
  } else if (is_wide(c, steps)) {
    int at = middle(c, steps);
    walk(t0, t1, a, b, before(c, at));
    walk(t0, t1, a, b, after(c, at));
  } else if (steps > LONG) {
    int s = steps / 2;
    walk(t0, t0 + s, a, b, c);
    walk(t0 + s, t1, later(a, s), later(b, s), later(c, s));
  } else
    for (int t = t0; t < t1; t++) {
      int x0 = a.from + a.dfrom * (t - t0), x1 = a.to + a.dto * (t - t0);
      int y0 = b.from + b.dfrom * (t - t0), y1 = b.to + b.dto * (t - t0);
      int z0 = c.from + c.dfrom * (t - t0), z1 = c.to + c.dto * (t - t0);
      for (int x = x0; x < x1; x++)
        for (int y = y0; y < y1; y++)
          for (int z = z0; z < z1; z++)
            U[(t + 1) % 2][x][y][z] =
              c0 * U[t % 2][x][y][z]
              + c1 * (U[t % 2][x - 1][y][z] + U[t % 2][x][y - 1][z] + U[t % 2][x][y][z - 1]
                + U[t % 2][x][y][z + 1] + U[t % 2][x][y + 1][z] + U[t % 2][x + 1][y][z]);
    }
}

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        U[0][i][j][k] = U[1][i][j][k] = (i * 7 + j * 3 + k) % 13;
  clock_t start = clock();
/*@ polycheck start spec
  for (t = 0; t < T; t++)
    for (x = 1; x < N - 1; x++)
      for (y = 1; y < N - 1; y++)
        for (z = 1; z < N - 1; z++)
          U[(t + 1) % 2][x][y][z] =
            c0 * U[t % 2][x][y][z]
            + c1 * (U[t % 2][x - 1][y][z] + U[t % 2][x][y - 1][z] + U[t % 2][x][y][z - 1]
              + U[t % 2][x][y][z + 1] + U[t % 2][x][y + 1][z] + U[t % 2][x + 1][y][z]);
*/
  struct side all = {1, 0, N - 1, 0};
  walk(0, T, all, all, all);
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return U[0][N / 2][N / 3][N / 4] < -1e9;
}
