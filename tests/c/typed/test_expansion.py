"""Macros expanded as texts alone: the tokens that the full expansion gives, or no answer."""

from __future__ import annotations

import pytest

from loopwright.c.tokens import lexemes, words
from loopwright.c.typed.expansion import definition, expanded, expanded_words
from loopwright.source import Source

HEAD = """\
#define floord(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define min(x, y) ((x) < (y) ? (x) : (y))
#define N 40
#define none() 7
#define nested(x) min(x, N)
#define text(x) #x
#define paste(x, y) x ## y
#define any(x, ...) f(x, __VA_ARGS__)
#define here __LINE__
#define bound(x, y) y
#define _PB_N bound(N, n)
#define made min(_PB_N, N) + none()
#define left min
#define one other
#define other one + 1
"""
TABLE = {one.name: one for line in HEAD.splitlines() if (one := definition(line)) is not None}
FLAT = (
    "for (t = min(min(floord(N - 1, 32), floord(a[i], 8)), g(t, (u, v))); ; ) ;",
    "none() + min(, 3) + min((x, y), f(x, y)) /* min( */ + N;",
    "minimum(N_1) + x.N + 0x1N;",
    "for (t = 1; t <= min(_PB_N - 1, floord(_PB_N, 8)); t++) made;",
)
OTHERS = (
    *("min + 1", "min(1, 2", "min(1)", "min(1, 2, 3)", "none(1, 2)"),
    *("nested(3)", "text(a)", "paste(a, b)", "any(1, 2)", "here", "__LINE__", "a \\\n b"),
    *("left(1, 2)", "one", "min(other, 3)"),
)


@pytest.mark.parametrize("text", FLAT)
def test_flat_macros(text: str) -> None:
    written = words(text, 0, len(text))
    assert written is not None
    whole = expanded(Source("t.c", text), lexemes(text, 0, len(text)), TABLE.get)
    assert expanded_words(written, TABLE.get) == [token.text for token in whole]


@pytest.mark.parametrize("text", OTHERS)
def test_other_macros_and_calls_are_left_to_the_full_expansion(text: str) -> None:
    written = words(text, 0, len(text))
    assert written is None or expanded_words(written, TABLE.get) is None
