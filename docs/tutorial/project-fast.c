/* out = the transpose of A times x; A has n rows of m columns */
void project(int n, int m, const double *A, const double *x, double *out)
{
#define floord(n, d) ((n) / (d) - ((n) % (d) < 0))
#define max(a, b) ((a) > (b) ? (a) : (b))
  for (int j = 0; j < m; j++)
    out[j] = 0;
  for (int iT = 0; iT < floord(n, 8); iT++)
    for (int j = 0; j < m; j++) {
      out[j] += A[(8 * iT) * m + j] * x[8 * iT];
      out[j] += A[(8 * iT + 1) * m + j] * x[8 * iT + 1];
      out[j] += A[(8 * iT + 2) * m + j] * x[8 * iT + 2];
      out[j] += A[(8 * iT + 3) * m + j] * x[8 * iT + 3];
      out[j] += A[(8 * iT + 4) * m + j] * x[8 * iT + 4];
      out[j] += A[(8 * iT + 5) * m + j] * x[8 * iT + 5];
      out[j] += A[(8 * iT + 6) * m + j] * x[8 * iT + 6];
      out[j] += A[(8 * iT + 7) * m + j] * x[8 * iT + 7];
    }
  for (int i = max(0, n - 7); i < n; i++)
    if (8 * (i / 8) + 7 >= n)
      for (int j = 0; j < m; j++)
        out[j] += A[i * m + j] * x[i];
}
