"""Pairs of regions that differ, with a part of the witness that has to be shown."""

from __future__ import annotations

from tests.equivalence.right import COPY, MEAN, PRODUCT, SEIDEL, STENCIL

WRONG: dict[str, tuple[str, str, str]] = {
    "an iteration lost": (COPY, COPY.replace("i < n", "i < n - 1"), "n = 1"),
    "an iteration too many": (COPY, COPY.replace("i < n", "i <= n"), "a["),
    "an unsigned comparison": (
        COPY.replace("a[i]", "if (i < 15) a[i]"),
        COPY.replace("a[i]", "if ((unsigned)(i - 5) < 10) a[i]"),
        "a[0]",
    ),
    "the first iteration lost": (COPY, COPY.replace("i = 0", "i = 1"), "a[0]"),
    "a step of two": (COPY, COPY.replace("i++", "i += 2"), "n = 2"),
    "the rest of an unrolled loop lost": (
        COPY,
        "for (i = 0; i + 1 < n; i += 2) { a[i] = b[i] + 1; a[i + 1] = b[i + 1] + 1; }",
        "n = 1",
    ),
    "the last tile cut off": (
        COPY,
        "for (j = 0; j < n / 8; j++) for (k = 8 * j; k < 8 * j + 8; k++) a[k] = b[k] + 1;",
        "a[0]",
    ),
    "tiles that overlap in a recurrence": (
        "for (i = 0; i < n; i++) a[i] += b[i];",
        "for (j = 0; j < n; j += 8) for (k = j; k < n && k <= j + 8; k++) a[k] += b[k];",
        "a[8]",
    ),
    "a zero added, which -0 is changed by": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n; i++) a[i] = b[i] + 0.0;",
        "with b[0] = -0",
    ),
    "a minimum that a NaN decides": (
        "for (i = 0; i < n; i++) a[i] = b[i] < a[i] ? b[i] : a[i];",
        "for (i = 0; i < n; i++) a[i] = b[i] >= a[i] ? a[i] : b[i];",
        "= NaN",
    ),
    "a test turned around": (
        "for (i = 0; i < n; i++) if (!(a[i] < b[i])) a[i] = 0.0;",
        "for (i = 0; i < n; i++) if (a[i] >= b[i]) a[i] = 0.0;",
        "= NaN",
    ),
    "a test for NaN left out": (
        "for (i = 0; i < n; i++) a[i] = b[i] != b[i] ? 1.0 : b[i];",
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "= NaN",
    ),
    "a difference with itself": (
        "for (i = 0; i < n; i++) a[i] = b[i] - b[i];",
        "for (i = 0; i < n; i++) a[i] = 0.0;",
        "is NaN after",
    ),
    "both of two conditions turned around": (
        "for (i = 0; i < n; i++) if (!(a[i] < 1.0 && b[i] < 1.0)) a[i] = 0.0;",
        "for (i = 0; i < n; i++) if (a[i] >= 1.0 || b[i] >= 1.0) a[i] = 0.0;",
        "= NaN",
    ),
    "another operator": (COPY, COPY.replace("+ 1", "- 1"), "b[0]"),
    "another constant": (COPY, COPY.replace("+ 1", "+ 2"), "b[0]"),
    "another array": (COPY, COPY.replace("b[i]", "c[i]"), "with c[0] = 1, 0 in what else is read"),
    "another target": (COPY, COPY.replace("a[i]", "c[i]"), "a[0]"),
    "another subscript": (COPY, COPY.replace("b[i]", "b[i + 1]"), "a[0] is 1 after"),
    "subscripts transposed": (
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = B[i][j];",
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = B[j][i];",
        "n = 2",
    ),
    "a dependence reversed": (
        "for (i = 1; i < n; i++) a[i] = a[i - 1];",
        "for (i = n - 1; i >= 1; i--) a[i] = a[i - 1];",
        "with a[1] = 1, 0 in what else is read",
    ),
    "an anti-dependence reversed": (
        "for (i = 0; i < n - 1; i++) a[i] = a[i + 1];",
        "for (i = n - 2; i >= 0; i--) a[i] = a[i + 1];",
        "n = 3",
    ),
    "the sum in another order": (
        PRODUCT,
        PRODUCT.replace("k = 0; k < n; k++", "k = n - 1; k >= 0; k--"),
        "C[",
    ),
    "a sum with other parentheses": (
        "for (i = 0; i < n; i++) a[i] = (a[i] + b[i]) + c[i];",
        "for (i = 0; i < n; i++) a[i] = a[i] + (b[i] + c[i]);",
        "a[",
    ),
    "a stencil that forgets to copy": (
        STENCIL,
        "for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];",
        "n = 3",
    ),
    "a stencil in place": (
        STENCIL,
        "for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++) { b[i] = a[i - 1] + a[i + 1]; a[i] = b[i]; }",
        "n = 4",
    ),
    "a stencil by wave fronts, the wrong way along them": (
        SEIDEL,
        """
for (j = 1; j < m + n - 2; j++)
  for (t = 0; t < m; t++)
    if (j - m + 1 + t >= 1 && j - m + 1 + t < n - 1)
      a[j - m + 1 + t] = (a[j - m + t] + a[j - m + 1 + t] + a[j - m + 2 + t]) / 3;
""",
        "m = 2",
    ),
    "fused too early": (
        "for (i = 0; i < n; i++) a[i] = b[i]; for (i = 0; i < n - 1; i++) c[i] = a[i + 1];",
        "for (i = 0; i < n; i++) { a[i] = b[i]; if (i < n - 1) c[i] = a[i + 1]; }",
        "n = 2",
    ),
    "an initialisation lost": (
        PRODUCT,
        """
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++)
    for (k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
""",
        "n = 1",
    ),
    "an initialisation that comes too late": (
        MEAN,
        MEAN.replace("  a[j] = 0;\n", "").replace("  a[j] = a[j] / n;", "  a[j] = 0;"),
        "n = 1",
    ),
    "an update run twice": (
        "for (i = 0; i < n; i++) a[i] += b[i];",
        "for (i = 0; i < n; i++) { a[i] += b[i]; a[i] += b[i]; }",
        "n = 1",
    ),
    "a temporary that is overwritten": (
        "for (i = 0; i < n; i++) a[i] = (b[i] + c[i]) * 2;",
        "double x; for (i = 0; i < n; i++) x = b[i] + c[i]; for (i = 0; i < n; i++) a[i] = x * 2;",
        "n = 2",
    ),
    "a temporary of less precision": (
        "for (i = 0; i < n; i++) a[i] = (b[i] + c[i]) * 2;",
        "for (i = 0; i < n; i++) { float x = b[i] + c[i]; a[i] = x * 2; }",
        "a[0]",
    ),
    "a temporary that is an integer": (
        "for (i = 0; i < n; i++) a[i] = b[i] / 2;",
        "for (i = 0; i < n; i++) { int x = b[i]; a[i] = x / 2; }",
        "a[0]",
    ),
    "a division of integers": (
        "for (i = 0; i < n; i++) a[i] = b[i] + i / 2.0;",
        "for (i = 0; i < n; i++) a[i] = b[i] + i / 2;",
        "n = 2",
    ),
    "a constant of less precision": (
        "for (i = 0; i < n; i++) a[i] = b[i] * 0.1;",
        "for (i = 0; i < n; i++) a[i] = b[i] * 0.1f;",
        "a[0]",
    ),
    "zero added to what may be minus zero": (
        "for (i = 0; i < n; i++) a[i] = b[i] - b[i];",
        "for (i = 0; i < n; i++) a[i] = -(b[i] - b[i]);",
        "a[0]",
    ),
    "a condition on data the wrong way round": (
        "for (i = 0; i < n; i++) if (a[i] < 0) a[i] = 0;",
        "for (i = 0; i < n; i++) a[i] = a[i] < 0 ? a[i] : 0;",
        "a[0]",
    ),
    "a condition on data that its block changes": (
        "for (i = 0; i < n; i++) if (a[i] > 0) { a[i] = -a[i]; b[i] = 1; }",
        "for (i = 0; i < n; i++) { if (a[i] > 0) a[i] = -a[i]; if (a[i] > 0) b[i] = 1; }",
        "b[0]",
    ),
    "a write that is not moved": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n; i++) { c[i] = b[i]; a[i] = c[i]; }",
        "c[0]",
    ),
    "large blocks, wrong from the second on": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (j = 0; j < n; j += 32) for (k = j; k < n && k < j + 31; k++) a[k] = b[k];",
        "n = 32",
    ),
    "a comparison that holds for equals too": (
        "for (i = 0; i < n; i++) if (b[i] > c[i]) a[i] = 1;",
        "for (i = 0; i < n; i++) if (b[i] >= c[i]) a[i] = 1;",
        "n = 1: a[0] is",
    ),
    "a function of something else": (
        "for (i = 0; i < n; i++) a[i] = sin(b[i]);",
        "for (i = 0; i < n; i++) a[i] = sin(c[i]);",
        "n = 1: a[0] is",
    ),
    "another function of the same": (
        "for (i = 0; i < n; i++) a[i] = sin(b[i]);",
        "for (i = 0; i < n; i++) a[i] = cos(b[i]);",
        "n = 1: a[0] is",
    ),
}
