"""What isl finds by least and greatest values, checked where an answer follows from it."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.presburger.dimensions import only
from loopwright.presburger.functions import is_between, pieces_of_function
from loopwright.presburger.named import number, variable
from loopwright.presburger.sets import DIM

THIRDS = """[m] -> { [x, y, z] : 0 <= x <= 8 and 0 <= y <= 6 and 0 <= z <= 6
                         and z < m - m mod 3 and z mod 3 = 0 and x = 1 + y }"""


@pytest.mark.parametrize(("last", "is_inside"), [("1", False), ("3", False), ("6", False), ("7", True)])
def test_the_greatest_value_counts(last: str, is_inside: bool) -> None:
    """isl says that z is 0 for all m."""
    values = only(isl.Set(THIRDS), DIM, 2)
    assert is_between(values, number(0), number(int(last))) == is_inside


def test_bounds_may_be_sizes() -> None:
    values = isl.Set("[n] -> { A[i] : 2 <= i < n }")
    assert is_between(values, number(2), variable("n"))
    assert not is_between(values, number(3), variable("n"))
    assert not is_between(values, number(0), variable("m"))


def test_pieces_make_up_the_function() -> None:
    pieces = "S[x] -> [4 * floor(x / 4), x mod 4] : 0 <= x < m; S[x] -> [x, 9] : m <= x < 20"
    function = isl.Map(f"[m] -> {{ {pieces} }}")
    whole = isl.Map.empty(function.get_space())
    for domain, part in pieces_of_function(function):
        whole = whole.union(isl.Map.from_multi_aff(part).intersect_domain(domain))
    assert whole.is_equal(function)
