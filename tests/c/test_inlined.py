"""Calls of helpers: what they do stands in their place where that is known, or the text stays as it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import BadInput
from loopwright.read.c.inlined import called_in, with_calls_inlined
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.c.support import reads, writes

HEAD = """
typedef struct { int w, h; float *data; float own[4]; } image;
static int count, sizes[4] = {5, 5, 5, 5};
static float get(image m, int x, int y) { return m.data[y * m.w + x]; }
static void put(image m, int x, int y, float v) { m.data[y * m.w + x] = v; }
static void axpy(int n, float a, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}
static void zero(float *p, int n) { while (n--) *p++ = 0; }
static void grow(image m, int x) { m.w += x; m.data[m.w] = x; }
static void keep(image m, float v) { m.own[0] = v; }
static void lend(image m, int x) { int *p = &m.w; *p = x; m.data[m.w] = x; }
static void tick(image m, int x) { static int calls; m.data[x] = calls++; }
static void some(image m, int x) { if (x > 2) return; m.data[x] = 1; }
static void again(image m, int x) { if (x > 0) again(m, x - 1); m.data[x] = 1; }
static void scaled(image m, int x) { m.data[x] = k; }
static void moved(const volatile float *p, float *q) { *q = *p; }
"""
HEAD = HEAD.replace("static void scaled", "static int k = 3;\nstatic void scaled")
FOLLOWED = {
    "for (j = 0; j < h; j++) for (i = 0; i < w; i++) put(a, i, j, get(b, w - 1 - i, j));": "a__data[j, i]",
    "for (j = 0; j < h; j++) axpy(w, s[j], s, d + 5 * j);": "d[5j + i_1]",
    "for (j = 0; j < h; j++) zero(&d[5 * j], w);": "d[5j + k_1]",
    "for (j = 0; j < h; j++) { zero(d + 5 * j, w); axpy(w, 2, s, d + 5 * j); }": "d[5j + i_2]",
}
LEFT = [
    *("grow(a, i);", "keep(a, i);", "lend(a, i);", "tick(a, i);", "some(a, i);", "again(a, i);"),
    *("put(*q, i, 0, 1);", "put(g, i, 0, 1);", "put(e, i, 0, 1);", "put(i > 2 ? a : b, i, 0, 1);"),
    *("{ int k = 4; scaled(a, i); d[i] = k; }", "put(a, count++, 0, 1);", "moved(s, d);"),
]
GIVEN = "image a, image b, float *d, const float *s, int w, int h, image *q"
OPTIONS = CompilerOptions()


def _source(body: str) -> Source:
    start = f"static image g;\nvoid f({GIVEN}) {{ int i, j; image e = a; image *r = &e; r->w = 3;\n"
    return Source("t.c", f"{HEAD}{start}#pragma scop\n{body}\n#pragma endscop\n}}\n")


@pytest.mark.parametrize(("body", "written"), FOLLOWED.items())
def test_what_helpers_do_is_read(body: str, written: str) -> None:
    (program,) = read_source(_source(body))
    assert writes(program.statements[-1]) == [written]
    assert program.set_aside == ()


@pytest.mark.parametrize("call", LEFT)
def test_helpers_with_effects_of_their_own_are_left(call: str) -> None:
    source = _source(f"for (i = 0; i < w; i++) {call}")
    assert with_calls_inlined(source, called_in(source), OPTIONS) == source


LITERALS = {
    "for (i = 0; i < n; i++) a[i] = (vec){b[i], 2 * i, .z = b[n - i]};": ["b[i]", "b[n - i]"],
    "for (i = 0; i < n; i++) c[i] = (pair){{b[i], 1}, {.y = i}};": ["b[i]"],
}
NO_VALUES = ["a[i] = *&(vec){1, 2, 3};", "b[i] = (double[2]){1, i}[0];", "b[i] = (vec){b[i + 1]}.x;"]


def _literals(body: str) -> Source:
    head = "typedef struct { double x, y, z; } vec;\ntypedef struct { vec p, q; } pair;\n"
    given = "int n, vec *a, double *b, pair *c"
    return Source("t.c", f"{head}void f({given}) {{ int i;\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


@pytest.mark.parametrize(("body", "read"), LITERALS.items())
def test_structs_are_assigned_as_literals(body: str, read: list[str]) -> None:
    (program,) = read_source(_literals(body))
    assert reads(program.statements[0]) == read


@pytest.mark.parametrize("body", NO_VALUES)
def test_literals_with_an_address_are_refused(body: str) -> None:
    with pytest.raises(BadInput):
        read_source(_literals(f"for (i = 0; i < n; i++) {body}"))


OTHERS = {
    "a macro has another value": ("#define N 4", "d[i + N] = 1;", "#undef N\n#define N 8", ""),
    "a name is a macro later": ("static int k;", "d[i] = k;", "#define k 7", ""),
    "a header in between": ("", "d[i] = 1;", '#include "t.h"', ""),
    "a macro that is brought back": ("#define N 4", "d[i + N] = 1;", '#pragma pop_macro("N")', ""),
    "a macro that is defined again": ("#define N 4", "d[i + N] = 1;", "#define N 8", ""),
    "a macro in a macro": ("#define N 4\n#define M N", "d[i + M] = 1;", "#undef N\n#define N 8", ""),
    "a type of the caller": ("typedef int T;", "T q = i * 1000; d[i] = q;", "", "typedef short T;"),
    "a struct of the caller": (
        "struct s { int x; };",
        "struct s q; q.x = i; d[i] = q.x;",
        "",
        "struct s { char x; };",
    ),
    "a constant of the caller": ("enum { E = 3 };", "d[i] = E;", "", "enum { E = 4 };"),
    "a variable of the caller": ("static int v;", "d[i] = v;", "", "int v = 3;"),
}


@pytest.mark.parametrize("names", OTHERS.values(), ids=OTHERS.keys())
def test_names_that_mean_something_else_are_left(names: tuple[str, str, str, str]) -> None:
    before, body, between, inside = names
    helper = f"{before}\nstatic void put(float *d, int i) {{ {body} }}\n{between}\n"
    loop = "#pragma scop\nfor (int i = 0; i < n; i++) put(d, i);\n#pragma endscop\n"
    source = Source("t.c", f"{helper}void f(float *d, int n) {{\n{inside}\n{loop}}}\n")
    assert with_calls_inlined(source, ["put"], OPTIONS) == source
    if not between and "#" not in before:
        plain = Source("t.c", source.text.replace(inside, ""))
        assert with_calls_inlined(plain, ["put"], OPTIONS) != plain


@pytest.mark.parametrize(("between", "is_left"), [("", False), ("#define N 8\n", True)])
def test_macros_of_headers_are_what_they_are_in_the_function(
    between: str, is_left: bool, tmp_path: Path
) -> None:
    (tmp_path / "size.h").write_text("#define N 4\n")
    helper = f'#include "size.h"\nvoid put(float d[N], int i) {{ d[i + N] = 1; }}\n{between}'
    loop = "#pragma scop\nfor (int i = 0; i < n; i++) put(d, i);\n#pragma endscop\n"
    source = Source(str(tmp_path / "t.c"), f"{helper}void f(float *d, int n) {{\n{loop}}}\n")
    assert (with_calls_inlined(source, ["put"], OPTIONS) == source) == is_left


def test_texts_without_calls_do_the_same(tmp_path: Path) -> None:
    functions, calls = [], []
    for number, body in enumerate(FOLLOWED):
        source = _source(body)
        texts = source.text, with_calls_inlined(source, called_in(source), OPTIONS).text
        assert texts[0] != texts[1]
        for which, text in zip("ab", texts, strict=True):
            start = text.index("void f(")
            functions.append(text[start:].replace("void f(", f"static void {which}{number}(", 1))
        calls += [f"same({number}, a{number}, b{number}, {w}, {h});" for w in (0, 1, 4) for h in (-1, 0, 3)]
    main = f"""
static void same(int k, void (*a)({GIVEN}), void (*b)({GIVEN}), int w, int h) {{
  float d[2][99], s[99], m[2][99], n[99];
  for (int v = 0; v < 2; v++) {{
    for (int i = 0; i < 99; i++) d[v][i] = s[i] = m[v][i] = n[i] = i * 7 % 11;
    image x = {{5, 9, m[v]}}, y = {{6, 9, n}};
    (v ? b : a)(x, y, d[v], s, w, h, &x);
  }}
  if (memcmp(d[0], d[1], sizeof d[0]) || memcmp(m[0], m[1], sizeof m[0])) printf("%d differs\\n", k);
}}
int main(void) {{ {" ".join(calls)} puts("done"); }}
"""
    text = "#include <string.h>\n#include <stdio.h>\n" + HEAD + "\n".join(functions) + main
    (tmp_path / "t.c").write_text(text)
    subprocess.run(["gcc", "-w", "t.c", "-o", "t"], cwd=tmp_path, check=True)
    run = subprocess.run(["./t"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "done\n"
