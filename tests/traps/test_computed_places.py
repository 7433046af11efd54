"""Traps: pointers that the file computes to lead to one place when the region is reached, by whatever way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import PROVED, Trap
from tests.traps.test_shown_memory import _read

_HEAD = (
    "#include <stdlib.h>\n#include <string.h>\nextern volatile int hide; struct N { struct N *next; double *v; }; struct W { double *p; };"
    "static struct N *mk(void) { struct N *h = malloc(16); h->v = malloc(800); h->next = 0; return h; }"
    "static void link(struct N *a, struct N *b) { a->next = b; }"
    "static double *next(struct W *w, double *v) { double *r = w->p; w->p = v; return r; }"
    "static void same(void *d, double *v) { *(double **)d = v; }"
)


def _trap(name: str, parameters: str, setup: str, one: str, other: str, main: str) -> Trap:
    body = f"for (i = 1; i < n; i++) {one}[i] = {other}[i - 1];"
    after = f"}} int main(void) {{ {main}"
    return Trap(name, body, head=_HEAD, setup=setup, parameters=f"int n{parameters}", after=after)


_LIST = ", struct N *h"
_TWO = ", double *x, double *y"
SHARED = [
    _trap(
        "a struct that leads to itself",
        _LIST,
        "",
        "h->v",
        "h->next->v",
        "struct N *h = mk(); h->next = h; f(9, h);",
    ),
    _trap("a function links it", _LIST, "", "h->v", "h->next->v", "struct N *h = mk(); link(h, h); f(9, h);"),
    _trap("in the function", "", "struct N *h = mk(); link(h, h);", "h->v", "h->next->v", "f(9);"),
    _trap(
        "a ring of two",
        _LIST,
        "",
        "h->v",
        "h->next->next->v",
        "struct N *h = mk(), *g = mk(); link(h, g); link(g, h); f(9, h);",
    ),
    _trap(
        "one member for two",
        _LIST,
        "",
        "h->v",
        "h->next->v",
        "struct N *h = mk(), *g = mk(); link(h, g); g->v = h->v; f(9, h);",
    ),
    _trap(
        "the bytes of an address", _TWO, "", "x", "y", "double *x = a, *y = b; memcpy(&y, &x, 8); f(9, x, y);"
    ),
    _trap(
        "one byte after another",
        _TWO,
        "",
        "x",
        "y",
        "double *x = a, *y = b; for (int k = 0; k < 8; k++) ((char *)&y)[k] = ((char *)&x)[k]; f(9, x, y);",
    ),
    _trap(
        "a cast of the address of a pointer",
        _TWO,
        "*(double **)((char *)&y + 0) = x;",
        "x",
        "y",
        "f(9, a, b);",
    ),
    _trap("a function that sees bytes", _TWO, "same(&y, x);", "x", "y", "f(9, a, b);"),
    _trap("a number that is stored", _TWO, "*(long *)&y = (long)x;", "x", "y", "f(9, a, b);"),
    _trap(
        "read and set, twice",
        ", struct W *w, double *m",
        "next(w, m); double *q = next(w, a);",
        "m",
        "q",
        "struct W *w = malloc(8); w->p = 0; f(9, w, b);",
    ),
    _trap("close", _TWO, "", "x", "y", "double *x = malloc(800); f(9, x, x + 1);"),
    *(
        _trap(
            f"under a test: {setup}",
            _LIST,
            "",
            "h->v",
            "h->next->v",
            f"struct N *h = mk(), *g = mk(), **q = &h->next; h->next = g; {setup} f(9, h);",
        )
        for setup in (
            "if (hide) h->next = h;",
            "if (hide) link(h, h);",
            "if (hide) ; else h->next = h;",
            "h->next = hide ? h : g;",
            "hide && (h->next = h);",
            "if (hide) *q = h;",
            "while (hide) { h->next = h; break; }",
            "switch (hide) { case 3: h->next = h; }",
            "if (!hide) exit(1); h->next = h;",
            "if (hide) memcpy(&g->v, &h->v, 8);",
            "if (hide) for (int k = 0; k < 8; k++) ((char *)&g->v)[k] = ((char *)&h->v)[k];",
            "if (hide) ((long *)g)[1] = ((long *)h)[1];",
        )
    ),
]
APART = [
    _trap(
        "two structs", _LIST, "", "h->v", "h->next->v", "struct N *h = mk(), *g = mk(); link(h, g); f(9, h);"
    ),
    _trap(
        "far apart",
        ", double *restrict x, double *restrict y",
        "",
        "x",
        "y",
        "double *x = malloc(800); f(9, x, x + 50);",
    ),
]


_MEMBERS = {
    "a pointer to a member": ("o->pk = &o->k;", "o->k.u", "o->pk->u"),
    "a copy by a function": ("copy(&o->k, o->pk);", "o->k.u", "o->pk->u"),
    "a member by its address": ("same(&o->k.u, o->pk->v);", "o->k.u", "o->pk->v"),
    "an element by its address": ("same(o->w + 1, o->k.u);", "o->k.u", "o->w[1]"),
    "two elements by a function": ("move(o->w, 1, 0);", "o->w[0]", "o->w[1]"),
    "two elements by memcpy": ("memcpy(o->w + 1, o->w, 8);", "o->w[0]", "o->w[1]"),
    "a walk": ("walk(o->w);", "o->w[0]", "o->w[2]"),
    "kept by a function": ("keep(o); restore(o);", "o->k.u", "o->k.v"),
    "a pointer to a function": (
        "void (*g)(void *, double *) = same; g(&o->k.u, o->k.v);",
        "o->k.u",
        "o->k.v",
    ),
    "a context": ("context(o);", "o->k.u", "o->k.v"),
}
_MEMBERS_HEAD = (
    "struct K { double *u, *v; }; struct O { struct K k, *pk; double *w[3]; }; static struct K kept; "
    "static double *new(void) { double *p = malloc(400); for (int k = 0; k < 50; k++) p[k] = k; return p; } "
    "static struct O *mko(void) { struct O *o = malloc(sizeof *o); o->k.u = new(); o->k.v = new(); "
    "o->pk = malloc(sizeof(struct K)); o->pk->u = new(); o->pk->v = new(); "
    "for (int z = 0; z < 3; z++) o->w[z] = new(); return o; } "
    "static void copy(struct K *a, struct K *b) { *a = *b; } "
    "static void move(double **w, int a, int b) { w[a] = w[b]; } "
    "static void walk(double **c) { double **e = c + 3; while (--e > c) *e = *c; } "
    "static void keep(struct O *o) { kept = o->k; } static void restore(struct O *o) { o->k.v = kept.u; } "
    "static void context(void *c) { struct O *o = c; o->k.u = o->k.v; } "
)


@pytest.mark.parametrize("name", _MEMBERS)
def test_pointers_in_structs_that_a_test_makes_one_place(name: str, tmp_path: Path) -> None:
    setup, one, other = _MEMBERS[name]
    for stored, is_shared in ((setup, True), ("", False)):
        main = f"struct O *o = mko(); if (hide) {{ {stored} }} f(9, o);"
        trap = _trap(name, ", struct O *o", "", one, other, main)
        said = _read(
            Trap(name, trap.body, _HEAD + _MEMBERS_HEAD, after=trap.after, parameters=trap.parameters),
            tmp_path,
        )
        assert ("same memory" in said) == is_shared


@pytest.mark.parametrize("trap", SHARED, ids=lambda trap: trap.name)
def test_pointers_that_are_one_place(trap: Trap, tmp_path: Path) -> None:
    assert "same memory" in _read(trap, tmp_path)


@pytest.mark.parametrize("trap", APART, ids=lambda trap: trap.name)
def test_pointers_to_places_of_their_own(trap: Trap, tmp_path: Path) -> None:
    assert _read(trap, tmp_path) == PROVED
