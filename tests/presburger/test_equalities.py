"""Affine hulls of unions, which isl may take very long for, and what their equalities say."""

from __future__ import annotations

from random import Random

import islpy as isl
import pytest

from loopwright.presburger.equalities import AffineForm, affine_hull, affine_values, residues

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


LARGE = 10**30


def test_values_are_read_off_the_equalities_of_any_size() -> None:
    """In the outermost iterators, where k is i; the hidden variable of the stride of j shows in no form."""
    relation = f"[n, m] -> {{ [i, j, k] -> [{LARGE}i - 2m + 7, t, j] : k = i and 2t = j and j mod 4 = n }}"
    found = affine_values(isl.Map(relation))
    half, itself = AffineForm((0, 1), (0, 0, 0), 2), AffineForm((0, 1), (0, 0, 0))
    assert found.forms == (AffineForm((LARGE,), (0, -2, 7)), half, itself)
    assert found.normal(AffineForm((0, 0, 3), (0, 0, 1))) == AffineForm((3,), (0, 0, 1))


def test_a_relation_without_equalities_has_no_forms() -> None:
    assert affine_values(isl.Map("{ [i] -> [t] : t > i }")).forms == (None,)
    assert affine_values(isl.Map("{ [i] -> [i + 1]; [i] -> [i] }")).forms == (None,)


def test_residues_are_those_of_all_points() -> None:
    points = "[n] -> { S[i, j, k, l] : i mod 4 = 3 and j = 5 and k = n and l > i }"
    assert residues(isl.Set(points)) == {(0, 4): 3, (1, 0): 5}
