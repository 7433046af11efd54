"""Pairs of regions that compute the same, each with what was done to the first."""

from __future__ import annotations

COPY = "for (i = 0; i < n; i++) a[i] = b[i] + 1;"
STENCIL = """
for (t = 0; t < m; t++) {
  for (i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
  for (i = 1; i < n - 1; i++) a[i] = b[i];
}
"""
SEIDEL = """
for (t = 0; t < m; t++)
  for (i = 1; i < n - 1; i++)
    a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
"""
PRODUCT = """
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++) {
    C[i][j] = 0;
    for (k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
  }
"""
MEAN = """
for (j = 0; j < n; j++) {
  a[j] = 0;
  for (i = 0; i < n; i++) a[j] += A[i][j];
  a[j] = a[j] / n;
}
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++) A[i][j] -= a[j];
"""

RIGHT: dict[str, tuple[str, str]] = {
    # The same instances in another order.
    "unrolled by two": (
        COPY,
        """
for (i = 0; i + 1 < n; i += 2) {
  a[i] = b[i] + 1;
  a[i + 1] = b[1 + i] + 1;
}
if (n % 2 == 1) a[n - 1] = b[n - 1] + 1;
""",
    ),
    "tiled": (COPY, "for (j = 0; j < n; j += 32) for (k = j; k < n && k < j + 32; k++) a[k] = b[k] + 1;"),
    "tiled in two dimensions": (
        PRODUCT,
        """
for (i = 0; i < n; i++) for (j = 0; j < n; j++) C[i][j] = 0;
for (int x = 0; x < n; x += 16)
  for (int y = 0; y < n; y += 16)
    for (k = 0; k < n; k++)
      for (i = x; i < n && i < x + 16; i++)
        for (j = y; j < n && j < y + 16; j++) C[i][j] += A[i][k] * B[k][j];
""",
    ),
    "split and reversed": (
        COPY,
        """
for (i = n - 1; i >= 5; i--) a[i] = b[i] + 1;
for (i = 0; i < n && i < 5; i++) a[i] = b[i] + 1;
""",
    ),
    "shifted and renamed": (COPY, "for (int x = 3; x <= n + 2; x++) a[x - 3] = (b[x - 3] + 1);"),
    "time loop renamed and shifted": (STENCIL, STENCIL.replace("t = 0; t < m; t++", "j = 1; j <= m; j++")),
    "time loop strip-mined": (
        STENCIL,
        """
for (j = 0; j < m; j += 4)
  for (t = j; t < m && t < j + 4; t++) {
    for (i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
    for (i = 1; i < n - 1; i++) a[i] = b[i];
  }
""",
    ),
    "time loop unrolled": (
        STENCIL,
        """
for (t = 0; t < m / 2; t++) {
  for (i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
  for (i = 1; i < n - 1; i++) a[i] = b[i];
  for (i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
  for (i = 1; i < n - 1; i++) a[i] = b[i];
}
if (m > 0 && m % 2 == 1) {
  for (i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
  for (i = 1; i < n - 1; i++) a[i] = b[i];
}
""",
    ),
    "a stencil skewed": (
        SEIDEL,
        """
for (t = 0; t < m; t++)
  for (j = 2 * t + 1; j < 2 * t + n - 1; j++)
    a[j - 2 * t] = (a[j - 2 * t - 1] + a[j - 2 * t] + a[j - 2 * t + 1]) / 3;
""",
    ),
    "a stencil by wave fronts": (
        SEIDEL,
        """
for (j = 1; j < 2 * m + n - 3; j++)
  for (t = 0; t < m; t++)
    if (j - 2 * t >= 1 && j - 2 * t < n - 1)
      a[j - 2 * t] = (a[j - 2 * t - 1] + a[j - 2 * t] + a[j - 2 * t + 1]) / 3;
""",
    ),
    "a stencil by wave fronts of slope one": (
        SEIDEL,
        """
for (j = 1; j < m + n - 2; j++)
  for (t = 0; t < m; t++)
    if (j - t >= 1 && j - t < n - 1)
      a[j - t] = (a[j - t - 1] + a[j - t] + a[j - t + 1]) / 3;
""",
    ),
    "distributed and interchanged": (
        PRODUCT,
        """
for (j = 0; j < n; j++) for (i = 0; i < n; i++) C[i][j] = 0;
for (k = 0; k < n; k++)
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) C[i][j] += A[i][k] * B[k][j];
""",
    ),
    "fused": (
        "for (i = 0; i < n; i++) a[i] = b[i]; for (i = 0; i < n; i++) c[i] = a[i];",
        "for (i = 0; i < n; i++) { a[i] = b[i]; c[i] = a[i]; }",
    ),
    "fused with a shift": (
        "for (i = 0; i < n; i++) a[i] = b[i]; for (i = 1; i < n; i++) c[i] = a[i] + a[i - 1];",
        """
if (n > 0) a[0] = b[0];
for (i = 1; i < n; i++) { a[i] = b[i]; c[i] = a[i] + a[i - 1]; }
""",
    ),
    "a local integer written out": (
        "for (i = 0; i < n; i++) { int last = n - 1 - i; a[last] = b[i]; }",
        "for (i = 0; i < n; i++) a[i] = b[n - 1 - i];",
    ),
    "two statements with the same text": (
        "for (t = 0; t < m; t++) {"
        "  for (i = 0; i < n; i++) { a[i] = 0; b[i] += a[i]; }"
        "  for (i = 0; i < n; i++) { a[i] = 0; c[i] += a[i]; } }",
        "for (t = 0; t < m; t++) {"
        "  for (i = 0; i < n; i++) { a[i] = 0; c[i] += a[i]; }"
        "  for (i = 0; i < n; i++) { a[i] = 0; b[i] += a[i]; } }",
    ),
    "a condition on data kept whole": (
        "for (i = 0; i < n; i++) if (a[i] > 0) { b[i] = a[i]; c[i] = 1; }",
        "for (j = n - 1; j >= 0; j--) if (a[j] > 0) { b[j] = a[j]; c[j] = 1; }",
    ),
    "conditions on data in a time loop that is unrolled": (
        "for (t = 0; t < m; t++) for (i = 0; i < n; i++) if (a[i] > 0) { b[i] = a[i]; a[i] -= c[i]; }",
        """
for (t = 0; t < m / 2; t++) {
  for (i = 0; i < n; i++) if (a[i] > 0) { b[i] = a[i]; a[i] -= c[i]; }
  for (i = 0; i < n; i++) if (a[i] > 0) { b[i] = a[i]; a[i] -= c[i]; }
}
if (m > 0 && m % 2 == 1)
  for (i = 0; i < n; i++) if (a[i] > 0) { b[i] = a[i]; a[i] -= c[i]; }
""",
    ),
    "conditions on data in a time loop that counts down by two": (
        "for (t = 0; t < m; t++) for (i = 0; i < n; i++) if (a[i] > 0) { b[i] = a[i]; a[i] -= c[i]; }",
        """
for (j = 2 * m; j > 0; j -= 2)
  for (i = 0; i < n; i++) if (a[i] > 0) { b[i] = a[i]; a[i] -= c[i]; }
""",
    ),
    # The same values.
    "operands swapped": (COPY, "for (i = 0; i < n; i++) a[i] = 1 + b[i];"),
    "operands swapped in a chain": (
        "for (i = 1; i < n - 1; i++) a[i] = b[i - 1] * 2 + b[i] * c[i] + b[i + 1];",
        "for (i = 1; i < n - 1; i++) a[i] = b[i + 1] + (c[i] * b[i] + 2 * b[i - 1]);",
    ),
    "a compound assignment written out": (
        "for (i = 0; i < n; i++) { a[i] += b[i]; a[i] *= 2; }",
        "for (i = 0; i < n; i++) { a[i] = a[i] + b[i]; a[i] = 2 * a[i]; }",
    ),
    "a statement split by a temporary": (
        "for (i = 0; i < n; i++) a[i] = (b[i] + c[i]) * 2;",
        "for (i = 0; i < n; i++) { double x = b[i] + c[i]; a[i] = x * 2; }",
    ),
    "a temporary substituted": (
        "for (i = 0; i < n; i++) { double x = b[i] + c[i]; double y = x * 2; a[i] = y; }",
        "for (i = 0; i < n; i++) a[i] = (b[i] + c[i]) * 2;",
    ),
    "a scalar accumulator": (
        PRODUCT,
        """
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++) {
    double sum = 0;
    for (k = 0; k < n; k++) sum += A[i][k] * B[k][j];
    C[i][j] = sum;
  }
""",
    ),
    "a scalar expanded": (
        "for (i = 0; i < 1000; i++) { double x = b[i] * 2; a[i] = x + c[i]; }",
        """
double y[1000];
for (i = 0; i < 1000; i++) y[i] = b[i] * 2;
for (i = 0; i < 1000; i++) a[i] = y[i] + c[i];
""",
    ),
    "a copy forwarded": (
        "for (i = 0; i < n; i++) a[i] = b[i]; for (i = 0; i < n; i++) c[i] = a[i] + 1;",
        "for (i = 0; i < n; i++) c[i] = b[i] + 1; for (i = 0; i < n; i++) a[i] = b[i];",
    ),
    "a dead write left out": (
        "for (i = 0; i < n; i++) a[i] = 7; for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n; i++) a[i] = b[i];",
    ),
    "a write repeated": (
        "for (i = 0; i < n; i++) a[i] = 0;",
        "for (i = 0; i < n; i++) { a[i] = 0; a[i] = 0; }",
    ),
    "an initialisation peeled": (
        "for (i = 0; i < n; i++) { a[i] = 0; for (j = 0; j < n; j++) a[i] += A[i][j]; }",
        """
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++) {
    if (j == 0) a[i] = 0;
    a[i] += A[i][j];
  }
""",
    ),
    "a scalar kept in a register": (
        "for (i = 1; i < n; i++) a[i] = a[i - 1] + b[i];",
        "double x = a[0]; for (i = 1; i < n; i++) { x = x + b[i]; a[i] = x; }",
    ),
    "two recurrences, one of them by a copy": (
        "for (t = 0; t < m; t++) { for (i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];"
        " for (i = 1; i < n - 1; i++) a[i] = b[i]; }",
        "for (t = 0; t < m; t++) { for (i = 1; i < n - 1; i++) b[i] = a[i + 1] + a[i - 1];"
        " for (i = n - 2; i >= 1; i--) { double x = b[i]; a[i] = x; } }",
    ),
    "a mean by a scalar": (
        MEAN,
        """
for (j = 0; j < n; j++) {
  double x = 0;
  for (i = 0; i < n; i++) x = A[i][j] + x;
  a[j] = x / n;
  for (i = 0; i < n; i++) A[i][j] = A[i][j] - a[j];
}
""",
    ),
    "a condition on data as a choice": (
        "for (i = 0; i < n; i++) if (a[i] < 0) a[i] = 0;",
        "for (i = 0; i < n; i++) a[i] = a[i] < 0 ? 0 : a[i];",
    ),
    "a comparison the other way round": (
        "for (i = 0; i < n; i++) a[i] = b[i] > c[i] ? b[i] : c[i];",
        "for (i = 0; i < n; i++) if (c[i] < b[i]) a[i] = b[i]; else a[i] = c[i];",
    ),
    "a block under a condition on data, taken apart": (
        "for (i = 0; i < n; i++) if (a[i] > 0) { b[i] = a[i]; c[i] = 1; } else c[i] = 0;",
        """
for (i = 0; i < n; i++) c[i] = a[i] > 0 ? 1 : 0;
for (i = 0; i < n; i++) b[i] = a[i] > 0 ? a[i] : b[i];
""",
    ),
    "a choice by iterators as loops of their own": (
        "for (i = 0; i < n; i++) a[i] = i < 2 ? b[i] : c[i];",
        "for (i = 0; i < n && i < 2; i++) a[i] = b[i]; for (i = 2; i < n; i++) a[i] = c[i];",
    ),
    "several assignments at once": (
        "for (i = 0; i < n; i++) a[i] = b[i] = c[i];",
        "for (i = 0; i < n; i++) { b[i] = c[i]; a[i] = b[i]; }",
    ),
    "neutral operands": (
        "for (i = 0; i < n; i++) a[i] = 1 * b[i] - 0;",
        "for (i = 0; i < n; i++) a[i] = b[i] / 1;",
    ),
    "an integer as a floating-point number": (
        "for (i = 0; i < n; i++) a[i] = i + 1;",
        "for (long x = 1; x <= n; x++) a[x - 1] = (double)x;",
    ),
    "an iteration after the end": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n - 1; i++) a[i] = b[i]; if (n >= 1) a[n - 1] = b[n - 1];",
    ),
    "a parameter only in dead code": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n; i++) a[i] = b[i]; if (0) for (i = 0; i < m; i++) c[i] = 0;",
    ),
    "nothing at all": ("for (i = 0; i < n; i++) a[i] = a[i];", "for (i = 0; i < 0; i++) a[i] = 1;"),
}

REASSOCIATED: dict[str, tuple[str, str]] = {
    "a sum backwards": (PRODUCT, PRODUCT.replace("k = 0; k < n; k++", "k = n - 1; k >= 0; k--")),
    "a sum with other parentheses": (
        "for (i = 0; i < n; i++) a[i] = (a[i] + b[i]) + c[i];",
        "for (i = 0; i < n; i++) a[i] = a[i] + (b[i] + c[i]);",
    ),
    "a difference among sums": (
        "for (i = 0; i < n; i++) a[i] = a[i] - b[i] + c[i];",
        "for (i = 0; i < n; i++) a[i] = a[i] + (c[i] - b[i]);",
    ),
}
"""Right for those who allow sums to be computed in another order, wrong for the others."""
