"""`prove`: what NEW computes beyond its type at small sizes, in subscripts, bounds and branches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import PROVED, comparison, function


@pytest.mark.parametrize(
    ("element", "is_same"),
    [
        ("a[(i + 2147483647) - 2147483647]", False),
        ("a[(i + K) - K]", False),
        ("a[(int)(i + 2147483647u) - 2147483647]", False),
        ("*(a + (i - 2147483647 + 2147483647 + 7 - 7))", True),
        ("a[(i + 2147483647L) - 2147483647]", True),
        ("a[(i - 2000000000) + 2000000000]", True),
        ("a[i * 40000 - i * 39999]", True),
        ("a[i * 1000000001 - i * 1000000000]", False),
    ],
)
def test_a_subscript_that_overflows_at_small_sizes(element: str, is_same: bool, tmp_path: Path) -> None:
    """It is an assumption that subscripts do not overflow, but not one that excludes all sizes above 1."""
    old, new = (f"for (i = 0; i < n; i++) {one} = 1;" for one in ("a[i]", element))
    head = "#define K 2147483640"
    said = comparison(function(old, head=head), function(new, head=head), tmp_path)
    assert (said == PROVED) == is_same
    assert is_same or "in a type that ends at 2147483647, and leaves it" in said


@pytest.mark.parametrize(
    ("head", "is_same"),
    [
        ("i = 0; i + 2147483640 < n + 2147483640; i++", False),
        ("i = 0; i < n + 2147483647 - 2147483647; i++", False),
        ("i = 0; i * 1000000000 < n * 1000000000; i++", False),
        ("i = 0; i - 2000000000 < n - 2000000000; i++", True),
        ("i = 0; i + 100000 < n + 100000; i++", True),
    ],
)
def test_a_bound_that_overflows_at_small_sizes(head: str, is_same: bool, tmp_path: Path) -> None:
    old, new = (f"for ({one}) a[i] = 1;" for one in ("i = 0; i < n; i++", head))
    assert (comparison(function(old), function(new), tmp_path) == PROVED) == is_same
    assert comparison(function(new), function(new), tmp_path) == PROVED


def test_a_branch_that_is_not_taken_overflows_in_vain(tmp_path: Path) -> None:
    numbers = ("1000000000L", "1000000000")
    old, new = (f"for (i = 0; i < n; i++) q[i] = i < 2 ? i * {one} : 0;" for one in numbers)
    said = comparison(function(old, head="long q[9];"), function(new, head="long q[9];"), tmp_path)
    assert "where it is evaluated" in said
