"""Small programs with every kind of dependence; n is their only parameter."""

TEXTS = {
    "product": """
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
          C[i][j] = 0;
          for (k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
        }""",
    "diagonal": """
        for (i = 1; i < n; i++) for (j = 0; j < n - 1; j++) A[i][j] = A[i - 1][j + 1] + 1;""",
    "stencil": """
        for (i = 0; i < n; i++) {
          for (j = 1; j < n - 1; j++) b[j] = a[j - 1] + a[j] + a[j + 1];
          for (j = 1; j < n - 1; j++) a[j] = b[j];
        }""",
    "seidel": """
        for (k = 0; k < 2; k++) for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
          A[i][j] = A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1];""",
    "fused": """
        for (i = 0; i < n; i++) b[i] = a[1] * c[i];
        for (i = 0; i < n; i++) a[i] = b[i];""",
    "strided": """
        for (i = 0; i < n; i++) t[i] = 0;
        for (i = 0; i < n; i += 2) { t[i] += a[i]; c[i / 2] = t[i]; }""",
    "transpose": """
        for (i = 0; i < n; i++) for (j = 0; j < i; j++) {
          x = A[i][j]; A[i][j] = A[j][i]; A[j][i] = x;
        }""",
    "down": """
        for (i = n - 1; i > 0; i--) { a[i] = a[i - 1]; b[n - i] = a[i]; }""",
    "sums": """
        s = 0;
        for (i = 0; i < n; i++) { s += a[i]; b[i] = s; }
        for (i = 0; i < n; i++) c[i] = b[n - 1 - i];""",
    "almost independent": """
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) { A[i][j] = B[i][j]; C[j][i] = A[i][j]; }""",
    "parities": """
        for (i = 0; i < n; i++) if (i % 2) a[i] = a[i - 1]; else a[i] = b[i];
        for (i = 0; i < n; i++) b[i] = a[i];""",
    "solve": """
        for (i = 0; i < n; i++) {
          x[i] = b[i];
          for (j = 0; j < i; j++) x[i] -= A[i][j] * x[j];
          x[i] = x[i] / A[i][i];
        }""",
    "overwritten": """
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i + j] = B[i][j];
        for (i = 0; i < n; i++) b[i] = a[2 * i];""",
    "shared sum": """
        for (i = 0; i < n; i++) { s += a[i]; s = s - b[i]; if (i > 1) a[i] = s; }
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) c[i] = c[i] * B[i][j];""",
}
