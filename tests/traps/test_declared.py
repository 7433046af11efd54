"""Two files whose regions are the same text, and which declare otherwise what it names."""

from __future__ import annotations

import pytest

from loopwright.c.file import c_file
from loopwright.prove.comparison.outside import outside_difference
from loopwright.source import Source
from tests.traps.support import function

_SCALED = "static double g(double k) { return k * w; }"
_CONST = "__attribute__((const))"
_TABLE = "static double g(double k) { return T[1] * k; }"
DIFFERENT = {
    "a value that a function reads": (f"static double w = 2; {_SCALED}", f"static double w = 3; {_SCALED}"),
    "a constant": (f"static const double w = 2; {_SCALED}", f"static const double w = 3; {_SCALED}"),
    "its type": (f"static double w = 2.5; {_SCALED}", f"static int w = 2.5; {_SCALED}"),
    "a type elsewhere": (f"extern double w; {_SCALED}", f"extern float w; {_SCALED}"),
    "an enumerator": (f"enum {{ w = 2 }}; {_SCALED}", f"enum {{ w = 3 }}; {_SCALED}"),
    "a typedef": ("typedef double V; static V g(V k) { return k / 3; }", "typedef float V; static V g(V k) { return k / 3; }"),
    "a table": (f"static const double T[2] = {{1, 2}}; {_TABLE}", f"static const double T[2] = {{1, 3}}; {_TABLE}"),
    "what is called": ("static double h(double k) { return k; } static double g(double k) { return h(k); }", "static double h(double k) { return -k; } static double g(double k) { return h(k); }"),
    "a parameter": (f"double g(double) {_CONST};", f"double g(float) {_CONST};"),
    "what is returned": (f"double g(double) {_CONST};", f"int g(double) {_CONST};"),
    "the name for the linker": (f"double g(double) {_CONST};", f'double g(double) __asm__("q") {_CONST};'),
    "no parameters": (f"double g(double) {_CONST};", f"double g() {_CONST};"),
    "the first values of an array": ("static double t[2] = {1, 2};", "static double t[2] = {1, 3};"),
    "a first value": ("static double t = 1;", "static double t = 2;"),
    "who sees it": ("double t;", "static double t;"),
    "a shorter array": ("double t[100];", "double t[50];"),
    "a pointer": ("double t[100];", "double *t;"),
    "fields": ("struct { int x, y; } t[100];", "struct { int y, x; } t[100];"),
    "the length in a typedef": ("typedef double V[4]; V t;", "typedef double V[5]; V t;"),
    "a pointer in a typedef": ("typedef double V; V t;", "typedef double *V; V t;"),
    "a qualifier in a typedef": ("typedef double V; V t;", "typedef const double V; V t;"),
    "a thread's own": ("double t[100];", "_Thread_local double t[100];"),
}  # fmt: skip


def _difference(old: str, new: str) -> str | None:
    body = "for (i = 0; i < n; i++) { a[i] = g(b[i]); t; }"
    places = []
    for head in (old, new):
        text = function(body, head=head).replace("double s, t;", "double s;")
        places.append(c_file(Source("t.c", text)).regions[0].place)
    return outside_difference(places[0], places[1])


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_both_regions_name_is_declared_in_the_same_way(name: str) -> None:
    old, new = DIFFERENT[name]
    assert "is not declared in the same way" in (_difference(old, new) or "")
    assert _difference(old, old) is None and _difference(new, new) is None


def test_what_only_one_file_declares_is_its_own() -> None:
    assert _difference("static double t;", "static int helper(int k) { return k; } static double t;") is None
