"""What the functions of Python are given: values of other kinds are refused with what is to be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import loopwright
from tests.conftest import ROOT

lw: Any = loopwright
"""Without its types: what a caller without mypy may write."""
SUMS = ROOT / "docs" / "tutorial" / "sums.c"
TILES = ROOT / "examples" / "triangle_tiles.poly"
KERNELS = ROOT / "kernels"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: lw.read(None),
        lambda: lw.read("a\0b.c"),
        lambda: lw.read("\udc80\ud800.c"),
        lambda: lw.read(SUMS, pure=[3]),
        lambda: lw.read(SUMS, assume="\ud800 > 0"),
        lambda: lw.read(SUMS, loop=10**5000),
        lambda: lw.read(SUMS, function=3),
        lambda: lw.read(SUMS)[10**5000],
        lambda: lw.read(SUMS)[1.5],
        lambda: lw.read(SUMS)["Add"].strip_mine("i", 10**5000),
        lambda: lw.read(SUMS)["Add"].interchange(10**5000, "i"),
        lambda: lw.read(SUMS).transform(b"reverse(Add, i)"),
        lambda: lw.read(SUMS).perform("reverse(Add, i)"),
        lambda: lw.prove(lw.read_schedule(TILES), 3),
        lambda: lw.generate(3),
        lambda: lw.generate(lw.read_schedule(TILES), loop_type="none"),
        lambda: lw.suggest(SUMS),
        lambda: lw.describe(SUMS),
        lambda: lw.to_c(None),
        lambda: lw.to_c(()),
        lambda: lw.to_c([lw.read(SUMS), lw.read(KERNELS / "gemm.c")]),
        lambda: lw.to_c([lw.read(SUMS), lw.read(SUMS)]),
        lambda: lw.check(SUMS, N="3"),
        lambda: lw.check(SUMS, N=10**5000),
        lambda: lw.report(SUMS, 3),
    ],
)
def test_values_of_other_kinds_are_bad_input(wrong: Callable[[], object]) -> None:
    """With what is to be written instead; never an error of the inside."""
    with pytest.raises(lw.BadInput) as caught:
        wrong()
    assert caught.value.hint or "argument" in caught.value.message


def test_one_name_is_one_name() -> None:
    """`pure="sin"` is not three functions."""
    (program,) = (plan.program for plan in lw.read_regions(SUMS, pure="sin", assume="N >= 3"))
    assert program == lw.read(SUMS, pure=("sin",), assume=("N >= 3",)).program
