"""The sizes of objects, and numbers in runs that are followed."""

from __future__ import annotations

import pytest

from loopwright.c.runs.conversions import converted, summed
from loopwright.c.runs.memory import TypeSizes
from loopwright.c.types import DOUBLE, LONG_DOUBLE, CType, Field, Floating, Record

SIZES = TypeSizes(dict)
COMPLEX = Floating(64, is_complex=True)


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (LONG_DOUBLE, 16),
        (Floating(80, is_complex=True), 32),
        (COMPLEX, 16),
        (Record("s", (Field("x", DOUBLE, 0), Field("z", COMPLEX, 64)), bytes=24), 24),
    ],
)
def test_sizes(kind: CType, size: int) -> None:
    """A long double ends with bytes that it does not use; the compiler says how long a struct is."""
    assert SIZES.size(kind) == size


def test_the_digits_of_a_long_double_are_not_known() -> None:
    """9007199254740993.0L - 9007199254740992.0L is 1, and 0 in doubles."""
    assert converted(1 << 53, DOUBLE) == 2.0**53
    assert converted((1 << 53) + 1, LONG_DOUBLE) is None
    assert summed(2.0**53, 1.0, LONG_DOUBLE, "+", SIZES) is None
