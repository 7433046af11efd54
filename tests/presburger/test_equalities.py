"""Affine hulls of unions, which isl may take very long for."""

from __future__ import annotations

from random import Random

import islpy as isl
import pytest

from loopwright.presburger.equalities import affine_hull

SMALL = (
    "{ S[i] -> [2i] : 0 <= i < 5; S[i] -> [2i + 4] : 7 <= i < 9 }",
    "[n] -> { S[i, j] -> [i, j + n] : j = i mod 2 or j = i mod 3 }",
    "[n] -> { S[i, j] -> [i, 6j] : i mod 4 = 1 and j = 3; S[i, j] -> [i, 4j] : i mod 6 = 1 and n mod 2 = 1 }",
    "{ S[i] -> [i] : i = 3; S[i] -> [i] : i = 5 }",
    "{ S[i] -> [0] : 1 = 0 }",
)


@pytest.mark.parametrize("text", SMALL)
def test_the_hull_is_that_of_isl(text: str) -> None:
    relation = isl.Map(text)
    assert affine_hull(relation).is_equal(relation.affine_hull())


def test_many_disjuncts_with_many_hidden_variables() -> None:
    """isl's own hull of these takes 6 s of processor time, and of a hundred minutes."""
    chosen = Random(3)
    pieces = []
    for k in range(20):
        m = chosen.choice((2, 3, 4, 5, 7))
        time, low, high = chosen.choice((2, 3)), chosen.randint(0, 3), chosen.randint(4, 9)
        b, r, a, c = chosen.randint(0, 3), chosen.randint(0, 1), chosen.randint(1, 3), chosen.randint(0, 2)
        pieces.append(
            f"S[i, j] -> [i, {time}j] : {10 * k} <= i < {10 * k + 7} and {low} <= j <= {high} + i and"
            f" (i + {b}j + n) mod {m} = {r} and (exists e : {a}i - n = {m}e + {c}j)"
        )
    hull = affine_hull(isl.Map(f"[n] -> {{ {'; '.join(pieces)} }}"))
    assert hull.is_subset(isl.BasicMap("[n] -> { S[i, j] -> [i, t] }"))
