"""Sums of one array, over one variable and over several."""

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
EIGHT_PARTS = """double f(int n, const double *restrict a) {
  double part[8];
  for (int t = 0; t < 8; t++) {
    part[t] = 0.0;
    for (int i = t; i < n; i += 8)
      part[t] += a[i];
  }
  double s = 0.0;
  for (int t = 0; t < 8; t++)
    s += part[t];
  return s;
}
"""
TREE = """double f(int n, const double *restrict a) {
  double acc[4];
  for (int l = 0; l < 4; l++)
    acc[l] = 0.0;
  for (int i = 0; i < n; i++)
    acc[i % 4] += a[i];
  acc[0] += acc[2];
  acc[1] += acc[3];
  return acc[0] + acc[1];
}
"""
BACKWARDS = """double f(int n, const double *restrict a) {
  double s = 0.0;
  for (int i = n - 1; i >= 0; i--)
    s += a[i];
  return s;
}
"""
TWO_HALVES = """double f(int n, const double *restrict a) {
  double s = 0.0, t = 0.0;
  int h = n / 2;
  for (int i = 0; i < h; i++)
    s += a[i];
  for (int i = h; i < n; i++)
    t += a[i];
  return s + t;
}
"""
SIMD = """double f(int n, const double *restrict a) {
  double s = 0.0;
#pragma omp simd reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}
"""
PARALLEL = SIMD.replace("omp simd", "omp parallel for")
ONE_BY_ONE = """double f(int n, const double *restrict a) {
  double s = 0.0;
  int i;
  for (i = 0; i + 3 < n; i += 4)
    s += a[i] + a[i + 1] + a[i + 2] + a[i + 3];
  for (; i < n; i++)
    s += a[i];
  return s;
}
"""
FIRST = """double f(int n, const double *restrict a) {
  double s = a[0];
  for (int i = 1; i < n; i++)
    s += a[i];
  return s;
}
"""
PRODUCT_OLD = SUM.replace("s = 0.0", "s = 1.0").replace("s += ", "s *= ")
PRODUCT_NEW = """double f(int n, const double *restrict a) {
  double p0 = 1.0, p1 = 1.0;
  int i;
  for (i = 0; i + 1 < n; i += 2) {
    p0 *= a[i];
    p1 *= a[i + 1];
  }
  if (i < n)
    p0 *= a[i];
  return p0 * p1;
}
"""
LARGEST = """double f(int n, const double *restrict a) {
  double m = a[0];
  for (int i = 1; i < n; i++)
    if (a[i] > m)
      m = a[i];
  return m;
}
"""
LARGEST_FOUR = """double f(int n, const double *restrict a) {
  double m0 = a[0], m1 = a[0], m2 = a[0], m3 = a[0];
  int i;
  for (i = 0; i + 3 < n; i += 4) {
    m0 = a[i] > m0 ? a[i] : m0;
    m1 = a[i + 1] > m1 ? a[i + 1] : m1;
    m2 = a[i + 2] > m2 ? a[i + 2] : m2;
    m3 = a[i + 3] > m3 ? a[i + 3] : m3;
  }
  for (; i < n; i++)
    m0 = a[i] > m0 ? a[i] : m0;
  m0 = m1 > m0 ? m1 : m0;
  m2 = m3 > m2 ? m3 : m2;
  return m2 > m0 ? m2 : m0;
}
"""
UNSIGNED = SUM.replace("double", "unsigned").replace("0.0", "0")
UNSIGNED_FOUR = FOUR.replace("double", "unsigned").replace("0.0", "0")
SIGNED = SUM.replace("double", "int").replace("0.0", "0")
SIGNED_FOUR = FOUR.replace("double", "int").replace("0.0", "0")
COUNTED = """double f(int n, const double *restrict a) {
  double s = 0.0;
  for (int i = 0; i < n; i++)
    if (a[i] > 0.0)
      s += a[i];
  return s;
}
"""
COUNTED_TWO = """double f(int n, const double *restrict a) {
  double s0 = 0.0, s1 = 0.0;
  int i;
  for (i = 0; i + 1 < n; i += 2) {
    s0 += a[i] > 0.0 ? a[i] : 0.0;
    s1 += a[i + 1] > 0.0 ? a[i + 1] : 0.0;
  }
  for (; i < n; i++)
    s0 += a[i] > 0.0 ? a[i] : 0.0;
  return s0 + s1;
}
"""
COUNT = """int f(int n, double x, const double *restrict a) {
  int c = 0;
  for (int i = 0; i < n; i++)
    if (a[i] < x)
      c++;
  return c;
}
"""
COUNT_TWO = """int f(int n, double x, const double *restrict a) {
  int c0 = 0, c1 = 0, i;
  for (i = 0; i + 1 < n; i += 2) {
    c0 += a[i] < x;
    c1 += a[i + 1] < x;
  }
  if (i < n)
    c0 += a[i] < x;
  return c0 + c1;
}
"""
