"""Whatever is done to a good text, it is read or refused with a place inside it; nothing else happens."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.errors import BadInput
from loopwright.model.schedule import Schedule
from loopwright.read import cloog, isl_flat, isl_tree, poly
from tests.conftest import examples

FLAT = """\
[n] -> { S[i, j] -> [i, 0, j] : exists (e = floor(i/2) : 2e = i and 0 <= i, j < n);
  T[i] -> [i, 1, 0] : i = 3 }
[n] -> { : n >= 1 }
{ [i, t, j] -> separate[x] : x >= 1 }
"""

TREE = """\
domain: "[n] -> { S[i, j] : 0 <= i, j < n }"
child:
  context: "[n] -> { [] : n > 3 }"
  child:
    schedule: "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]"
    permutable: 1
    coincident: [ 1, 0 ]
    options: "{ unroll[0]; isolate[[] -> [a, b]] : a < 3 }"
    child:
      sequence:
      - filter: "{ S[i, j] : i < j }"
      - filter: "{ S[i, j] : i >= j }"
        child:
          mark: "slow"
          child:
            expansion: "{ S[i, j] -> A[i, j, k] : 0 <= k < 3 }"
            contraction: "{ A[i, j, k] -> S[i, j] }"
"""

CLOOG = "c\n1 3\n1 1 -1\n1\nn\n1\n1\n2 4\n1 1 0 -1\n1 -1 1 0\n0 0 0\n1\ni\n1\n1 5\n0 1 -1 0 0\n0\n"

POLY = """\
param n, m
context n >= 1 and m >= 1
statement S(i, j)
  domain 1 <= i <= n and exists k: j = 2k + i % 3
  schedule i > 2 ? i / 2 : min(j, m), 0
  argument i, j
option separate 0 : t0 >= 4
"""

FORMATS: dict[str, tuple[Callable[[str, str], Schedule], str]] = {
    "in": (isl_flat.parse, FLAT),
    "st": (isl_tree.parse, TREE),
    "cloog": (cloog.parse, CLOOG),
    "poly": (poly.parse, POLY),
}


@st.composite
def mutations(draw: st.DrawFn, text: str) -> str:
    """The text with one to four of its words deleted, doubled or replaced by another of its words."""
    words = re.findall(r"\s+|\w+|.", text, re.DOTALL)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(words) - 1))
        other = words[draw(st.integers(0, len(words) - 1))]
        match draw(st.sampled_from(("delete", "insert", "replace"))):
            case "delete" if len(words) > 1:
                del words[place]
            case "insert":
                words.insert(place, other)
            case _:
                words[place] = other
    return "".join(words)


@pytest.mark.parametrize("name", FORMATS)
def test_the_text_itself_is_read(name: str) -> None:
    parse, text = FORMATS[name]
    assert isinstance(parse(text, "f"), Schedule)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=examples(200))
@given(data=st.data())
def test_mutated_texts_are_read_or_refused(name: str, data: st.DataObject) -> None:
    parse, good = FORMATS[name]
    text = data.draw(mutations(good))
    try:
        parse(text, "f")
    except BadInput as error:
        assert error.message
        assert error.span is not None
        lines = text.split("\n")
        assert 1 <= error.span.line <= len(lines)
        assert 1 <= error.span.column <= len(lines[error.span.line - 1]) + 1
