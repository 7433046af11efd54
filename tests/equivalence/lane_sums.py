"""Sums over the lanes of vectors."""

from __future__ import annotations

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

VECTOR_TYPE = """typedef double v4 __attribute__((vector_size(32)));
double f(int n, const double *restrict a) {
  v4 acc = {0.0, 0.0, 0.0, 0.0};
  int i;
  for (i = 0; i + 4 <= n; i += 4) {
    v4 x = {a[i], a[i + 1], a[i + 2], a[i + 3]};
    acc = acc + x;
  }
  double s = acc[0] + acc[1] + acc[2] + acc[3];
  for (; i < n; i++)
    s += a[i];
  return s;
}
"""
LANES_HALVES = """#include <immintrin.h>
double f(int n, const double *restrict a) {
  __m256d v = _mm256_setzero_pd();
  int i = 0;
  for (; i + 4 <= n; i += 4)
    v = _mm256_add_pd(v, _mm256_loadu_pd(a + i));
  __m128d low = _mm256_castpd256_pd128(v);
  __m128d high = _mm256_extractf128_pd(v, 1);
  low = _mm_add_pd(low, high);
  __m128d swapped = _mm_unpackhi_pd(low, low);
  double s = _mm_cvtsd_f64(_mm_add_sd(low, swapped));
  for (; i < n; i++)
    s += a[i];
  return s;
}
"""
LANES_TWO = """#include <immintrin.h>
double f(int n, const double *restrict a) {
  __m256d v0 = _mm256_setzero_pd(), v1 = _mm256_setzero_pd();
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    v0 = _mm256_add_pd(v0, _mm256_loadu_pd(a + i));
    v1 = _mm256_add_pd(v1, _mm256_loadu_pd(a + i + 4));
  }
  v0 = _mm256_add_pd(v0, v1);
  double lane[4];
  _mm256_storeu_pd(lane, v0);
  double s = (lane[0] + lane[1]) + (lane[2] + lane[3]);
  for (; i < n; i++)
    s += a[i];
  return s;
}
"""
LANES_HADD = """#include <immintrin.h>
double f(int n, const double *restrict a) {
  __m256d v = _mm256_setzero_pd();
  int i = 0;
  for (; i + 4 <= n; i += 4)
    v = _mm256_add_pd(v, _mm256_loadu_pd(a + i));
  __m128d low = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  low = _mm_hadd_pd(low, low);
  double s = _mm_cvtsd_f64(low);
  for (; i < n; i++)
    s += a[i];
  return s;
}
"""
