"""Where `++` stands, in which order parts are evaluated, and assignments in odd places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import PROVED, Trap, answer, comparison, function

_HEAD = "int q[100], r[100], w, v;"

CARRIED = [
    "r[i] = w++;",
    "a[w++] = i;",
    "r[i] = w = q[i];",
    "r[i] = (w += q[i]);",
    "(r[i] = q[i], w = i);",
    "r[i] = (w = i, q[i]);",
    "r[q[i] = 3] = i;",
    "if ((w = i) > 3) r[i] = 1;",
    "r[i] = q[i] && w++;",
    "q[i] ? (w = i) : (v = i);",
    "a[i] = (*x)++;",
    "q[i + 1] = q[i]++;",
    "r[i] = -(w = i);",
    "r[i] = q[w = i];",
    "x[i] = x[n - (w = 1)];",
    "r[i] = sqrt(s += 1);",
    "((s)) += i;",
    "0[a] = i;",
    "(&a[0])[1] = i;",
    "{ int d = w; w = i + d; }",
]
"""Each leaves a value that the next iteration sees, or the last one leaves."""

OTHERS = [
    ("r[i] = q[i]++;", "r[i] = ++q[i];"),
    ("r[i] = q[i]--;", "r[i] = q[i]++;"),
    ("r[w++] = i;", "r[++w] = i;"),
    ("r[i] = q[w++];", "r[i] = q[++w];"),
    ("r[q[i]++] = i;", "r[++q[i]] = i;"),
    ("r[i] = w++;", "{ w++; r[i] = w; }"),
    ("r[i] = w + w++;", "r[i] = w++ + w;"),
    ("r[i] -= q[i];", "r[i] =- q[i];"),
    ("a[i] = s, s = b[i];", "s = b[i], a[i] = s;"),
    ("a[i] = r[i] = b[i];", "{ r[i] = b[i]; a[i] = b[i]; }"),
    ("r[i] = q[i] || w++;", "{ w++; r[i] = q[i] || w; }"),
    ("if (q[i] == 1) r[i] = 1;", "if (q[i] = 1) r[i] = 1;"),
    ("if (q[i]) { r[i] = 1; q[i] = 0; }", "{ if (q[i]) q[i] = 0; if (q[i]) r[i] = 1; }"),
]
SAME = [
    ("r[i]++;", "++r[i];"),
    ("r[i]--;", "r[i] = r[i] - 1;"),
    ("r[i] = w = q[i];", "{ w = q[i]; r[i] = w; }"),
    ("a[i] = r[i] = b[i];", "{ r[i] = b[i]; a[i] = r[i]; }"),
]


@pytest.mark.parametrize("body", CARRIED)
def test_what_is_assigned_in_an_expression_is_seen(body: str, tmp_path: Path) -> None:
    loop = f"for (i = 0; i < n; i++) L: {body}"
    assert answer(Trap(body, loop, _HEAD, script="reverse(L, i)"), tmp_path) != PROVED


def _compared(pair: tuple[str, str], folder: Path) -> str:
    old, new = (function(f"for (i = 0; i < n; i++) {body}", head=_HEAD) for body in pair)
    return comparison(old, new, folder)


@pytest.mark.parametrize("pair", OTHERS)
def test_other_orders(pair: tuple[str, str], tmp_path: Path) -> None:
    assert _compared(pair, tmp_path) != PROVED


@pytest.mark.parametrize("pair", SAME)
def test_the_same_order(pair: tuple[str, str], tmp_path: Path) -> None:
    assert _compared(pair, tmp_path) == PROVED
