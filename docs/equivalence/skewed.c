#define min(x, y) ((x) < (y) ? (x) : (y))
#define max(x, y) ((x) > (y) ? (x) : (y))

void blur(int n, int m, double *a, double *b)
{
#pragma scop
  for (int x = 0; x <= 2 * m + n; x += 32)
    for (int t = 0; t < m; t++)
      for (int y = max(x, 2 * t + 1); y <= min(x + 31, 2 * t + n - 1); y++) {
        if (y - 2 * t <= n - 2)
          b[y - 2 * t] = (a[y - 2 * t - 1] + a[y - 2 * t] + a[y - 2 * t + 1]) / 3;
        if (y - 2 * t >= 2)
          a[y - 2 * t - 1] = b[y - 2 * t - 1];
      }
#pragma endscop
}
