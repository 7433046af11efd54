/* out = the transpose of A times x; A has n rows of m columns */
void project(int n, int m, const double *A, const double *x, double *out)
{
  for (int j = 0; j < m; j++) {
    out[j] = 0;
    for (int i = 0; i < n; i++)
      out[j] += A[i * m + j] * x[i];
  }
}
