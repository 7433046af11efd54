"""Sums over several accumulators: functions, each with rewritings that are right and rewritings that are wrong."""

from __future__ import annotations

SUM = """double f(int n, const double *restrict a) {
  double s = 0.0;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}
"""
DOT = """double f(int n, const double *restrict a, const double *restrict b) {
  double s = 0.0;
  for (int i = 0; i < n; i++)
    s += a[i] * b[i];
  return s;
}
"""
FOUR = """double f(int n, const double *restrict a) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  int i;
  for (i = 0; i + 3 < n; i += 4) {
    s0 += a[i];
    s1 += a[i + 1];
    s2 += a[i + 2];
    s3 += a[i + 3];
  }
  for (; i < n; i++)
    s0 += a[i];
  return (s0 + s1) + (s2 + s3);
}
"""
REST_IN_S = """double f(int n, const double *restrict a) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  int i;
  for (i = 0; i <= n - 4; i += 4) {
    s0 += a[i];
    s1 += a[i + 1];
    s2 += a[i + 2];
    s3 += a[i + 3];
  }
  double s = s0 + s1 + s2 + s3;
  for (; i < n; i++)
    s += a[i];
  return s;
}
"""
ARRAY = """double f(int n, const double *restrict a) {
  double acc[4] = {0.0, 0.0, 0.0, 0.0};
  int i;
  for (i = 0; i + 4 <= n; i += 4)
    for (int l = 0; l < 4; l++)
      acc[l] += a[i + l];
  double s = 0.0;
  for (int l = 0; l < 4; l++)
    s += acc[l];
  for (; i < n; i++)
    s += a[i];
  return s;
}
"""
BLOCKS = """double f(int n, const double *restrict a) {
  double s = 0.0;
  for (int ib = 0; ib < n; ib += 64) {
    int end = ib + 64 < n ? ib + 64 : n;
    double t = 0.0;
    for (int i = ib; i < end; i++)
      t += a[i];
    s += t;
  }
  return s;
}
"""
DOT_FOUR = """double f(int n, const double *restrict a, const double *restrict b) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int n4 = n - n % 4;
  for (int i = 0; i < n4; i += 4) {
    s0 += a[i + 0] * b[i + 0];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  double s = s0 + s1 + s2 + s3;
  for (int i = n4; i < n; i++)
    s += a[i] * b[i];
  return s;
}
"""
DOT_LANES = """#include <immintrin.h>
double f(int n, const double *restrict a, const double *restrict b) {
  __m256d v = _mm256_setzero_pd();
  int i = 0;
  for (; i + 4 <= n; i += 4)
    v = _mm256_add_pd(v, _mm256_mul_pd(_mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i)));
  double lane[4];
  _mm256_storeu_pd(lane, v);
  double s = lane[0] + lane[1] + lane[2] + lane[3];
  for (; i < n; i++)
    s += a[i] * b[i];
  return s;
}
"""
