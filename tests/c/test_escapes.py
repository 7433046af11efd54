"""Addresses that a function is given and does not keep: what decides which instances run stays what it is."""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput
from loopwright.read.c.reader import read_source
from loopwright.source import Source

FILE = """#include <stdio.h>
typedef struct {{ int m[3]; int n; }} T;
int *kept; int **table; int there(void);
{head}
void f(double *a) {{
  int n = 8, *q = 0; T t = {{ {{ 1 }}, 8 }};
  {before}
#pragma scop
  for (int i = 0; i < {size}; i++) {{ a[i] = 0; there(); {inside} }}
#pragma endscop
}}
"""
_SET = "static void set(int *p) { *p = 3; }"
_KEEP = "static void keep(int *p) { kept = p; }"


def read(head: str, before: str, size: str = "n", inside: str = "") -> int:
    text = FILE.format(head=head, before=before, size=size, inside=inside)
    (program,) = read_source(Source("t.c", text))
    return len(program.statements)


@pytest.mark.parametrize(
    ("head", "before", "size"),
    [
        ("", 'scanf("%d", &n);', "n"),
        ("", 'if (scanf("%d", (&n)) != 1) return;', "n"),
        ("", 'sscanf("8", "%d", &t.n);', "t.n"),
        (_SET, "set(&n);", "n"),
        (_SET, "set(&t.n); set(t.m);", "t.n"),
        (_SET + "static void two(int *p) { if (p != 0) set(p); p[0]++; }", "two(&n);", "n"),
        ("static void clear(T *p) { p->n = 2; p->m[1] = p->n; (*p).m[0] = 1; }", "clear(&t);", "t.n"),
        ("static int get(const T *p) { return p->m[p->n]; }", "n = get(&t);", "t.n"),
    ],
)
def test_what_is_not_kept(head: str, before: str, size: str) -> None:
    assert read(head, before, size) == 2


@pytest.mark.parametrize(
    ("head", "before", "size", "inside"),
    [
        ("", "kept = &n;", "n", ""),
        ("", "q = &n;", "n", ""),
        ("", "", "n", 'scanf("%d", &n);'),
        ("void other(int *p);", 'scanf("%d", &n);', "n", "other(&n);"),
        (_KEEP, "keep(&n);", "n", ""),
        (_KEEP, "keep(t.m);", "t.n", ""),
        (_KEEP + "static void on(int *p) { keep(p); }", "on(&n);", "n", ""),
        ("static int *same(int *p) { return p; }", "q = same(&n);", "n", ""),
        ("static void put(int *p) { table[0] = p + 1; }", "put(&n);", "n", ""),
        ("static void put(int *p) { kept = &p[1]; }", "put(&n);", "n", ""),
        ("static void put(int **p) { table = p; } static void two(int *p) { put(&p); }", "two(&n);", "n", ""),
        ("static void rows(T *p) { kept = p->m; }", "rows(&t);", "t.n", ""),
        ("static void rows(T *p) { kept = p->m + 1; }", "rows(&t);", "t.n", ""),
        ("static void number(int *p) { kept = (int *)(unsigned long)p; }", "number(&n);", "n", ""),
        ("int sscanf(const char *s, const char *t, ...) { return 0; }", "n = 7, kept = &n;", "n", ""),
        ("void other(int *p);", "other(&n);", "n", ""),
        ("__attribute__((weak)) void set(int *p) { *p = 3; }", "set(&n);", "n", ""),
        (_SET + "static void (*by)(int *) = set;", "by(&n);", "n", ""),
        ("static void on(int *p, int k) { if (k) on(p, k - 1); else kept = p; }", "on(&n, 3);", "n", ""),
    ],
)
def test_what_may_be_kept(head: str, before: str, size: str, inside: str) -> None:
    with pytest.raises(BadInput, match="which decides what the region runs"):
        read(head, before, size, inside)


@pytest.mark.parametrize("is_read", [True, False])
def test_an_address_in_another_function_is_not_one_of_this_one(is_read: bool) -> None:
    """`do` is read as a plain loop where no pointer leads to what it counts and compares."""
    own = "kept = &n;" if not is_read else ""
    text = '#include <stdio.h>\nint *kept;\nint g(void) { int m, n; scanf("%d", &n); m = 3 & n; return m; }\n'
    text += f"void f(int n, double *a) {{ {own}\nint i;\n#pragma scop\n"
    text += "i = 0; do { a[i] = 0; } while (++i < n);\n#pragma endscop\n}\n"
    if is_read:
        (program,) = read_source(Source("t.c", text))
        assert [one.depth for one in program.statements] == [1]
    else:
        with pytest.raises(BadInput, match="'do'"):
            read_source(Source("t.c", text))


def test_a_struct_that_is_assigned_changes_its_bit_fields() -> None:
    text = "typedef struct { unsigned n : 5; double *v; } V; static void put(V *p, V q) { *p = q; }\n"
    text += "void f(V *x, V q, double *a) {\n#pragma scop\n"
    text += "for (int i = 0; i < x->n; i++) { a[i] = 0; put(x, q); }\n#pragma endscop\n}\n"
    with pytest.raises(BadInput, match="may change 'x->n', which decides"):
        read_source(Source("t.c", text))
