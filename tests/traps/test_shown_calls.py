"""Traps: calls that pass the same memory twice, however they reach the function with the region."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.read.c.reader import read_c

_KERNEL = """typedef void kern(double *, double *, int);
void kernel(double *x, double *y, int n) {
  int i;
#pragma scop
  for (i = 1; i < n; i++) x[i] = y[i - 1];
#pragma endscop
}
double a[100], b[100];
"""
_CALLS = {
    "two deep": "void m(double *x, double *y) { kernel(x, y, 9); } void top(void) { m(a, a); }",
    "two deep, next to each other": "void m(double *x) { kernel(x, x + 1, 9); } void top(void) { m(a); }",
    "a pointer": "void top(void) { kern *f = kernel; f(a, a, 9); }",
    "its target": "void top(void) { kern *f = &kernel; (*f)(a, a, 9); }",
    "a pointer of the file": "static kern *f = kernel; void top(void) { f(a, a, 9); }",
    "one that is set": "static kern *f; void set(void) { f = kernel; } void top(void) { f(a, a, 9); }",
    "a table": "kern *const t[] = { kernel }; void top(void) { t[0](a, a, 9); }",
    "a member": "struct { kern *run; } o = { .run = kernel }; void top(void) { o.run(a, a, 9); }",
    "an argument": "void m(kern *f, double *p) { f(p, p, 9); } void top(void) { m(kernel, a); }",
    "a result": "kern *get(void) { return kernel; } void top(void) { get()(a, a, 9); }",
    "a choice": "void o(double *, double *, int); void top(int k) { (k ? kernel : o)(a, a, 9); }",
    "a cast": "void top(void) { ((void (*)(void *, void *, int))kernel)(a, a, 9); }",
    "a macro": "#define RUN(v) kernel(v, v, 9)\nvoid top(void) { RUN(a); }",
    "chosen arguments": "void top(int k) { kernel(k ? a : b, k ? a : b, 9); }",
}


@pytest.mark.parametrize("name", _CALLS)
def test_memory_that_a_call_passes_twice_is_not_taken_apart(name: str, tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(_KERNEL + _CALLS[name] + "\n")
    with pytest.raises(BadInput, match="may be the same memory"):
        read_c(tmp_path / "t.c")


def test_members_that_a_call_gives_one_memory_are_named(tmp_path: Path) -> None:
    loop = "#pragma scop\n for (int i = 0; i < s->n; i++) s->p[i] = s->q[i] + 1;\n#pragma endscop\n"
    call = "double m[60]; void top(void) { struct S s = { m + 1, m, 30 }; f(&s); }"
    (tmp_path / "t.c").write_text(f"struct S {{ double *p, *q; int n; }};\nvoid f(struct S *s) {{\n{loop}}}\n{call}\n")
    with pytest.raises(BadInput, match=r"'s\.p' and 's\.q' may be the same memory, as the call"):
        read_c(tmp_path / "t.c")
