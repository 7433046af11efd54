"""A local of one function only that does something by being declared, and files next to it that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.file import c_file
from loopwright.prove.comparison.outside import outside_difference
from loopwright.source import Source, Span
from tests.traps.support import PROVED, comparison, function

_G = "int g(int *k) { a[0] = 7; return 1; }"
SEEN = {
    "a cleanup before it": ("__attribute__((cleanup(g))) int q;", _G),
    "a cleanup after it": ("int q __attribute__((cleanup(g)));", _G),
    "a cleanup in brackets": ("[[gnu::cleanup(g)]] int q;", _G),
    "a cleanup by a macro": ("int q CLEAN;", f"#define CLEAN __attribute__((cleanup(g)))\n{_G}"),
    "a cleanup by the macro of a type": ("CLEAN q;", f"#define CLEAN __attribute__((cleanup(g))) int\n{_G}"),
    "a volatile variable": ("volatile int q = 1;", ""),
    "a read of a volatile one": ("int q = r;", "volatile int r;"),
    "a read of a volatile type": ("int q = r;", "typedef volatile int V; V r;"),
    "a read by a volatile pointer": ("int *q = (int *)r[0];", "int *volatile r[9];"),
    "a length that counts": ("int q[n++];", ""),
    "a length that a call gives": ("int q[g(0)];", _G),
    "a length that a macro counts": ("int q[N];", "#define N n++"),
    "a pointer to such an array": ("int (*q)[n++];", ""),
    "a type that counts": ("__typeof__(int[n++]) q[1];", ""),
    "a first value by a macro that assigns": ("int q = Q;", "#define Q (n = 3)"),
    "a first value by a macro that calls": ("int q = Q;", f"#define Q g(0)\n{_G}"),
    "a first value by a macro of a macro": ("int q = Q;", "#define R n++\n#define Q (R)"),
    "a first value by a macro of an element": ("double q = Q;", "#define Q a[n]"),
    "a register": ('register long q __asm__("rsp") = 0;', ""),
    "an enumerator that is named elsewhere": ("enum { Z = 3 } *q;", "enum { Z = 2 };"),
    "a tag that is named elsewhere": ("struct Z { int k, l; } q[1];", "struct Z { int k; };"),
}
NOT_SEEN = {
    "an alignment": ("__attribute__((aligned(32))) double q[4];", ""),
    "an alignment of C": ("_Alignas(32) double q[4];", ""),
    "a constant": ("const int q = 4;", ""),
    "a value by a macro": ("int q = Q;", "#define N 100\n#define Q (N - 1)"),
    "a value by a macro with arguments": ("int q = MIN(n, 4);", "#define MIN(k, l) ((k) < (l) ? (k) : (l))"),
    "a length by a macro": ("double q[N + 2][4 * N];", "#define N 100"),
    "a length by an enumerator": ("double q[N];", "enum { N = 100 };"),
    "a row": ("double *q = A[n];", ""),
    "a pointer to rows": ("double (*q)[100] = A;", ""),
    "a function": ("int (*q)(int *) = g;", _G),
    "a pointer to a struct": ("struct Z *q;", "struct Z { int k; };"),
}


def _place(declared: str, head: str) -> Span:
    after = "s = Z;" if head.startswith("enum { Z") else "s = sizeof(struct Z);" if head.startswith("struct Z {") else ""
    text = function("for (i = 0; i < n; i++) a[i] = b[i];", head=head, setup=declared, after=after)
    return c_file(Source("t.c", text)).regions[0].place


@pytest.mark.parametrize("name", SEEN)
def test_a_declaration_that_does_something_is_a_difference(name: str) -> None:
    declared, head = SEEN[name]
    with_it, without = _place(declared, head), _place("", head)
    assert outside_difference(without, with_it) is not None
    assert outside_difference(with_it, without) is not None
    assert outside_difference(with_it, with_it) is None


@pytest.mark.parametrize("name", NOT_SEEN)
def test_a_declaration_that_does_nothing_is_none(name: str) -> None:
    declared, head = NOT_SEEN[name]
    with_it, without = _place(declared, head), _place("", head)
    assert outside_difference(without, with_it) is None
    assert outside_difference(with_it, without) is None


def test_an_element_that_may_not_exist_is_not_read() -> None:
    """`r[n]` is read by NEW alone, where OLD has no row n."""
    with_it, without = (_place(text, "double **r;") for text in ("double *q = r[n];", ""))
    assert outside_difference(without, with_it) is not None
    assert outside_difference(with_it, without) is None


def test_prove_gives_no_plain_yes(tmp_path: Path) -> None:
    loop = "for (i = 0; i < n; i++) a[i] = b[i];"
    old = function(loop, head=_G, setup="__attribute__((cleanup(g))) int q;")
    new = function(loop, head=_G)
    assert "the declaration of 'q' may do something" in comparison(old, new, tmp_path)
    assert comparison(new, new, tmp_path) == PROVED
