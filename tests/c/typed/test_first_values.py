"""The first values of a loop are set once: its test and its step see those of later iterations too."""

from __future__ import annotations

import pytest

from loopwright.c.typed import tree
from loopwright.c.typed.file import typed_file
from loopwright.c.typed.known_values import ValuesBefore
from loopwright.source import Source

CHANGED = [
    "for (int i = 0; k = i, k < 5; i++) g(k);",
    "for (i = 0; k = i, k < 5; i++) g(k);",
    "for (i = 0; i < 5; k = i, i++) g(k);",
    "for (int i = 0; i < 5; k = i, i++) g(k);",
    "for (int i = 0, j = k; k = j, i < 5; i++, j++) g(k);",
    "for (k = 0; k < 5; ) { g(k); k = n; }",
    "for (k = 0; g(k), k < 5; k++) ;",
    "for (i = 0; i < 5; i++) { for (k = 0; k < 1; k++) ; g(k); }",
    "if (n) for (k = 7; n; n--) ; g(k);",
]
"""Where k has several values when g is called."""
SET = [
    "k = 3; for (k = 0; n; n--) g(k);",
    "for (k = 3, k = 0; n; n--) g(k);",
    "k = 3; for (int k = 0; n; n--) g(k);",
    "k = 3; if (n) for (k = 0; n; n--) { g(k); }",
]
"""Where it has the value 0 alone."""


def _given(body: str) -> list[frozenset[int] | None]:
    """What is known of k where g is called with it."""
    text = f"void g(int); void f(int n) {{ int i, k = 0; {body}\n#pragma scop\nn = 1;\n#pragma endscop\n}}\n"
    (function,) = typed_file(Source("k.c", text)).functions_named("f")
    calls = (node for node in function.nodes if isinstance(node, tree.CallExpression))
    names = (tree.without_casts(one.arguments[0]) for one in calls)
    known = ValuesBefore(function)
    return [known.values(one.declaration, one.place.first) for one in names if isinstance(one, tree.Name)]


@pytest.mark.parametrize("body", CHANGED)
def test_values_of_later_iterations_count(body: str) -> None:
    assert all(one is None or len(one) > 1 for one in _given(body)) and _given(body)


@pytest.mark.parametrize("body", SET)
def test_first_values_replace_others(body: str) -> None:
    assert _given(body) == [frozenset([0])]
