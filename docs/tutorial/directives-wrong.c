void sweep(int n, double A[n][n])
{
  #pragma omp tile sizes(32, 32)
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n - 1; j++)
      A[i][j] = (A[i][j] + A[i-1][j+1]) / 2;
}
