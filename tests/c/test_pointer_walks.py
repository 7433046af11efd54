"""Pointers that walk: the same elements in the same order, or the text stays as it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopwright.c.typed.options import CompilerOptions
from loopwright.read.c.evolution import with_pointer_walks
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.c.support import writes

HEAD = "struct z { float re, im; };\nstatic float all[100];\n"
HEAD += "static struct net { int w; float *x; } net = { 3, all };\n"
FOLLOWED = {
    "while (n--) *d++ = *s++;": ["d[k_1]"],
    "while (n-- > 0) { *d += 2 * s[1]; d++; s += 2; }": ["d[k_1]"],
    "while (m--) *d++ = *s;": ["d[k_1]"],
    "for (float *p = d; p != d + n; ++p) *p = 1;": ["d[k_1]"],
    "for (const float *p = all; p < all + n; p++) t += *p;": ["t[]"],
    "for (i = 0; i < n; i++) { float r = *s++, g = *s++; *d++ = r - g; }": ["r[]", "g[]", "d[i]"],
    "for (i = 2; i <= n; i++) *d++ = i;": ["d[-2 + i]"],
    "for (i = 0; i < n; i++, d++, s += 2) *d = s[1];": ["d[i]"],
    "for (i = 0; i < n; d++, i++) { *d = 1; *++d = 2; }": ["d[2i]", "d[1 + 2i]"],
    "for (i = 0; i < n; i++) for (j = 0; j < w; j++) *d++ = i - j;": ["d[i, j]"],
    "for (i = 0; i < n; i++) { float *p = d + 8 * i; for (j = 0; j < w; j++) *p++ = *s++; }": ["d[8i + j]"],
    "for (i = 0; i < n; i++) { if (*s++ > 2) t++; }": ["t[]?"],
    "for (i = 0; i < n; i++) { z->re = i; (*z++).im = 2; }": ["z[i]?", "z[i]?"],
    "for (i = 0; i < n; i++) { *--e = i; }": ["e[-1 - i]"],
    "for (unsigned u = 0; u < m; u++) { *--e = u; *d = 1; d += 2; }": ["e[-1 - u]", "d[2u]"],
    "while (d < end) *d++ = *s++;": ["d[k_1]"],
    "while (end > d) { *d = 2; d++; }": ["d[k_1]"],
    "while (d != end) *d++ = 1;": ["d[k_1]"],
    "while (d < end) { d[0] = 1; d[1] = s[0]; d += 2; s++; }": ["d[2k_1]", "d[1 + 2k_1]"],
    "for (; d < end; d++, s++) *d = *s;": ["d[k_1]"],
    "for (float *p = d; p < end; p += 3) *p = 1;": ["d[3k_1]"],
    "for (float *p = d, *q = &d[n]; p != q; ++p) *p = 1;": ["d[k_1]"],
    "while (end > d) *--end = 1;": ["d[-1 + n - k_1]"],
    "for (float *p = d; p < end; p++, s += 2) *p = *s;": ["d[k_1]"],
    "for (float *p = d; p < end; p++, ++p) *p = 1;": ["d[2k_1]"],
    "const float *p = q->x + 2; for (i = 0; i < n; i++) t += *p++;": ["t[]"],
    "for (i = 0; i < n; i++) { float *p = q->x + i, *r = d; *r = *p++; }": ["d[0]"],
    "for (i = 0; i < n; i++) { float *p = q->x; for (j = 0; j < w; j++) t += *p++; }": ["t[]"],
    "for (i = 0; i < n; i++) for (j = 0; j < q->w; j++) *d++ = i - j;": ["d[i, j]"],
}
ALSO_WRITTEN = [
    # with elements in place of pointers, though not all of it is read
    "while (n--) { *d++ = 1; if (s[0] > 0) break; }",
    "while (n--) *d++ = 1; d[0] = 3;",
    "for (i = 0; i < n && *d > 0; i++) *d++ = 1;",
    "for (i = 0; i < n; i++) { for (j = 0; j < w; j++) *d++ = 1; d++; }",
    "for (i = 0; i < n; i++) for (j = 0; j <= w; j++) *d++ = 1;",
    "for (i = 0; i < n; i++) { for (j = 0; j < q->w; j++) *d++ = 1; d++; }",
    "for (float *p = d; p < d + n; p += 2) *p = 1;",
    "while (d < end) { *d++ = 1; end--; }",
    "for (float *p = d, *q = d + n, *r = e; p < q; p++) *p = *r;",
    "while (d <= end) *d++ = 1;",
    "while (d < end) { *d++ = 1; if (s[0] > 0) break; }",
    "float *p = d + 1; while (p < end) *p++ = 1;",
    "float *p = d; p = d + 1; while (p < end) *p++ = 1;",
    "while (d < end) { { int n = 2; t += n; } *d++ = 1; }",
    "while (d < end) *d++ = 1; while (d < end) *d++ = 2;",
    "for (i = 0; i < n; i++) { { int d; d = 1; } *(float *)d++ = 1; }",
]
LEFT = [
    "float *p = q->x; for (i = 0; i < n; i++) { d[i] = *p++; if (i == 2) p = q->x; }",
    "for (i = 0; i < n; i++) { for (j = 0; j < q->w; j++) *d++ = 1; net.w--; }",
    "for (i = 0; i < n; i++) { for (j = 0; j < q->w; j++) *d++ = 1; q->w--; }",
    "for (i = 0; i < n; i++) { for (j = 0; j < q->w; j++) *d++ = 1; ((int *)e)[0] = i; }",
    "for (i = 0; i < n; i++) { for (j = 0; j < q->w; j++) *d++ = 1; q = (struct net *)e; }",
    "for (i = 0; i < n; i++) { for (j = 0; j < q->w; j++) *d++ = 1; stop(); }",
    "for (i = 0; i < n; i++) { for (j = 0; j < net.w; j++) *d++ = 1; }",
    "while (n--) *d++ = n;",
    "while (n--) { *d++ = 1; if (s[0] > 0) d++; }",
    "while (n--) { if (s[0] > 0) *d++ = 1; }",
    "while (n--) { *d++ = 1; s[0] > 0 ? d++ : 0; }",
    "while (n--) { *d++ = 1; s[0] > 0 && d++; }",
    "while (n--) { if (s[0] > 0) continue; *d++ = 1; }",
    "while (n--) { d[0] = *d++; }",
    "while (n--) { *d++ = 1; stop(); }",
    "while (n--) { *d++ = 1; give(&d); }",
    "while (c--) *d++ = 1;",
    "while (n--) *d++ = 1; i = n;",
    "for (i = 0; i++ < n;) *d++ = 1;",
    "for (i = 0; i < n; i++) { *d++ = 1; i += s[0] > 0; }",
    "for (i = 0; i < n; i++, t++) *d++ = 1;",
    "for (i = 0; i < n; i++) for (j = 0; j < i; j++) *d++ = 1;",
    "for (i = 0; i < n; i++) if (i > 2) for (j = 0; j < w; j++) *d++ = 1;",
    "for (i = 0; i < n; i++) { for (j = 0; j < w; j++) *d++ = 1; w--; }",
    "for (i = 0; i < n; i++) for (j = 0; j < m; j++) *d++ = 1;",
    "for (i = 0; i < n; i++) { if (s[i] > 0) continue; for (j = 0; j < w; j++) *d++ = 1; }",
    "for (float *p = d; p < d + n; p++) { *p = 1; n--; }",
    "for (float *p = d; p < d + n; p++) { *p = 1; d = 0; }",
    "for (float *p = d; p < e + n; p++) *p = 1;",
    "for (char *p = (char *)d; p < (char *)d + n; p++) *p = 1;",
    "for (i = 0; i < n; i++) { WALK; }",
    "for (float *p = d; p < end; p++, t++) *p = 1;",
    "for (float *p = d, *q = d + n, r = 2; p < q; p++) *p = r;",
    "while (d < end) { *d++ = 1; n--; }",
    "n++; while (d < end) *d++ = 1;",
    "while (d > end) *d++ = 1;",
    "while (d != end) { *d = 1; d += 2; }",
    "while (d < end) { *d++ = 1; give(&end); }",
    "while (d < end) *d++ = end - d;",
    "while (d < e) *d++ = 1;",
    "char *p = (char *)d, *q = (char *)(d + n); while (p < q) *p++ = 1;",
    "float *q = (float *)((char *)d + n); while (d < q) *d++ = 1;",
    "for (i = 0; i < n; i++) { again: *d++ = 1; if (s[0] > 0) goto again; }",
    "\n#pragma omp parallel for firstprivate(d)\nfor (i = 0; i < n; i++) *d++ = 1;",
]
OPTIONS = CompilerOptions()


def _source(body: str) -> Source:
    head = HEAD + "#define WALK *d++ = 1\nvoid stop(void); void give(float **);\n"
    given = (
        "float *d, const float *s, struct z *z, float *e, int n, unsigned m, int w, signed char c, float *o"
    )
    own = "int i = 0, j; float t = 0, *end = d + n; struct net *q = &net;"
    text = f"{head}void f({given}) {{ {own}\n#pragma scop\n{body}\n#pragma endscop\n"
    return Source("t.c", text + "*o = t;\n}\n")


@pytest.mark.parametrize(("body", "written"), FOLLOWED.items())
def test_walks_are_read_as_elements(body: str, written: list[str]) -> None:
    (program,) = read_source(_source(body))
    assert [text for statement in program.statements for text in writes(statement)] == written
    assert program.set_aside == ()


@pytest.mark.parametrize("body", LEFT)
def test_what_does_not_walk_evenly_or_is_read_later_stays(body: str) -> None:
    source = _source(body)
    assert with_pointer_walks(source, OPTIONS) == source


def test_walks_in_other_words_do_the_same(tmp_path: Path) -> None:
    """Both texts run, with sizes 0, 1 and more, and below 0 where that is defined."""
    functions, calls = [], []
    for number, body in enumerate((*FOLLOWED, *ALSO_WRITTEN)):
        source = _source(body)
        texts = source.text, with_pointer_walks(source, OPTIONS).text
        assert texts[0] != texts[1]
        for which, text in zip("ab", texts, strict=True):
            part = text[text.index("void f(") :].replace("void f(", f"static void {which}{number}(")
            functions.append(part)
        is_endless = "n--)" in body or "!=" in body
        sizes = ("0", "1", "5") if is_endless else ("-2", "0", "1", "5")
        calls += [f"same({number}, a{number}, b{number}, {n}, {w});" for n in sizes for w in ("-1", "3")]
    main = """
typedef void walk(float *, const float *, struct z *, float *, int, unsigned, int, signed char, float *);
static void same(int k, walk *a, walk *b, int n, int w) {
  float d[2][200], s[200], r[2]; struct z z[2][200];
  for (int v = 0; v < 2; v++) {
    for (int i = 0; i < 200; i++) { d[v][i] = s[i] = i * 7 % 11; z[v][i].re = z[v][i].im = i; }
    (v ? b : a)(d[v], s, z[v], d[v] + 150, n, n < 0 ? 0 : n, w, 0, &r[v]);
  }
  if (memcmp(d[0], d[1], sizeof d[0]) || memcmp(z[0], z[1], sizeof z[0]) || r[0] != r[1])
    printf("%d differs for %d %d\\n", k, n, w);
}
"""
    text = "#include <string.h>\n#include <stdio.h>\n" + HEAD + "\n".join(functions)
    body = "for (int i = 0; i < 100; i++) all[i] = i;\n" + "\n".join(calls)
    (tmp_path / "t.c").write_text(text + main + f'int main(void) {{ {body} puts("done"); }}\n')
    subprocess.run(["gcc", "-w", "t.c", "-o", "t"], cwd=tmp_path, check=True)
    run = subprocess.run(["./t"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("done\n", "")
