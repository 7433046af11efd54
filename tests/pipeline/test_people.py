"""C as people write it, through the whole pipeline: transformed, proved, compiled, and run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.support import output, result

PROGRAM = """#include <math.h>
#include <stdio.h>
#include <stddef.h>
#define SQ(x) ((x) * (x))
#define IDX(r, c, ld) ((r) * (ld) + (c))
#define M(r, c) a[(r) * m + (c)]
static inline double clamp(double v) {{ if (v > 9) return 9; return v; }}
static double a[400], b[400], c[400], image[20][20];
static void f(int n, int m)
{{
#pragma scop
{body}
#pragma endscop
}}
int main(void)
{{
  for (int i = 0; i < 400; i++) {{ a[i] = i % 7; b[i] = i % 5; c[i] = i % 3; }}
  for (int i = 0; i < 400; i++) image[i / 20][i % 20] = i % 11;
  f(8, 12);
  for (int i = 0; i < 400; i++) printf("%g %g %g\\n", a[i], b[i], c[i]);
}}
"""


@pytest.mark.parametrize(
    ("body", "script"),
    [
        (
            "for (int i = 0; i < n; i++) { int row = i * m; for (int j = 0; j < m; j++) { c[row + j] = 0.0;"
            " for (int l = 0; l < n; l++) c[row + j] += a[IDX(i, l, n)] * b[IDX(l, j, m)]; } }",
            "distribute(S1, S2)\ninterchange(S2, j, l)",
        ),
        (
            "for (int j = 0; j < m; j++) for (int i = 1; i < n; i++) M(i, j) += 0.5 * M(i - 1, j) + b[j];",
            "interchange(S1, j, i)",
        ),
        (
            "for (size_t i = n; i-- > 0;) { if (i % 3 == 1) continue; a[i] = clamp(b[i]); a[i] += 2 * i; }",
            "distribute(S1, S2)",
        ),
        (
            "for (int i = 0; i < n; i++) { int k = (n)-i*2; a[k + 2*n] = (m)-2*b[IDX((n)-i*1, i, 2)]"
            " - -(i)-n*2 + (b[i])-n*2; }",
            "affine(S1, {[i]->[-i+1]})",
        ),
        (
            "for (int i = 0; i < n; i++) { double *row = c + i * m; const double *left = &a[i * n];"
            " for (int j = 0; j < m; j++) { row[j] = 0.0; for (int l = 0; l < n; l++) {"
            " const double *right = b + l * m; row[j] += left[l] * fabs(right[j]); } } }",
            "distribute(S1, S2)\ninterchange(S2, j, l)",
        ),
        (
            "for (size_t y = 1; y < 19; y++) { const double *above = image[y - 1], *here = &image[y][0];"
            " double *row = a + 20 * y; for (int x = 1; x < 19; x++) {"
            " if (here[x] > 2) row[x] = here[x - 1] + SQ(above[x]) - x; } }",
            "interchange(S1, y, x)\naffine(S1, {[x, y]->[x, y + 1]})",
        ),
        (
            "for (unsigned x = 0; x < n; x++) for (unsigned y = 0; y < m; y++)"
            " c[(x - y) % 4 + (x > y ? x - y : 0)] += b[x - y + m] * (x - y) - y / 2;",
            "shift(S1, y, -2)\nunroll(S1, y, 3)",
        ),
        (
            "for (unsigned char x = 8; x > 0; x--) { a[x] = ~x - 1; for (short y = -8; y < 12; y += 3)"
            " b[y + 40 + x] += y / 2 + y % 4; }",
            "from_zero()\ndistribute()\ntile(S2, 2, 2)",
        ),
        (
            "for (int i = 0; i < n; i++) { if ((unsigned)(i - 2) < 4u) a[i] = b[i];"
            " if ((unsigned)(3 - i) < 2u) c[i] = a[i]; }",
            "distribute()\nreverse(S1, i)",
        ),
        (
            "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) for (int k = 0; k < 3; k++)"
            " a[(y * m + x) * 3 + k] = 9 - b[(y * m + (m - 1 - x)) * 3 + 2 - k];",
            "interchange(S1, [k, x, y])\ntile(S1, x=4, y=3)",
        ),
    ],
    ids=[
        "local-row",
        "element-macro",
        "countdown",
        "parentheses",
        "row-pointers",
        "image-rows",
        "unsigned",
        "narrow",
        "range-check",
        "pixels",
    ],
)
def test_what_people_write_is_transformed_and_does_the_same(tmp_path: Path, body: str, script: str) -> None:
    text = PROGRAM.format(body=body)
    new = result(tmp_path, text, script).source.text
    assert new != text
    assert output(new, tmp_path, "-Wno-unused-function") == output(text, tmp_path, "-Wno-unused-function")
