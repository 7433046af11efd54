"""Macros that stand for an element of an array are the access they expand to."""

from __future__ import annotations

import pytest

from tests.c.support import reads, refusal, region, underlined, writes

ALL = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) "
HEAD = """
#define M(r, c) a[(r)*m+(c)]
#define AT(p, r, c) (p[(r)*m+(c)])
#define G(k) g[k]
#define OFF(k) h[k+off]
"""


@pytest.mark.parametrize(
    ("text", "read", "written"),
    [
        (ALL + "M(i, j) = b[i];", ["b[i]"], ["a[i, j]"]),
        (ALL + "M(i, j) += M(i, 0) * x;", ["a[i, j]", "a[i, 0]", "x[]"], ["a[i, j]"]),
        (ALL + "--M(i, j);", ["a[i, j]"], ["a[i, j]"]),
        (ALL + "AT(a, i, j) = AT(b, i, j) + a[i*m+j];", ["b[i, j]", "a[i, j]"], ["a[i, j]"]),
        (ALL + "G(i) = G(i+1) + G((int)M(i, j));", ["g[1 + i]", "a[i, j]", "g[o0]?"], ["g[i]"]),
        (ALL + "x = y ? G(i) : OFF(j);", ["y[]", "g[i]?", "h[off + j]?"], ["x[]"]),
        (ALL + "(G(i)) = (G(j))-y*z;", ["g[j]", "y[]", "z[]"], ["g[i]"]),
    ],
)
def test_a_macro_is_the_element_it_stands_for(text: str, read: list[str], written: list[str]) -> None:
    (statement,) = region(text, head=HEAD).statements
    assert reads(statement) == read and writes(statement) == written


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        (ALL + "G((int)G(j)) = 1;", "not a variable or an array element", "G((int)G(j))"),
        (ALL + "*(short *)&G(j) = 1;", "through a pointer to another type", "*(short *)&G(j)"),
        (ALL + "g[i] = G((int)G(j));", "hides a use of 'g'", "G"),
        (ALL + "{ off = i; OFF(j) = 1; }", "hides a use of 'off'", "OFF"),
        ("for (off = 0; off < n; off++) OFF(0) = 1;", "hides a use of 'off'", "OFF"),
        (ALL + "{ G(i) = 1; g->next = 0; }", "both through a macro and through its fields", "G(i)"),
    ],
)
def test_macros_that_hide_more_are_refused(text: str, message: str, where: str) -> None:
    error = refusal(text, head=HEAD)
    assert message in error.message and underlined(error) == where and error.hint
