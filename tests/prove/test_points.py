"""Witnesses are small: the point of a set that a person would have picked."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.presburger.points import Point, smallest_point


@pytest.mark.parametrize(
    ("points", "wanted"),
    [
        ("[n] -> { [i] : 0 <= i < n }", Point({"n": 1}, (0,))),
        ("[n, m] -> { : n > m > 4 }", Point({"n": 6, "m": 5}, ())),
        ("{ [i, j] : i <= -3 and j > 10 - i }", Point({}, (-3, 14))),
        ("[n] -> { S[[i] -> [j]] : i = 7n and j = 3 and n mod 2 = 1 }", Point({"n": 1}, (7, 3))),
        ("[n] -> { [i] : n >= 100000000000000000000 and i = n + 1 }", Point({"n": 10**20}, (10**20 + 1,))),
        ("{ [i] : (i = -2 or i = 5) }", Point({}, (-2,))),
        ("{ [] }", Point({}, ())),
    ],
)
def test_smallest_point(points: str, wanted: Point) -> None:
    assert smallest_point(isl.Set(points)) == wanted


def test_an_empty_set_has_none() -> None:
    assert smallest_point(isl.Set("[n] -> { [i] : 0 < 2i < 2 and n > 3 }")) is None
