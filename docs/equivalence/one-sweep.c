void blur(int n, int m, double *a, double *b)
{
#pragma scop
  for (int t = 0; t < m; t++) {
    double left = a[0], here;
    for (int i = 1; i < n - 1; i++) {
      here = a[i];
      b[i] = (here + left + a[i + 1]) / 3;
      a[i] = b[i];
      left = here;
    }
  }
#pragma endscop
}
