"""Memory that calls in the file may share, and what says that they do not: `restrict`, allocation."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.read.c.reader import read_c
from tests.traps.support import PROVED, Trap, answer

_LOOP = "for (i = 1; i < n; i++) x[i] = y[i - 1];"


def _promised(call: str, parameters: str) -> Trap:
    """A function whose parameters may be `restrict`, called by another one with memory that may be one."""
    after = f"}} void g(int n, double *m, double **r) {{ double *q = m; if (n > 2) q = b; {call}"
    return Trap(f"{parameters}: {call}", _LOOP, after=after, parameters=parameters)


PROMISED = [
    _promised("f(n, m, q);", "int n, double *restrict x, double *y"),
    _promised("f(n, m, q);", "int n, double *x, const double *restrict y"),
    _promised("f(n, m, m + n);", "int n, double *restrict x, double *restrict y"),
]
UNPROMISED = [
    _promised("f(n, m, q);", "int n, double *x, double *y"),
    _promised("f(n, m, m);", "int n, double *restrict x, double *restrict y"),
]


@pytest.mark.parametrize("trap", PROMISED, ids=lambda trap: trap.name)
def test_memory_that_restrict_says_to_be_apart(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED


@pytest.mark.parametrize("trap", UNPROMISED, ids=lambda trap: trap.name)
def test_memory_that_nothing_says_to_be_apart(trap: Trap, tmp_path: Path) -> None:
    assert "may be the same memory, as the call in line 8 shows" in answer(trap, tmp_path)


def test_restrict_says_nothing_of_the_pointers_there(tmp_path: Path) -> None:
    trap = Trap(
        "rows",
        "for (i = 1; i < n; i++) x[0][i] = y[0][i - 1];",
        parameters="int n, double **restrict x, double **restrict y",
        after="} void g(int n) { double *p[1] = {a}, *q[1] = {a}; f(n, p, q); f(n, q, p); f(n, p, p);",
    )
    assert answer(trap, tmp_path) != PROVED


def _made(maker: str, use: str) -> Trap:
    """Memory that a function of the file allocates, in a struct."""
    head = f"#include <stdlib.h>\ntypedef struct {{ int n; double *x; }} T;\n{maker}\n"
    return Trap(f"{maker} {use}", _LOOP, head, after=f"}} void g(int n) {{ {use}")


_BY_VALUE = "T make(int n) { T t = {n, NULL}; t.x = malloc(8 * n); if (!t.x) abort(); return t; }"
_AN_ADDRESS = "T make(int n) { T t = {n, (double *)4096}; if (n > 9) t.x = malloc(8 * n); return t; }"
_TWO = "T s = make(n), t = make(n); f(n, s.x, t.x);"


def test_structs_that_begin_with_null_are_memory_of_their_own(tmp_path: Path) -> None:
    assert answer(_made(_BY_VALUE, _TWO), tmp_path) == PROVED
    assert answer(_made(_AN_ADDRESS, _TWO), tmp_path) != PROVED


_POINTER = """static T *make(int n) {
  T *t = malloc(sizeof *t);
  if (!t) return NULL;
  t->n = n;
  t->x = malloc(8 * n);
  if (!t->x) { free(t); return NULL; }
  for (int k = 0; k < n; k++) t->x[k] = 0;
  return t;
}"""
_PAIR = "T *s = make(n), *t = make(n);"
_GIVEN = "f(n, s->x, t->x);"
OWN = [
    f"{_PAIR} {_GIVEN}",
    f"{_PAIR} {_GIVEN} free(s->x); free(t->x); free(s); free(t);",
    f"{_PAIR} free(s->x); s->x = malloc(80); {_GIVEN}",
    f"{_PAIR} int k = s->n; t->n = k; {_GIVEN}",
]
SHARED = [
    "T *s = make(n), *t = s; f(n, s->x, t->x);",
    f"{_PAIR} T *c = s; c->x = t->x; {_GIVEN}",
    f"{_PAIR} s->x = t->x; {_GIVEN}",
    f"{_PAIR} s->x = t->x + 1; {_GIVEN}",
    f"{_PAIR} double *p = t->x; s->x = p; {_GIVEN}",
    f"{_PAIR} *s = *t; {_GIVEN}",
    f"{_PAIR} s[0] = *t; {_GIVEN}",
    f"{_PAIR} *s = (T){{n, t->x}}; {_GIVEN}",
    f"{_PAIR} memcpy(s, t, sizeof *s); {_GIVEN}",
    f"{_PAIR} other(s, t); {_GIVEN}",
    f"{_PAIR} link(s, t); {_GIVEN}",
    f"{_PAIR} set(&s->x, t->x); {_GIVEN}",
    f"{_PAIR} double **p = &s->x; *p = t->x; {_GIVEN}",
    f"{_PAIR} void *p = s; ((T *)p)->x = t->x; {_GIVEN}",
    f"{_PAIR} char *p = (char *)s; p[8] = ((char *)t)[8]; {_GIVEN}",
    f"{_PAIR} double *p = s->x; f(n, p, s->x);",
    f"{_PAIR} T c = *s; f(n, c.x, s->x);",
    f"{_PAIR} T c = get(s); f(n, c.x, s->x);",
    f"{_PAIR} kept = s->x; f(n, kept, s->x);",
    f"{_PAIR} T *m[2] = {{s, s}}; f(n, m[0]->x, m[1]->x);",
    f"{_PAIR} T *u = n > 4 ? s : t; f(n, u->x, s->x);",
    f"{_PAIR} T **w = &s; *w = t; {_GIVEN}",
    f"{_PAIR} void *w = s; double **p = w; p[1] = a; w = t; p = w; p[1] = a; {_GIVEN}",
]
_OTHERS = """
void *memcpy(void *, const void *, unsigned long);
static double *kept;
void other(T *, T *);
static void link(T *a, T *b) { a->x = b->x; }
static void set(double **a, double *b) { *a = b; }
static T get(T *a) { return *a; }
"""
_USED = {name: line for line in _OTHERS.splitlines() for name in ("memcpy", "kept", "other", "link", "set", "get") if f"{name}" in line.split("{")[0]}


def _of_pointers(use: str, maker: str = _POINTER) -> Trap:
    """Only what a use names is in the file: a function that sets the member keeps it from being new."""
    needed = [line for name, line in _USED.items() if f"{name}(" in use or f"{name} =" in use]
    return _made("\n".join([*needed, maker]), use)


@pytest.mark.parametrize("use", OWN)
def test_structs_that_are_allocated_have_memory_of_their_own(use: str, tmp_path: Path) -> None:
    assert answer(_of_pointers(use), tmp_path) == PROVED


@pytest.mark.parametrize("use", SHARED)
def test_structs_that_are_allocated_may_be_given_one_memory(use: str, tmp_path: Path) -> None:
    assert answer(_of_pointers(use), tmp_path) != PROVED


MAKERS = [
    _POINTER.replace("return t;", "last = t; return t;").replace("static T", "static T *last; static T"),
    _POINTER.replace("return t;", "last = t->x; return t;").replace("static T", "static double *last; static T"),
    _POINTER.replace("t->x = malloc(8 * n);", "t->x = a;"),
    _POINTER.replace("t->x = malloc(8 * n);", "static double *m; if (!m) m = malloc(8 * n); t->x = m;"),
    f"double *(*my_alloc)(int); {_POINTER.replace('t->x = malloc(8 * n)', 't->x = my_alloc(n)')}",
    _POINTER.replace("T *t = malloc", "static T *t; if (t) return t; t = malloc"),
    _POINTER.replace("t->x = malloc(8 * n);", "t->x = pool(n);").replace("static T", "static double *pool(int n) { return a + n; } static T"),
]


@pytest.mark.parametrize("maker", MAKERS)
def test_functions_that_give_one_memory_twice(maker: str, tmp_path: Path) -> None:
    assert answer(_of_pointers(f"{_PAIR} {_GIVEN}", maker), tmp_path) != PROVED


def test_structs_by_their_addresses_are_looked_into(tmp_path: Path) -> None:
    """What `s` and `t` lead to is apart, what their members lead to is not."""
    region = "for (i = 1; i < n; i++) u->x[i] = v->x[i - 1];"
    head = "typedef struct { int n; double *x; } T;"
    shared = Trap("", region, head, parameters="int n, T *u, T *v", after="} void g(int n) { T s = {n, a}, t = s; f(n, &s, &t);")
    own = Trap("", region, head, parameters="int n, T *u, T *v", after="} void g(int n) { T s = {n, a}, t = {n, b}; f(n, &s, &t);")
    assert answer(shared, tmp_path) != PROVED
    assert answer(own, tmp_path) == PROVED


@pytest.mark.parametrize(
    ("setup", "is_proved"),
    [
        ("struct v t = s[0]; s[0] = s[1]; s[1] = t;", True),
        ("{ struct v t = s[n - 1]; s[n - 1] = s[1]; s[1] = t; }", True),
        ("struct v t = s[0]; s[0] = s[1]; if (n > 3) s[1] = t;", False),
        ("struct v t = s[0]; if (n) s[1] = t; s[0] = s[1];", False),
        ("struct v t = s[0]; s[1] = t; s[0] = s[1];", False),
        ("struct v t = s[0]; s[0] = s[1]; t = s[1]; s[1] = t;", False),
        ("struct v t = s[0]; s[0] = s[1]; s[1] = t; s[0] = s[1];", False),
        ("j = 0; struct v t = s[j++]; s[j++] = s[1]; s[1] = t;", False),
    ],
)
def test_structs_are_exchanged_by_three_statements_that_stand_together(
    setup: str, is_proved: bool, tmp_path: Path
) -> None:
    body = "for (i = 0; i < n; i++) s[0].p[i] = s[1].p[i + 1];"
    trap = Trap("", body, head="struct v { double *p; };", setup=setup, parameters="int n, struct v *s")
    assert (answer(trap, tmp_path) == PROVED) == is_proved


@pytest.mark.parametrize(
    ("filled", "given", "is_proved"),
    [
        ("r[k][0] = malloc(n);", "f(n, r[k], r[j]);", True),
        ("r[k][0] = malloc(n);", "f(n, r[k], r[k]);", False),
        ("r[k][0] = malloc(n);", "f(n, r[k], r[n]);", False),
        ("r[k][0] = r[j][0];", "f(n, r[k], r[j]);", False),
    ],
)
def test_rows_of_rows_are_apart_where_all_are_allocated(
    filled: str, given: str, is_proved: bool, tmp_path: Path
) -> None:
    head = "#include <stdlib.h>\ndouble **r[9];"
    after = f"}} void g(int n, int k) {{ int j = k - 1; r[k] = malloc(n); {filled} {given}"
    body = "for (i = 1; i < n; i++) x[0][i] = y[0][i - 1];"
    trap = Trap("", body, head=head, after=after, parameters="int n, double **x, double **y")
    assert (answer(trap, tmp_path) == PROVED) == is_proved


@pytest.mark.parametrize(
    ("head", "parameters", "body", "after", "said"),
    [
        ("char *p;", "int n", "p[i] = 1;", "", "p: no write through a pointer changes it"),
        ("", "int n, struct v *s", "s->p[i] = 0;", "", "s->p: no write through a pointer changes it"),
        ("char *p;", "int n", "p[i] = 1;", "} void g(void) { p = (char *)&p; f(8);", None),
        ("double *p;", "int n", "p[i] = 1;", "", ""),
        ("", "int n, char *p", "p[i] = 1;", "", ""),
    ],
)
def test_pointers_that_are_written_through_themselves(
    head: str, parameters: str, body: str, after: str, said: str | None, tmp_path: Path
) -> None:
    """Characters and pointers may be parts of the pointer that leads to them; numbers are not."""
    trap = Trap("", f"for (i = 0; i < n; i++) {body}", f"struct v {{ void **p; }}; {head}", "", after, parameters)
    found = answer(trap, tmp_path)
    assert (found == PROVED) == (said is not None)
    if said is not None:
        (program,) = read_c(tmp_path / "t.c")
        assert [one.text for one in program.trusted if "changes it" in one.text] == [said] * bool(said)


_S = "struct S { double *x, *y; };"
_N = "struct N { struct N *l, *r; double *v, w[9]; };"
_MEMBERS = {
    "set in a function": (f"{_S} void set(struct S *s, double *v) {{ s->x = v; s->y = v; }}", "struct S s; set(&s, a); f(9, s.x, s.y);"),
    "set by two functions": (f"{_S} void one(struct S *s, double *v) {{ s->x = v; }} void two(struct S *s, double *v) {{ s->y = v; }}", "struct S s; one(&s, a); two(&s, a); f(9, s.x, s.y);"),
    "set two functions deep": (f"{_S} void one(struct S *s, double *v) {{ s->x = v; }} void two(struct S *s, double *v) {{ one(s, v); s->y = v; }}", "struct S s; two(&s, a); f(9, s.x, s.y);"),
    "set by their addresses": (f"{_S} void set(double **s, double *v) {{ *s = v; }}", "struct S s; set(&s.x, a); set(&s.y, a); f(9, s.x, s.y);"),
    "set as a whole": (f"{_S} void set(struct S *s, double *v) {{ *s = (struct S){{ v, v }}; }}", "struct S s; set(&s, a); f(9, s.x, s.y);"),
    "returned as a literal": (f"{_S} struct S make(double *v) {{ return (struct S){{ v, v }}; }}", "struct S s = make(a); f(9, s.x, s.y);"),
    "through a pointer that is kept": (f"{_S} struct S *kept; void set(double *v) {{ kept->x = v; kept->y = v; }}", "struct S s; kept = &s; set(a); f(9, s.x, s.y);"),
    "of a struct that points to itself": (_N, "struct N t; t.l = &t; t.v = a; f(9, t.l->v, t.v);"),
    "arrays of a struct that points to itself": (_N, "struct N t; t.l = &t; f(9, t.l->w, t.w);"),
    "of one struct by two ways": (_N, "struct N u = { 0, 0, a }, t = { &u, &u, 0 }; f(9, t.l->v, t.r->v);"),
    "an array and its struct": (_N, "struct N t; f(9, t.w, (double *)&t + 3);"),
    "a variable that has another name": ('double *v = b; extern double *u __attribute__((alias("v")));', "u = a; f(9, v, a);"),
    "an array that has another name": ('extern double u[100] __attribute__((alias("a")));', "f(9, u, a);"),
    "one name by two labels": ('double *v __asm__("p") = b; extern double *u __asm__("p");', "u = a; f(9, v, a);"),
    "at the end of a variable": ("void end(double **v) { f(9, *v, a); }", "double *u __attribute__((cleanup(end))) = a;"),
    "at the end of a struct": (f"{_S} void end(struct S *v) {{ f(9, v->x, a); }}", "struct S u __attribute__((cleanup(end))) = { a };"),
    "parts of complex numbers": ("double _Complex z[9];", "f(9, (double *)z, &__real__ z[0]);"),
}
_MEMBERS_APART = {
    "set in a function": (f"{_S} void set(struct S *s, double *v, double *w) {{ s->x = v; s->y = w; }}", "struct S s; set(&s, a, b); f(9, s.x, s.y);"),
    "set and exchanged": (_S, "struct S s; s.x = a; s.y = b; for (int k = 0; k < 3; k++) { f(9, s.x, s.y); double *t = s.x; s.x = s.y; s.y = t; }"),
    "allocated in a function": (f"void *malloc(unsigned long); {_S} void set(struct S *s) {{ s->x = malloc(80); s->y = malloc(80); }}", "struct S s; set(&s); f(9, s.x, s.y);"),
    "of structs that were made": (f"void *malloc(unsigned long); {_N} struct N *make(void) {{ struct N *t = malloc(99); t->v = malloc(80); return t; }}", "struct N *t = make(); t->l = make(); t->r = make(); f(9, t->l->v, t->r->v);"),
    "arrays of one struct": (_N.replace("w[9]", "w[9], u[9]"), "struct N t; f(9, t.w, t.u);"),
}


@pytest.mark.parametrize("is_apart", [False, True])
def test_members_that_a_call_gives(is_apart: bool, tmp_path: Path) -> None:
    wrong = []
    for name, (head, call) in (_MEMBERS_APART if is_apart else _MEMBERS).items():
        rest = f"}} {head}\nvoid g(void) {{ {call}"
        trap = Trap(name, _LOOP, head="void f(int, double *, double *);", after=rest)
        wrong += [name] if (answer(trap, tmp_path) == PROVED) != is_apart else []
    assert not wrong
