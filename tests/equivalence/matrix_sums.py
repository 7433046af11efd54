"""Sums of products of matrices and vectors, over one variable and over several."""

from __future__ import annotations

GEMM = """void f(int n, int m, int k, double C[restrict n][m], const double A[restrict n][k],
       const double B[restrict k][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int p = 0; p < k; p++)
        C[i][j] += A[i][p] * B[p][j];
}
"""
GEMM_TILE = """void f(int n, int m, int k, double C[restrict n][m], const double A[restrict n][k],
       const double B[restrict k][m]) {
  int i = 0;
  for (; i + 2 <= n; i += 2) {
    int j = 0;
    for (; j + 2 <= m; j += 2) {
      double c00 = 0.0, c01 = 0.0, c10 = 0.0, c11 = 0.0;
      for (int p = 0; p < k; p++) {
        c00 += A[i][p] * B[p][j];
        c01 += A[i][p] * B[p][j + 1];
        c10 += A[i + 1][p] * B[p][j];
        c11 += A[i + 1][p] * B[p][j + 1];
      }
      C[i][j] += c00;
      C[i][j + 1] += c01;
      C[i + 1][j] += c10;
      C[i + 1][j + 1] += c11;
    }
    for (; j < m; j++)
      for (int p = 0; p < k; p++) {
        C[i][j] += A[i][p] * B[p][j];
        C[i + 1][j] += A[i + 1][p] * B[p][j];
      }
  }
  for (; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int p = 0; p < k; p++)
        C[i][j] += A[i][p] * B[p][j];
}
"""
GEMM_BLOCKS = """void f(int n, int m, int k, double C[restrict n][m], const double A[restrict n][k],
       const double B[restrict k][m]) {
  for (int p0 = 0; p0 < k; p0 += 32)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) {
        double t = C[i][j];
        int end = p0 + 32 < k ? p0 + 32 : k;
        for (int p = p0; p < end; p++)
          t += A[i][p] * B[p][j];
        C[i][j] = t;
      }
}
"""
GEMM_ROW = """void f(int n, int m, int k, double C[restrict n][m], const double A[restrict n][k],
       const double B[restrict k][m]) {
  for (int i = 0; i < n; i++)
    for (int p = 0; p < k; p++) {
      double x = A[i][p];
      for (int j = 0; j < m; j++)
        C[i][j] += x * B[p][j];
    }
}
"""
CONVOLUTION = """void f(int n, double *restrict y, const double *restrict x, const double *restrict w) {
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
    for (int k = 0; k < 9; k++)
      y[i] += w[k] * x[i + k];
  }
}
"""
CONVOLUTION_THREE = """void f(int n, double *restrict y, const double *restrict x, const double *restrict w) {
  for (int i = 0; i < n; i++) {
    double t0 = 0.0, t1 = 0.0, t2 = 0.0;
    for (int k = 0; k < 9; k += 3) {
      t0 += w[k] * x[i + k];
      t1 += w[k + 1] * x[i + k + 1];
      t2 += w[k + 2] * x[i + k + 2];
    }
    y[i] = t0 + t1 + t2;
  }
}
"""
TRISOLV = """void f(int n, double *restrict x, const double L[restrict n][n], const double *restrict b) {
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}
"""
TRISOLV_TWO = """void f(int n, double *restrict x, const double L[restrict n][n], const double *restrict b) {
  for (int i = 0; i < n; i++) {
    double s0 = 0.0, s1 = 0.0;
    int j;
    for (j = 0; j + 1 < i; j += 2) {
      s0 += L[i][j] * x[j];
      s1 += L[i][j + 1] * x[j + 1];
    }
    for (; j < i; j++)
      s0 += L[i][j] * x[j];
    x[i] = (b[i] - (s0 + s1)) / L[i][i];
  }
}
"""
ATAX = """void f(int n, int m, double *restrict y, double *restrict tmp, const double A[restrict n][m],
       const double *restrict x) {
  for (int j = 0; j < m; j++)
    y[j] = 0.0;
  for (int i = 0; i < n; i++) {
    tmp[i] = 0.0;
    for (int j = 0; j < m; j++)
      tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < m; j++)
      y[j] = y[j] + A[i][j] * tmp[i];
  }
}
"""
ATAX_TWO = """void f(int n, int m, double *restrict y, double *restrict tmp, const double A[restrict n][m],
       const double *restrict x) {
  for (int j = 0; j < m; j++)
    y[j] = 0.0;
  for (int i = 0; i < n; i++) {
    double t0 = 0.0, t1 = 0.0;
    int j;
    for (j = 0; j + 1 < m; j += 2) {
      t0 += A[i][j] * x[j];
      t1 += A[i][j + 1] * x[j + 1];
    }
    if (j < m)
      t0 += A[i][j] * x[j];
    double t = t0 + t1;
    tmp[i] = t;
    for (j = 0; j < m; j++)
      y[j] += A[i][j] * t;
  }
}
"""
BICG = """void f(int n, int m, double *restrict s, double *restrict q, const double A[restrict n][m],
       const double *restrict p, const double *restrict r) {
  for (int j = 0; j < m; j++)
    s[j] = 0.0;
  for (int i = 0; i < n; i++) {
    q[i] = 0.0;
    for (int j = 0; j < m; j++) {
      s[j] = s[j] + r[i] * A[i][j];
      q[i] = q[i] + A[i][j] * p[j];
    }
  }
}
"""
BICG_SPLIT = """void f(int n, int m, double *restrict s, double *restrict q, const double A[restrict n][m],
       const double *restrict p, const double *restrict r) {
  for (int j = 0; j < m; j++) {
    double t0 = 0.0, t1 = 0.0;
    int i;
    for (i = 0; i + 1 < n; i += 2) {
      t0 += r[i] * A[i][j];
      t1 += r[i + 1] * A[i + 1][j];
    }
    for (; i < n; i++)
      t0 += r[i] * A[i][j];
    s[j] = t0 + t1;
  }
  for (int i = 0; i < n; i++) {
    double u = 0.0;
    for (int j = 0; j < m; j++)
      u += A[i][j] * p[j];
    q[i] = u;
  }
}
"""
ROWS = """void f(int n, int m, double y[restrict n], const double A[restrict n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += A[i][j];
}
"""
ROWS_FOUR = """void f(int n, int m, double y[restrict n], const double A[restrict n][m]) {
  int m4 = m / 4 * 4;
  for (int i = 0; i < n; i++) {
    double s0 = y[i], s1 = 0.0, s2 = 0.0, s3 = 0.0;
    for (int j = 0; j < m4; j += 4) {
      s0 += A[i][j];
      s1 += A[i][j + 1];
      s2 += A[i][j + 2];
      s3 += A[i][j + 3];
    }
    for (int j = m4; j < m; j++)
      s0 += A[i][j];
    y[i] = s0 + s1 + s2 + s3;
  }
}
"""
