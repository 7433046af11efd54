"""`continue` on data: the rest of the body is under the opposite condition, and is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.reworded.guarded_rests import with_guarded_rests
from loopwright.model.program import Program
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.c.support import wrapped
from tests.pipeline.support import output, result

LOOP = "for (i = 0; i < n; i++) "


def marked(text: str) -> str:
    return f"void f(int n, int i, double *a, double *b) {{\n#pragma scop\n{text}\n#pragma endscop\n}}\n"


def region(text: str) -> Program:
    (program,) = read_source(Source("t.c", wrapped(text)))
    return program


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{ u(); if (c) continue; v(); w(); }", "{ u(); if (!(c)) { v(); w(); } }"),
        ("{ if (c) { u(); continue; } v(); }", "{ if (c) { u(); ; } else { v(); } }"),
        ("{ if (c) continue; else u(); v(); }", "{ if (c) ; else { u(); v(); } }"),
        ("{ if (c) continue; if (d) continue; v(); }", "{ if (!(c)) { if (!(d)) { v(); } } }"),
        ("{ if (c) { if (d) continue; u(); } else v(); }", "{ if (c) { if (!(d)) { u(); } } else v(); }"),
        ("{ if (c) { u(); } else if (d) { continue; } }", "{ if (c) { u(); } else if (d) { ; } }"),
        ("{ if (k++ > 2 && a[i] < b[i]) continue; v(); }", "{ if (!(k++ > 2 && a[i] < b[i])) { v(); } }"),
        ("{ if (c) continue; int t[n]; g(t); }", "{ if (!(c)) { int t[n]; g(t); } }"),
        ("{ if (c) continue; L: v(); if (d) goto L; }", "{ if (!(c)) { L: v(); if (d) goto L; } }"),
        ("{ if (c) // why\n continue;\n v(); // so\n }", "{ if (!(c)) {\n\n v(); } // so\n }"),
        ("{ u(); { if (c) continue; v(); } }", "{ u(); { if (!(c)) { v(); } } }"),
        ("{ while (d) { if (c) continue; v(); } w(); }", "{ while (d) { if (!(c)) { v(); } } w(); }"),
        ("{ do { if (c) continue; v(); } while (k++ < 3); w(); }",
         "{ do { if (!(c)) { v(); } } while (k++ < 3); w(); }"),
        ("{ if (c) { if (d) continue; u(); } v(); }", None),
        ("{ switch (c) { case 1: continue; } v(); }", None),
        ("{ switch (c) { case 1: if (d) continue; v(); } }", None),
        ("{ L: if (c) continue; v(); if (d) goto L; }", None),
        ("{ if (c) break; v(); }", None),
        ("{ if (({ if (d) continue; c; })) u(); v(); }", None),
        ("{ for (;;) { if (c) { for (;;) continue; u(); } v(); } }",
         "{ for (;;) { if (c) { for (;;) ; u(); } v(); } }"),
        ("{ if (c) continue;\n#pragma omp simd\nfor (j = 0; j < n; j++) v(); }", None),
        ("{ if (c \\\n ) continue; v(); }", None),
    ],
)  # fmt: skip
def test_the_rest_of_a_body_is_guarded(old: str, new: str | None) -> None:
    found = with_guarded_rests(Source("t.c", marked(LOOP + old))).text
    assert found == marked(LOOP + (old if new is None else new))


def test_the_loops_around_are_read() -> None:
    (one, other) = region(
        "for (i = 0; i < n; i++) { b[i] = 1; if (a[i] < 0) continue; a[i] = b[i]; }"
    ).statements
    assert (one.depth, other.depth) == (1, 1)
    assert other.body.place.text == "if (!(a[i] < 0)) { a[i] = b[i]; }"


def test_a_loop_in_the_rest_is_kept_with_its_condition() -> None:
    program = region(
        "for (i = 0; i < n; i++) { if (a[i] < 0) continue; for (k = 0; k < n; k++) b[k] += a[i]; }"
    )
    assert [one.depth for one in program.statements] == [1]


def test_a_continue_on_iterators_stays() -> None:
    program = region("for (i = 0; i < n; i++) { if (i == 3) continue; a[i] = 0; }")
    assert "continue" in program.source.text and not program.set_aside


def test_a_macro_that_is_not_an_expression_stays() -> None:
    text = marked(LOOP + "{ if (a[i] < 0) continue; NEXT b[i] = 1; }")
    source = Source("t.c", "#define NEXT if (a[i] > 9) continue;\n" + text)
    (program,) = read_source(source)
    assert [one.depth for one in program.statements] == [0]


PROGRAM = """#include <stdio.h>
static double a[16][16], b[16][16], s[16];
static void f(int n)
{{
#pragma scop
{body}
#pragma endscop
}}
int main(void)
{{
  for (int i = 0; i < 256; i++) a[i / 16][i % 16] = i % 7 == 3 ? 0.0 / 0.0 : i % 11 - 4;
  for (int i = 0; i < 256; i++) b[i / 16][i % 16] = i % 5;
  f(13);
  for (int i = 0; i < 256; i++) printf("%g %g %g\\n", a[i / 16][i % 16], b[i / 16][i % 16], s[i / 16]);
}}
"""


@pytest.mark.parametrize(
    ("body", "script"),
    [
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {"
         " if (a[i][j] < 0) continue; // NaN goes on\n b[i][j] = 2 * a[i][j]; }",
         "interchange(S1, i, j)\ntile(S1, 4, 4)"),
        ("L: for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { if (j == i) continue;"
         " double d = a[i][j] - a[j][i], r = d * d; if (r > 9) { b[i][j] = 0; continue; }"
         " double v = 1 / (r + 1); b[i][j] += v * d; }",
         "interchange(L, i, j)"),
        ("for (int i = 0; i < n; i++) { s[i] = 0; for (int j = n - 1; j >= 0; j--) {"
         " if (a[i][j] > 3) continue; else if (b[j][i] == 2) { s[i] -= 1; continue; } s[i] += a[i][j]; } }",
         "distribute(S1, S2)"),
    ],
)  # fmt: skip
def test_they_are_transformed_and_do_the_same(tmp_path: Path, body: str, script: str) -> None:
    text = PROGRAM.format(body=body)
    new = result(tmp_path, text, script).source.text
    assert new != text and "continue" not in new.partition("#pragma endscop")[0]
    assert output(new, tmp_path) == output(text, tmp_path)
