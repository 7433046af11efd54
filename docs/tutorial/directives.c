void smooth(int n, double A[n][n], double B[n][n])
{
  #pragma omp parallel for
  #pragma omp tile sizes(32, 32)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      B[i][j] = (A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1]) / 4;
}
