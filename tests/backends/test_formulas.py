"""Formulas say what isl's sets say, point by point; decisions find the piece a point is in."""

from __future__ import annotations

from itertools import product

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.loops.expressions import Int
from loopwright.loops.interpreter import evaluate, holds
from loopwright.prove.obligations.decisions import choices, decided
from loopwright.prove.obligations.formulas import before, expr_of, formula_of
from loopwright.prove.obligations.timetable import pieces_of

SETS = [
    "[n] -> { [i, j] : 0 <= j <= i < n }",
    "[n] -> { [i, j] : i mod 3 = 1 and j = 2i }",
    "[n] -> { [i, j] : exists a : i = 2a + 3j and 0 <= a < n }",
    "[n] -> { [i, j] : exists a, b : i = 2a + 5b and 0 <= a < 3 and 0 <= b <= 1 and j = n }",
    "[n] -> { [i, j] : i < j or i > n; [i, j] : i = j = 0 }",
    "[n] -> { [i, j] : 2 * floor((i + n)/4) <= j }",
    "[n] -> { [i, j] : false }",
]
SMALL = range(-4, 6)


def contains(points: isl.Set, n: int, point: tuple[int, ...]) -> bool:
    one = isl.Set(f"[n] -> {{ [{', '.join(map(str, point))}] : n = {n} }}")
    return bool(one.is_subset(points))


@pytest.mark.parametrize("text", SETS)
def test_a_formula_holds_where_the_set_does(text: str) -> None:
    points = isl.Set(text)
    formula = formula_of(points, ("i", "j"))
    for n, i, j in product((-1, 0, 3), SMALL, SMALL):
        assert holds(formula, {"n": n, "i": i, "j": j}) == contains(points, n, (i, j)), (n, i, j)


vectors = st.lists(st.integers(-2, 2), min_size=1, max_size=4)


@given(vectors, vectors)
def test_before_is_the_order_of_tuples(left: list[int], right: list[int]) -> None:
    length = min(len(left), len(right))
    a, b = left[:length], right[:length]
    assert holds(before(list(map(Int, a)), list(map(Int, b))), {}) == (a < b)


PIECES = [
    ("[n] -> { [i] : 0 <= i < n and i mod 4 = 0 }", 0),
    ("[n] -> { [i] : 0 <= i < n and i mod 4 = 1 }", 1),
    ("[n] -> { [i] : 0 <= i < n and i mod 4 >= 2 }", 2),
    ("[n] -> { [i] : i >= n and i >= 0 }", 3),
]


def test_a_decision_leads_to_the_piece_that_holds_the_point() -> None:
    region = isl.Set("[n] -> { [i] : i >= 0 }")
    tree = decided(region, [(isl.Set(text), value) for text, value in PIECES], ("i",))
    assert tree is not None
    for n, i in product(range(-1, 9), range(12)):
        env = {"n": n, "i": i}
        (found,) = [
            value for way, value in choices(tree) if all(holds(test, env) is yes for test, yes in way)
        ]
        assert contains(isl.Set(PIECES[found][0]), n, (i,))


def test_a_decision_without_pieces_is_none() -> None:
    assert decided(isl.Set("{ [i] }"), [], ("i",)) is None


def test_an_exact_quotient_is_a_division() -> None:
    ((_, piece),) = pieces_of(isl.Map("{ [i] -> [o] : 2o = i - 1 }"))
    expr = expr_of(piece.get_at(0), ("i",))
    assert [evaluate(expr, {"i": i}) for i in (-3, -1, 1, 7)] == [-2, -1, 0, 3]
