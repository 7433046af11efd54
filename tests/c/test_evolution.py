"""Counters and pointers in loops, in the words of how often these have run (`read.c.evolution`)."""

from __future__ import annotations

import pytest

from loopwright.c.tokens import packed
from loopwright.c.typed.options import PLAIN
from loopwright.read.c.evolution import with_evolved_values
from loopwright.source import Source

HEAD = """#define MIN(a, b) ((a) < (b) ? (a) : (b))
void f(int n, int m, double *x, double *y, double A[2][9], int *z)
{
"""


def evolved(body: str) -> str:
    """The statements of a region afterwards; empty statements left out."""
    text = f"{HEAD}#pragma scop\n{body}\n#pragma endscop\n}}\n"
    found = with_evolved_values(Source("a.c", text), PLAIN).text
    inside = found.partition("#pragma scop")[2].partition("#pragma endscop")[0]
    assert found.count("\n") == text.count("\n")
    return packed(inside.replace(";", " ; ")).replace("; ;", ";").replace(";;", ";")


REPLACED = [
    ("int k = 1; for (int i = 0; i < n; i++) { y[i] = x[k]; k += 3; }", "y[i]=x[(3*i+1)]"),
    ("double *e = x + n; while (x < e) { *y++ = *x++; }", "for(longk_1=0;k_1<n;k_1++){y[k_1]=x[k_1]"),
    ("for (double *p = y; p < y + n; p++) *p = *x++;", "for(longk_1=0;k_1<n;k_1++)y[k_1]=x[k_1]"),
    ("int k = n; while (k-- > 0) *y++ = k;", "for(longk_1=0;n-k_1>0;k_1++)y[k_1]=(n-k_1-1)"),
    ("for (; n >= 4; n -= 4) { y[1] = x[0]; y += 4; }", "for(longk_1=0;n-4*k_1>=4;k_1++){y[4*k_1+1]=x[0]"),
    ("for (int i = 0; i < n; i++) { double *r = A[1]; r[i] = 0; }", "A[1][i]=0"),
    (
        "int c = 0; for (int i = 0; i < n; i++) { A[c][i] = A[1 - c][i]; c = 1 - c; }",
        "A[(i%2)][i]=A[1-(i%2)][i]",
    ),
    (
        "double *p = A[0], *q = A[1];"
        "for (int i = 0; i < n; i++) { p[i] = q[i]; double *t = p; p = q; q = t; }",
        "A[(i%2)][i]=A[1-(i%2)][i]",
    ),
    ("int k = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[k++] = 0;", "y[((long)i*m+j)]=0"),
    ("int k = 0; while (k < n) k += 2; y[k] = 0;", "y[(2*(n>0?(((long)n+1)/2):0))]=0"),
    ("int t = 8; for (int i = 0; i < MIN(n, t); i++) y[i] = 0;", "i<((n<8)?n:8)"),
    ("if (n < 0) return; int k = n & ~3; y[k] = 0;", "y[(n-(n&3))]=0"),
    # the type by which other integers are computed
    ("int i; for (i = 0; i < n; i++) y[i] = z[i] * i;", "y[k_1]=z[k_1]*((int)k_1)"),
    ("int i; for (i = 0; i < n; i++) y[i] = x[i] * i;", "y[k_1]=x[k_1]*k_1"),
    ("int i; for (i = 0; i < n; i++) z[i + 1] += i;", "z[k_1+1]+=((int)k_1)"),
    ("int i; for (i = 0; i < n; i++) z[i] = z[i] > 0 ? i : z[n];", "?((int)k_1):z[n]"),
    ("int c = n; while (--c >= 0) *y++ = c * z[c];", "y[k_1]=((int)(n-k_1-1))*z[(n-k_1-1)]"),
    ("long k = 1; for (int i = 0; i < n; i++) { z[i] = z[i] * k; k += 3; }", "z[i]*((long)3*i+(long)1)"),
    ("long k = 1; for (int i = 0; i < n; i++) { z[i] = z[i] * -k; k += 3; }", "z[i]*-((long)3*i+(long)1)"),
    ("long k = 1; for (int i = 0; i < n; i++) { z[i] = z[i] * ~k; k += 3; }", "z[i]*~((long)3*i+(long)1)"),
    ("int d = z[0]; long k = m + 1; y[0] = d * k;", "y[0]=d*((long)(m+1))"),
    ("int t = 8; for (int i = 0; i < n; i++) y[i] = z[i] * MIN(m, t);", "z[i]*((int)((m<8)?m:8))"),
]


@pytest.mark.parametrize(("body", "part"), REPLACED)
def test_what_is_counted_on_is_a_sum(body: str, part: str) -> None:
    assert part in evolved(body)


KEPT = [
    # its value depends on data, on a call, on other steps, or is not known after the loop
    "int k = 0; for (int i = 0; i < n; i++) { if (x[i] > 0) k++; y[k] = 0; }",
    "int k = 0; for (int i = 0; i < n; i++) { if (x[i] > 0) continue; k++; y[k] = 0; }",
    "int k = 0; for (int i = 0; i < n; i++) { k += k + 1; y[k] = 0; }",
    "int k = 0; while (k < n) { if (x[k] > 0) break; k++; } y[k] = 0;",
    "int k = 0; while (k != n) { y[k] = 0; k++; }",
    "int k = x[0]; y[k] = 0;",
    "int k = 0; while (m < n) { y[k] = 0; k++; }",
    "int k = 0; while (k >= 0) { y[k] = 0; k++; }",
    # its value may not be defined
    "int k = n / m; y[k] = 0;",
    "int k = n >> m; y[k] = 0;",
    # it is not the only one that changes it, or what its value is made of
    "int k = 0; int *p = &k; *p = 3; y[k] = 0;",
    "for (int i = 0; i < n; i++) { i += x[i] > 0; int k = i; y[k] = 0; }",
    "int k = 0; for (int i = 0; i < n; i++) { int *q = &i; *q += x[i] > 0; y[k] = 0; k += 2; }",
    # another type: what wraps around, or is cut off
    "unsigned k = 0; for (int i = 0; i < n; i++) { y[k] = 0; k -= 3; }",
    "char k = 0; for (int i = 0; i < n; i++) { y[k] = 0; k += 3; }",
    "int k = 5000000000; y[k] = 0;",
    "volatile int k = n; y[k] = 0;",
    "volatile int v = n; int k = v; y[k] = 0;",
    # where its name is hidden, or its type is asked for
    "int k = n; for (int i = 0; i < m; i++) { int n = i; y[k] = n + x[n]; }",
    "long k = n; y[0] = sizeof(k);",
    # a pointer that leaves a row; pointers into two arrays
    "double *p = A[0]; for (int i = 0; i < n; i++) *p++ = 0;",
    "double *p = x; while (p < y) *p++ = 0;",
    # whose iterations may run at the same time
    "int k = 0;\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) { y[k] = 0; k += 3; }",
    # a head that does something else after each iteration
    "int k = 0; for (; k < n; k++, *x += 1) y[k] = 0;",
    "double t = 0; int k = 0; for (; k < n; k++, t += 1) y[k] = 0; x[0] = t;",
    # jumps
    "int k = 0; again: y[k] = 0; k++; if (k < n) goto again;",
    "int k = 0; switch (n) { case 1: k = 1; } y[k] = 0;",
]


@pytest.mark.parametrize("body", KEPT)
def test_all_others_stay(body: str) -> None:
    found = evolved(body)
    name = "k" if "k" in body else "p"
    assert f"{name}]" in found or f"*{name}" in found or f"sizeof({name})" in found


def test_a_parameter_that_is_read_after_the_region_stays() -> None:
    text = f"{HEAD}#pragma scop\nfor (int i = 0; i < n; i++) *y++ = 0;\n#pragma endscop\n  *y = 1;\n}}\n"
    assert "*y++ = 0" in with_evolved_values(Source("a.c", text), PLAIN).text
