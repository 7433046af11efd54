"""Two names for one memory: where the file shows it, it is no assumption."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import PROVED, Trap, answer

_LOOP = "for (i = 1; i < n; i++) p[i] = q[i - 1] + 1;"
_SCALAR = "for (i = 1; i < n; i++) { s = a[i]; b[i] = *q + i; }"

SHARED = [
    Trap("two pointers into one array", _LOOP, setup="double *p = a + 1, *q = a;"),
    Trap("the same pointer twice", _LOOP, setup="double *p = a, *q = a;"),
    Trap("a pointer and its array", "for (i = 1; i < n; i++) p[i] = a[i - 1];", setup="double *p = a;"),
    Trap("rows of an array", "for (i = 1; i < 9; i++) p[i] = r[0][i - 1];", setup="double (*r)[9] = (double (*)[9])a, *p = a;"),
    Trap("rows of a matrix", "for (i = 1; i < 9; i++) p[i] = r[1][i - 1];", setup="double *p = A[1], (*r)[100] = A;"),
    Trap("rows by void", "for (i = 1; i < 9; i++) p[i] = r[0][i - 1];", setup="double (*(r))[9] = (void *)a, *p = a;"),
    Trap("by an address", _LOOP, setup="double *p = &a[1], *q = &a[0];"),
    Trap("assigned later", _LOOP, setup="double *p, *q; p = a; q = a + 2;"),
    Trap("one pointer from another", _LOOP, setup="double *p = x, *q = p;"),
    Trap("through a third", _LOOP, setup="double *r = a, *p = r, *q = r + 1;"),
    Trap("through three", _LOOP, setup="double *r = a, *w = r, *u = w, *p = u, *q = a;"),
    Trap("by a condition", _LOOP, setup="double *p = n ? a : b, *q = a;"),
    Trap("through a cast", _LOOP, setup="double *p = (double *)(void *)a, *q = a;"),
    Trap("through an integer", _LOOP, setup="double *p = (double *)(unsigned long)a, *q = a;"),
    Trap("in a comma", _LOOP, setup="double *p = (n, a), *q = a;"),
    Trap("by an assignment in an assignment", _LOOP, setup="double *p, *q; p = q = a;"),
    Trap("by increments", _LOOP, setup="double *p = a, *q = a; p++; q += 2;"),
    Trap("a scalar by its address", _SCALAR, setup="double *q = &s;"),
    Trap("a scalar through a pointer to a pointer", _SCALAR, setup="double *q = &s; double **w = &q;"),
    Trap("a scalar of the file", _SCALAR, head="double *q = &s;"),
    Trap("pointers of the file", _LOOP, head="static double *p = a, *q = a + 3;"),
    Trap("a pointer of the file that another function sets", _LOOP, head="double *p, *q; void g(void) { p = a; q = a; }"),
    Trap("a function that returns a pointer", _LOOP, head="double *g(void) { return a; }", setup="double *p = g(), *q = a;"),
    Trap(
        "a function that is called through a pointer",
        _LOOP,
        head="static double *g(void) { return a; } static double *(*h)(void) = g;",
        setup="double *p = h(), *q = a;",
    ),
    Trap(
        "a function that returns its argument",
        _LOOP,
        head="double *g(double *v) { return v + 1; }",
        setup="double *p = g(x), *q = x;",
    ),
    Trap(
        "a function that stores a pointer",
        _LOOP,
        head="void set(double **w, double *v) { *w = v; }",
        setup="double *p, *q = a; set(&p, a);",
    ),
    Trap(
        "a function that is not seen may store a pointer",
        _LOOP,
        head="void set(double **w, double *v);",
        setup="double *p, *q = a; set(&p, a);",
    ),
    Trap("a literal of pointers", "for (i = 1; i < n; i++) w[0][i] = a[i - 1];", setup="double **w = (double *[]){ a };"),
    Trap("the second of a literal", "for (i = 1; i < n; i++) w->p[i] = a[i - 1];", head="struct R { double *p; };", setup="struct R *w = (struct R []){ { b }, { a } } + 1;"),
    Trap("one of two literals", "for (i = 1; i < n; i++) w[0][i] = a[i - 1];", setup="double **w = n > 3 ? (double *[]){ b } : (double *[]){ a };"),
    Trap("a literal of the file", "for (i = 1; i < n; i++) w[1][i] = a[i - 1];", head="static double **w = (double *[]){ b, a };"),
    Trap("one of two arrays of pointers", "for (i = 1; i < n; i++) w[0][i] = a[i - 1];", head="static double *u[1] = { a }, *v[1] = { b };", setup="double **w = n > 3 ? v : u;"),
    Trap("a struct of pointers", "for (i = 1; i < n; i++) r.p[i] = a[i - 1];", head="struct R { double *p; } r = { a };"),
    Trap(
        "a member that is assigned",
        "for (i = 1; i < n; i++) r.p[i] = a[i - 1];",
        head="struct R { double *p; };",
        setup="struct R r; r.p = a;",
    ),
    Trap(
        "two members",
        "for (i = 1; i < n; i++) r.p[i] = r.q[i - 1];",
        head="struct R { double *p, *q; };",
        setup="struct R r; r.p = a; r.q = a + 1;",
    ),
    Trap(
        "a pointer to a struct",
        "for (i = 1; i < n; i++) { v.m = a[i]; b[i] = w->m; }",
        head="struct V { double m; } v;",
        setup="struct V *w = &v;",
    ),
    Trap(
        "a struct through a pointer of the file",
        "for (i = 1; i < n; i++) { v.m = a[i]; b[i] = w->m; }",
        head="struct V { double m; } v, *w = &v;",
    ),
    Trap(
        "an array of pointers",
        "for (i = 1; i < n; i++) r[0][i] = a[i - 1];",
        setup="double *r[2] = { a, b };",
    ),
    Trap(
        "an array of pointers that is filled",
        "for (i = 1; i < n; i++) r[1][i] = a[i - 1];",
        setup="double *r[2]; r[0] = b; r[1] = a;",
    ),
    Trap(
        "rows that are the same",
        "for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];",
        setup="double *r[2] = { a, a };",
    ),
    Trap(
        "an array of pointers that a loop fills",
        "for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];",
        setup="double *r[2]; for (j = 0; j < 2; j++) r[j] = a;",
    ),
    Trap(
        "a function that stores its argument in a member",
        "for (i = 1; i < n; i++) r.p[i] = a[i - 1];",
        head="struct R { double *p; } r; void set(double *v) { r.p = v; }",
        setup="set(a);",
    ),
    Trap("a function that is not seen may return its argument", _LOOP, head="double *find(double *);", setup="double *q = a, *p = find(a);"),
    Trap("a literal of pointers", _LOOP, setup="double *p = (double *[]){ a }[0], *q = a;"),
    Trap("a call that gives one array twice", "for (i = 1; i < n; i++) x[i] = y[i - 1];", after="} void g(void) { f(5, a, a + 1);"),
    Trap("an alias by an attribute", "for (i = 1; i < n; i++) z[i] = a[i - 1];", head='extern double z[100] __attribute__((alias("a")));'),
    Trap("an alias of a scalar", "for (i = 1; i < n; i++) { z = a[i]; b[i] = s; }", head='extern double z __attribute__((alias("s")));'),
    Trap("a name of the assembler", "for (i = 1; i < n; i++) z[i] = a[i - 1];", head='extern double z[100] __asm__("a");'),
    Trap("a macro for a second name", "for (i = 1; i < n; i++) z[i] = a[i - 1];", headers=(("z.h", "#define z a\n"),), head='#include "z.h"'),
    Trap("a member and a variable of its name", "for (i = 1; i < 9; i++) { v.x[i] = b[i]; a[i] = v__x[i]; }", "struct { double x[10]; } v; double v__x[10];"),
    Trap("a pointer that is copied as bytes", _LOOP, setup="double *q = a, *p; __builtin_memcpy(&p, &q, sizeof p);"),
    Trap("a pointer in a union", _LOOP, setup="union { double *d; long l; } u; u.l = (long)a; double *p = u.d, *q = a;"),
    Trap("a pointer in a table of numbers", _LOOP, head="static long u[2];", setup="u[0] = (long)a; double *p = (double *)u[0], *q = a;"),
    Trap("a pointer of a statement", _LOOP, setup="double *q = a, *p = ({ double *u = q; u; });"),
    Trap("a pointer from assembler", _LOOP, setup='double *q = a, *p; __asm__("" : "=r"(p) : "0"(q));'),
    Trap("a function that stores another pointer", _LOOP, head="static void set(double **w) { *w = a; }", setup="double *p = b, *q = a; set(&p);"),
    Trap("a function that returns a struct", _LOOP, head="struct R { double *p; }; static struct R make(double *v) { struct R r = { v }; return r; }", setup="double *p = make(a).p, *q = a;"),
    Trap("a pointer to an alias", "for (i = 1; i < n; i++) p[i] = a[i - 1];", head='extern double z[100] __attribute__((alias("a")));', setup="double *p = z;"),
    Trap("a size through a pointer", "for (i = 1; i < n; i++) { *q = i; a[i] = n; }", setup="int *q = &n;"),
    Trap("an iterator through a pointer", "for (i = 1; i < n; i++) a[i] = *q;", setup="int *q = &i;"),
]

_IN_A_STRUCT = "struct T { double v[40], w[40]; }; struct U { int c; struct T in, other; } u;"
_MEMBER = "for (i = 1; i < 20; i++) u.in.v[i] = w->v[i - 1];"
_OF_O = "for (i = 1; i < 20; i++) o.q[i] = a[i - 1];"
_O = "struct O { double *q; };"
SHARED += [
    Trap("a pointer to a struct in a struct", _MEMBER, head=_IN_A_STRUCT, setup="struct T *w = &u.in;"),
    Trap("by its place", _MEMBER, head=_IN_A_STRUCT, setup="struct T *w = (struct T *)((char *)&u + 8);"),
    Trap("a choice by type", _LOOP, setup="double *q = a, *p = _Generic(a, double *: a, default: b);"),
    Trap("a function that returns a struct whose member is set", _OF_O, head=f"{_O} static struct O make(double *v) {{ struct O r; r.q = v; return r; }}", setup="struct O o = make(a);"),
    Trap("a function that is not seen and returns a struct", _OF_O, head=f"{_O} struct O make(double *v);", setup="struct O o = make(a);"),
    Trap("a member through a pointer to its struct", _OF_O, head=_O, setup="struct O o, *w = &o; w->q = a;"),
    Trap("a struct through a pointer", _OF_O, head=_O, setup="struct O o, r, *w = &o; r.q = a; *w = r;"),
] + [
    Trap(f"a pointer that is set through its address: {setup}", _LOOP, head="static void set(double **w) { double **l = w; *l = a; }", setup=f"double *q = a, *p = b; {setup}")
    for setup in [
        "*&p = a;",
        "*(double **)&p = a;",
        "((double **)&p)[0] = a;",
        "double **w = &p; *w = a;",
        "double **w = &p, **v = w; v[0] = a + 1;",
        "void *w = &p; *(double **)w = a;",
        "double **w[2] = { &p, 0 }; *w[0] = a;",
        "struct { double **w; } v = { &p }; *v.w = a;",
        "set(&p);",
    ]
] + [
    Trap("a pointer of the file that is set through its address", _LOOP, head="static double *p = b, *q = a, **w = &p; void g(void) { *w = a; }"),
]

UNIONS = [
    Trap(name, body, head=head)
    for name, head in [
        ("a union", "union U { double d; float f; } u;"),
        ("a union without a name", "union { double d; float f; } u;"),
        ("in a struct", "struct S { int c; union { double d; float f; }; } u;"),
        ("spread over lines", "union\n  U\n{ double d;\n float f; } u;"),
        ("by a typedef", "typedef union { double d; float f; } U; U u;"),
        ("by two typedefs", "typedef union { double d; float f; } V; typedef V U; U u;"),
        ("deep in structs", "struct S { struct { union { double d; float f; }; }; } u;"),
        ("by a macro", "#define EITHER union\nEITHER U { double d; float f; } u;"),
    ]
    for body in ["for (i = 1; i < n; i++) { u.d = a[i]; b[i] = u.f; }"]
]

_ELEMENTS = "for (i = 0; i < 3; i++) { u.x[i] = i; b[i] = u.y[i + 1]; }"
UNIONS += [
    Trap("arrays", _ELEMENTS, "union { double x[4], y[4]; } u;"),
    Trap("arrays in a struct", _ELEMENTS, "struct { int c; union { double x[4]; double y[4]; }; } u;"),
    Trap("a struct and an array", _ELEMENTS.replace("u.x", "u.v.x"), "union { struct { double w, x[4]; } v; double y[9]; } u;"),
    Trap("through a pointer", _ELEMENTS.replace("u.", "w->"), "union U { double x[4], y[4]; } u;", "union U *w = &u;"),
    Trap("by sums", "for (i = 0; i < 3; i++) { *(u.x + i) = i; b[i] = *(u.y + i + 1); }", "union { double x[4], y[4]; } u;"),
    Trap("elements", "for (i = 0; i < 3; i++) { u[i].x = i; b[i] = u[i + 1].y; }", "union { double x, y; } u[4];"),
    Trap(
        "an array that is passed on",
        "for (i = 0; i < 3; i++) { g(u.x, i); b[i] = u.y[i + 1]; }",
        "union { double x[4], y[4]; } u; static void g(double *p, int i) { p[i] = i; }",
    ),
]

_STRUCT = "struct { double x[10], y[10]; } v;"
BEYOND = [
    Trap("a member", "for (i = 0; i < 20; i++) v.x[i] = i;", _STRUCT),
    Trap("a member that is read", "for (i = 0; i < 20; i++) a[i] = v.x[i];", _STRUCT),
    Trap("before a member", "for (i = 0; i < 10; i++) a[i] = v.x[i - 1];", _STRUCT),
    Trap("a short member before another", "for (i = 1; i < n; i++) { v.y[i] = v.x[i]; }", "struct { double x[1], y[10]; } v;"),
    Trap("an empty member before another", "for (i = 1; i < n; i++) { v.y[i] = v.x[i]; }", "struct { double x[0], y[10]; } v;"),
    Trap("the last member of a variable", "for (i = 1; i < n; i++) v.x[i] = i;", "struct { int k; double x[1]; } v;"),
    Trap("a short member that is not the last one", "for (i = 1; i < n; i++) w->x[i] = i;", "struct { double x[1]; int k; } *w;"),
    Trap("a member through a pointer", "for (i = 0; i < 20; i++) w->x[i] = i;", "struct V { double x[10], y[10]; } *w;"),
    Trap("a member of a member", "for (i = 0; i < 20; i++) v.w.x[i] = i;", "struct { struct { double x[10]; } w; } v;"),
    Trap("a row of a member", "for (i = 0; i < 5; i++) for (j = 0; j < 12; j++) v.x[i][j] = i;", "struct { double x[5][10]; } v;"),
    Trap("an array", "for (i = 0; i <= 100; i++) a[i] = i;"),
    Trap("before an array", "for (i = 0; i < 50; i++) a[i - 1] = i;"),
    Trap("by a sum", "for (i = 0; i < 200; i++) *(a + i) = i;"),
    Trap("a size by a macro", "for (i = 0; i < 20; i++) q[i] = i;", "#define N 10\ndouble q[N / 2 + 3];"),
    Trap("a size by an enumerator", "for (i = 0; i < 20; i++) q[i] = i;", "enum { N = 10 }; double q[N];"),
    Trap("a size by sizeof", "for (i = 0; i < 20; i++) q[i] = i;", "double q[sizeof(double)];"),
    Trap("a size by its values", "for (i = 0; i < 20; i++) q[i] = i;", "double q[] = { 1, 2, 3 };"),
    Trap("a size by a typedef", "for (i = 0; i < 20; i++) q[i] = i;", "typedef double V[10]; V q;"),
    Trap("a size that is a parameter", "for (i = 0; i < n + 1; i++) q[i] = i;", setup="double q[n];"),
    Trap("a row whose length is a parameter", "for (i = 0; i < n; i++) for (j = 0; j <= n; j++) q[i][j] = i;", parameters="int n, double q[n][n]"),
    Trap("an array of the region", "double q[10]; for (i = 0; i < 20; i++) { q[i] = i; a[i] = q[i]; }"),
    Trap("beside one that is not known", "for (i = 0; i < 200; i++) a[i] = z[i];"),
    Trap("under a condition", "for (i = 0; i < n; i++) if (i >= 100) a[i] = 0;"),
]
INSIDE = [
    Trap("a member", "for (i = 0; i < 10; i++) v.x[i] = v.y[i];", _STRUCT),
    Trap("a member, for some sizes", "for (i = 0; i < n; i++) v.x[i] = v.y[i];", _STRUCT),
    Trap("an array without a length at the end", "for (i = 0; i < 20; i++) w->x[i] = i;", "struct V { int n; double x[]; } *w;"),
    Trap("an array of one element at the end", "for (i = 0; i < 20; i++) w->x[i] = i;", "struct V { int n; double x[1]; } *w;"),
]

APART = [
    Trap("two arrays", "for (i = 1; i < n; i++) a[i] = b[i - 1];"),
    Trap("pointers to two arrays", _LOOP, setup="double *p = a, *q = b;"),
    Trap("parameters", "for (i = 1; i < n; i++) x[i] = y[i - 1];"),
    Trap("memory of its own", _LOOP, head="#include <stdlib.h>", setup="double *p = malloc(80), *q = malloc(80);"),
    Trap("two that are only read", "for (i = 1; i < n; i++) b[i] = p[i] + q[i];", setup="double *p = a, *q = a + 1;"),
    Trap("the members of one struct", "for (i = 1; i < n; i++) { v.m = a[i]; b[i] = v.k; }", head="struct V { double m, k; } v;"),
    Trap("members through one pointer", "for (i = 1; i < n; i++) { w->m = a[i]; b[i] = w->k; }", head="struct V { double m, k; } *w;"),
    Trap("two pointers in a struct", "for (i = 1; i < n; i++) g->p[i] = g->q[i - 1];", head="struct G { double *p, *q; };", parameters="int n, struct G *g"),
    Trap("rows of one memory", "for (i = 1; i < n; i++) for (j = 0; j < n; j++) r[i][j] = 1;", head="#include <stdlib.h>", setup="double *m = malloc(800), *r[10]; for (k = 0; k < 10; k++) r[k] = m + 10 * k;"),
    Trap("calls that give two arrays", "for (i = 1; i < n; i++) x[i] = y[i - 1];", after="} void g(void) { f(5, a, b); f(5, b, a);"),
    Trap("two members of a union that are read", "for (i = 0; i < 3; i++) b[i] = u.x[i] + u.y[i];", "union { double x[4], y[4]; } u;"),
    Trap("rows of another array", "for (i = 1; i < 9; i++) p[i] = r[0][i - 1];", setup="double (*r)[9] = (double (*)[9])b, *p = a;"),
    Trap("one member of a union", "for (i = 1; i < n; i++) { u.d = a[i]; b[i] = u.d; }", head="union U { double d; float f; } u;"),
    Trap("the address of another scalar", _SCALAR, setup="double *q = &t;"),
    Trap("two structs in a struct", "for (i = 1; i < 20; i++) u.in.v[i] = u.other.v[i - 1];", head=_IN_A_STRUCT),
    Trap("two members of a struct in a struct", "for (i = 1; i < 20; i++) w->v[i] = w->w[i - 1];", head=_IN_A_STRUCT, setup="struct T *w = &u.in;"),
    Trap("another member through a pointer", _OF_O, head="struct O { double *q, *r; };", setup="struct O o, *w = &o; w->r = a; o.q = b;"),
    Trap("a pointer that is set to other memory through its address", "for (i = 1; i < n; i++) p[i] = a[i - 1];", setup="double *p = 0, **w = &p; *w = b;"),
    Trap("a size whose address is not taken", "for (i = 1; i < n; i++) { *q = i; a[i] = n; }", setup="int m, *q = &m;"),
]

_ALLOCATED = "double **r = malloc(80); for (int l = 0; l < 10; l++) r[l] = malloc(80);"


def _levels(name: str, calls: str, setup: str = _ALLOCATED, head: str = "") -> Trap:
    """A function whose caller gives it two elements of an array of pointers."""
    after = f"}} {head} void g(int n) {{ {setup} int j, k; {calls}"
    return Trap(name, "for (i = 1; i < n; i++) x[i] = y[i - 1];", "#include <stdlib.h>\nvoid *memcpy(void *, const void *, unsigned long);\nstatic int lt;", after=after)


_ONE = "double *m = malloc(80), *r[10];"
SAME_LEVELS = [
    _levels("one element", "for (k = 9; k > 0; k--) f(n, r[k], r[k]);"),
    _levels("an iterator that changed", "for (k = 9; k > 0; ) { j = k - 1; k--; f(n, r[k], r[j]); }"),
    _levels("an iterator of the loop of the call", "j = k - 1; for (; k > 0; k--) f(n, r[k], r[j]);"),
    _levels("an element that is not known", "for (k = 9; k > 0; k--) f(n, r[k], r[j]);"),
    _levels("one memory in all", "f(n, r[1], r[0]);", f"{_ONE} for (int l = 0; l < 10; l++) r[l] = m;"),
    _levels("one memory in two", "f(n, r[1], r[0]);", f"{_ONE} r[0] = m; r[1] = m + 1;"),
    _levels("one memory in two, by values", "f(n, r[1], r[0]);", "double *r[2] = { a, a };"),
    _levels("one memory in two, by another name", "double *q = r[0]; r[1] = q; f(n, r[1], r[0]);"),
    _levels("one memory in two, of another array", "double **s = r; s[0] = s[1]; f(n, r[1], r[0]);"),
    _levels("one memory in two, by a call", "init(r); f(n, r[1], r[0]);", head="void init(double **r) { for (int k = 1; k < 10; k++) r[k] = r[k - 1]; }"),
    _levels("one memory in two, by the library", "memcpy(r, r + 1, 8); f(n, r[1], r[0]);"),
    _levels("memory of one function", "f(n, r[1], r[0]);", head="void *malloc(unsigned long n) { return a; }"),
    _levels("a jump", "k = 3; j = 3; goto L; j = k - 1; L: ; f(n, r[k], r[j]);"),
    _levels("a pointer to an iterator", "int *p = &k; j = k - 1; *p = j; f(n, r[k], r[j]);"),
    _levels("a small number that wraps around", "unsigned char l = 2, m; m = l + 256; f(n, r[l], r[m]);"),
    _levels("a sum that wraps around", "unsigned l = 2; f(n, r[l], r[l + 4294967295u + 1]);"),
    _levels("numbers that are 0 or 1", "k = 2; _Bool l, m; l = k; m = k + 1; f(n, r[l], r[m]);"),
    _levels("a number of the file that changed", "k = lt - 1; z(); j = lt; f(n, r[k], r[j]);", head="void z(void) { lt--; }"),
]
OTHER_LEVELS = [
    _levels("neighbours", "for (k = 9; k > 0; k--) { j = k - 1; f(n, r[k], r[j]); }"),
    _levels("numbers", "f(n, r[1], r[0]);"),
    _levels("sums", "for (k = 9; k > 0; k--) f(n, r[k], r[k - 1]);"),
    _levels("a number of the file", "k = lt; j = lt - 1; f(n, r[k], r[j]);"),
    _levels("of a parameter", "r = r;", head="void h(int n, double **r) { for (int k = 9; k > 0; k--) f(n, r[k], r[k - 1]); }"),
]


@pytest.mark.parametrize("trap", SAME_LEVELS, ids=lambda trap: trap.name)
def test_elements_that_may_be_the_same_memory(trap: Trap, tmp_path: Path) -> None:
    assert "may be the same memory, as the call in line" in answer(trap, tmp_path)


def _called(call: str) -> Trap:
    """The region in a function of two rows; `call` is in another one that calls it."""
    first = "void f(int n, double *x, double *y); void g(int n, double **u, int j, int k) { " + call + " }"
    return Trap(call, "for (i = 1; i < n; i++) x[i] = y[i - 1];", head=first)


SHARED += [
    _called(call)
    for call in (
        *("f(n, u[k], u[k]);", "j = k; f(n, u[k], u[j]);", "k = (j); f(n, u[k], u[(long)j]);"),
        *("f(n, u[k + 1], u[1 + k]);", "f(n, u[1], u[0x1]);", "int m = k; f(n, u[m], u[k]);"),
        *("u[2] = u[1]; f(n, u[1], u[2]);", "f(n, u[k] + 1, u[j]);", "f(n, *u, u[0]);"),
    )
]
APART += [_called("j = k - 1; f(n, u[k], u[j]);"), _called("f(n, u[1], u[2]);")]

_GIVEN = "double *p = g(n), *q = g(n);"
_STRUCT = "#include <stdlib.h>\nstruct G { int n; double *v; }; "
_MEMBERS = "for (i = 1; i < n; i++) p.v[i] = q.v[i - 1] + p.n;"
_MADE = "struct G p = g(n), q = g(n);"


def _from(name: str, body: str, setup: str = _GIVEN, head: str = "") -> Trap:
    """Pointers that one function, of this body, returns twice."""
    return Trap(name, _LOOP, head="#include <stdlib.h>\n" + head + "double *g(int n) { " + body + " }", setup=setup)


SHARED += [
    _from("memory that is kept between calls", "static double *v; if (!v) v = malloc(n); return v;"),
    _from("memory that the file keeps", "if (!kept) kept = malloc(n); return kept;", head="static double *kept; "),
    _from("memory through a variable that is kept", "double *v = kept; if (!v) v = kept = malloc(n); return v;", head="static double *kept; "),
    _from("memory whose pointer is given away", "double *v = malloc(n); h(&v); return v;", head="static double *kept; void h(double **w) { if (kept) *w = kept; kept = *w; } "),
    _from("memory that is made or given", "double *v = malloc(n); if (n > 3) v = a; return v;"),
    _from("memory of a function that keeps it", "return my_alloc(n);", head="double *my_alloc(int n) { static double v[99]; return v; } "),
    _from("memory that was allocated before", "return last_allocated();", head="double *last_allocated(void); "),
    Trap("a struct of kept memory", _MEMBERS, head=_STRUCT + "struct G g(int n) { static double *v; if (!v) v = malloc(n); struct G m = { n, v }; return m; }", setup=_MADE),
    Trap("a struct that is kept", _MEMBERS, head=_STRUCT + "struct G g(int n) { static struct G m; if (!m.v) m.v = malloc(n); return m; }", setup=_MADE),
    Trap("a struct that a function fills from another", _MEMBERS, head=_STRUCT + "struct G g(int n) { struct G m = { n, malloc(n) }; return m; } void h(struct G *x, struct G *y) { x->v = y->v; }", setup=_MADE + " h(&p, &q);"),
    Trap("a struct that a function it calls fills", _MEMBERS, head=_STRUCT + "struct G g(int n) { struct G m = { n, malloc(n) }; return m; } void k(struct G *x, struct G *y) { *x = *y; } void h(struct G *x, struct G *y) { k(x, y); }", setup=_MADE + " h(&p, &q);"),
    Trap("a struct that a function copies word by word", _MEMBERS, head=_STRUCT + "struct G g(int n) { struct G m = { n, malloc(n) }; return m; } void h(struct G *x, struct G *y) { for (int i = 0; i < 4; i++) ((int *)x)[i] = ((int *)y)[i]; }", setup=_MADE + " h(&p, &q);"),
]
_ALLOCATED = "double *v = malloc(n); "
_KEPT = "static double *kept, *table[10]; struct K { double *v; } in; union L { double *v; long l; } as; "
_BOTH = "struct G g(int n) { struct G m = { n, malloc(n) }; return m; } "
SHARED += [
    _from(f"allocated memory that is {name} too", _ALLOCATED + body + " return v;", setup=setup, head=_KEPT + head)
    for name, body, setup, head in [
        ("kept", "kept = v;", "double *p = g(n), *q = kept;", ""),
        ("kept from its middle", "kept = v + 1;", "double *p = g(n), *q = kept;", ""),
        ("in a table", "table[n % 10] = v;", "double *p = g(n), *q = table[n % 10];", ""),
        ("in a struct", "in.v = v;", "double *p = g(n), *q = in.v;", ""),
        ("in a union", "as.v = v;", "double *p = g(n), *q = (double *)as.l;", ""),
        ("kept by a function", "keep(v);", "double *p = g(n), *q = kept;", "void keep(double *w) { kept = w; } "),
        ("kept by an element's address", "kept = &v[1];", "double *p = g(n), *q = kept;", ""),
        ("kept by a cell's address", "keep(&*v);", "double *p = g(n), *q = kept;", "void keep(double *w) { kept = w; } "),
        ("kept as it is assigned", "kept = (v = malloc(n));", "double *p = g(n), *q = kept;", ""),
        ("kept as it is moved", "kept = v += 0;", "double *p = g(n), *q = kept;", ""),
        ("what another function returns", "kept = v;", "double *p = g(n), *q = last();", "double *last(void) { return kept; } "),
    ]
]
SHARED += [
    Trap("a struct with a pointer twice", "for (i = 1; i < n; i++) p.u[i] = p.v[i - 1];", head="#include <stdlib.h>\nstruct T { double *u, *v; }; struct T g(int n) { struct T m; m.u = malloc(n); m.v = m.u; return m; }", setup="struct T p = g(n);"),
]
SHARED += [
    Trap(f"a struct that a function copies {name}", _MEMBERS, head=_STRUCT + _BOTH + head, setup=_MADE + setup)
    for name, head, setup in [
        ("by bytes", "void h(void *x, void *y) { char *c = x, *d = y; for (int i = 0; i < 16; i++) c[i] = d[i]; }", "h(&p, &q);"),
        ("by bytes that are cast", "void h(char *c, char *d) { for (int i = 0; i < 16; i++) c[i] = d[i]; }", "h((char *)&p, (char *)&q);"),
        ("by unsigned bytes", "void h(unsigned char *c, unsigned char *d) { for (int i = 0; i < 16; i++) c[i] = d[i]; }", "h((unsigned char *)&p, (unsigned char *)&q);"),
        ("by words that are cast", "typedef long __attribute__((may_alias)) W; void h(W *c, W *d) { c[1] = d[1]; }", "h((W *)&p, (W *)&q);"),
        ("from one it returns", "struct G *h(struct G *x, struct G *y) { x->n = y->n; return y; }", "p = *h(&p, &q);"),
        ("by bytes of its own", "void h(struct G *x, struct G *y) { void *c = x, *d = y; char *e = c, *f = d; for (int i = 0; i < 16; i++) e[i] = f[i]; }", "h(&p, &q);"),
    ]
]
APART += [
    _from("two calls of a function that allocates", "double *v = malloc(n); if (v == NULL) exit(1); return v;"),
    _from("two calls of one that returns what it allocates", "return (double *)calloc(n, 8);"),
    Trap("structs of memory of their own", _MEMBERS, head=_STRUCT + "struct G g(int n) { struct G m = { n, malloc(n) }; return m; }", setup=_MADE),
    Trap("structs whose members are set", _MEMBERS, head=_STRUCT + "struct G g(int n) { struct G m; m.n = n; m.v = malloc(n); return m; }", setup=_MADE),
    Trap("structs that a function reads", _MEMBERS, head=_STRUCT + "struct G g(int n) { struct G m = { n, malloc(n) }; return m; } void h(struct G *x, struct G *y) { x->v[0] = y->v[0]; }", setup=_MADE + " h(&p, &q);"),
]


@pytest.mark.parametrize("trap", SHARED, ids=lambda trap: trap.name)
def test_shared_memory_is_not_taken_apart(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


@pytest.mark.parametrize("trap", UNIONS, ids=lambda trap: trap.name)
def test_the_members_of_a_union_are_one_memory(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


@pytest.mark.parametrize("trap", BEYOND, ids=lambda trap: trap.name)
def test_subscripts_that_the_declared_size_refutes(trap: Trap, tmp_path: Path) -> None:
    assert "is outside its array" in answer(trap, tmp_path)


@pytest.mark.parametrize("trap", INSIDE, ids=lambda trap: trap.name)
def test_subscripts_that_it_does_not(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED


@pytest.mark.parametrize("trap", APART + OTHER_LEVELS, ids=lambda trap: trap.name)
def test_memory_that_is_not_shown_to_be_shared(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED
