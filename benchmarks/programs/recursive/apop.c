/* apop: the price of an American put option, by steps back in time, cache-oblivious in the price and in time;
 * a cell is worth what exercising it pays at least. */
#include <stdio.h>
#include <time.h>
#ifndef N
#define N 4000
#endif
#ifndef T
#define T 1500
#endif
#define LONG 16
static double F[2][N], payoff[N], up[N], stay[N], down[N];

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
      for (int x = x0; x < x1; x++)
        F[(t + 1) % 2][x] = up[x] * F[t % 2][x + 1] + stay[x] * F[t % 2][x] + down[x] * F[t % 2][x - 1] > payoff[x]
          ? up[x] * F[t % 2][x + 1] + stay[x] * F[t % 2][x] + down[x] * F[t % 2][x - 1] : payoff[x];
      x0 += dx0, x1 += dx1;
    }
}

int main(void)
{
  for (int x = 0; x < N; x++) {
    payoff[x] = x < N / 2 ? 1.0 - (2.0 * x) / N : 0.0;
    F[0][x] = F[1][x] = payoff[x];
    up[x] = 0.25 + 0.1 * x / N;
    stay[x] = 0.45;
    down[x] = 0.29 - 0.1 * x / N;
  }
  clock_t start = clock();
/*@ polycheck start spec
  for (t = 0; t < T; t++)
    for (x = 1; x < N - 1; x++)
      F[(t + 1) % 2][x] = up[x] * F[t % 2][x + 1] + stay[x] * F[t % 2][x] + down[x] * F[t % 2][x - 1] > payoff[x]
        ? up[x] * F[t % 2][x + 1] + stay[x] * F[t % 2][x] + down[x] * F[t % 2][x - 1] : payoff[x];
*/
  walk(0, T, 1, 0, N - 1, 0);
/*@ polycheck end */
  printf("%.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
  return F[0][N / 2] < -1e9;
}
