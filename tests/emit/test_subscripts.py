"""Subscripts after substitution read as a person would write them, and mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.emit.statement_text import tidied


@pytest.mark.parametrize(
    ("subscript", "expected"),
    [
        ("y + (-1)", "y - 1"),
        ("(-1) + 1", "0"),
        ("(8 * iT + 1) - 1", "8 * iT"),
        ("(c1 - 2 * t) - 1", "c1 - 2 * t - 1"),
        ("2*((i)+1)", "2 * i + 2"),
        ("(-t + 5) + j", "j - t + 5"),
        ("-i", "-i"),
    ],
)
def test_constants_and_names_are_collected(subscript: str, expected: str) -> None:
    assert tidied(subscript) == expected


@pytest.mark.parametrize("subscript", ["i*j", "i % 2", "(int)i", "i-1L", "010 + i", "f(i) + 1", "+", ""])
def test_what_is_not_a_sum_stays(subscript: str) -> None:
    assert tidied(subscript) == subscript


TERMS = st.recursive(
    st.sampled_from(["i", "j", "n", "0", "1", "3", "12"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-"]), inner).map(lambda words: f"({' '.join(words)})"),
        st.tuples(st.integers(0, 4).map(str), inner).map(lambda words: f"{words[0]} * {words[1]}"),
        inner.map(lambda word: f"(-{word})"),
    ),
)


@given(TERMS, st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9))
def test_the_value_is_the_same(subscript: str, i: int, j: int, n: int) -> None:
    values = {"i": i, "j": j, "n": n}
    assert eval(tidied(subscript), {}, dict(values)) == eval(subscript, {}, dict(values))
