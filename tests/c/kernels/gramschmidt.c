/* Orthogonalisation, with the tags of a transformation script and no dummy loops. */
static void orthogonalise(int m, int n, double A[restrict M][N], double R[restrict N][N], double Q[restrict M][N])
{
  int i, j, k;
  double nrm;
#pragma scop
  for (k = 0; k < _PB_N; k++) {
    nrm = SCALAR_VAL(0.0);
    for (i = 0; i < _PB_M; i++)
      nrm += A[i][k] * A[i][k];
    R[k][k] = SQRT_FUN(nrm);
    for (i = 0; i < _PB_M; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (j = k + 1; j < _PB_N; j++) {
InitR:
      R[k][j] = SCALAR_VAL(0.0);
      for (i = 0; i < _PB_M; i++)
UpdateR: R[k][j] += Q[i][k] * A[i][j];
      for (i = 0; i < _PB_M; i++)
UpdateA: A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
#pragma endscop
}
