"""What the functions of Python are given: values of other kinds are refused with what is to be written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import loopwright
from tests.conftest import ROOT

lw: Any = loopwright
"""Without its types: what a caller without mypy may write."""
SUMS = ROOT / "docs" / "tutorial" / "sums.c"
BY_HAND = SUMS.parent / "by-hand.c"
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
        lambda: lw.read(SUMS, assume="(" * 3000 + "N" + ")" * 3000 + " > 0"),
        lambda: lw.read(SUMS, assume=" and ".join(["N > 0"] * 3000)),
        lambda: lw.read(SUMS, loop=10**5000),
        lambda: lw.read(SUMS, function=3),
        lambda: lw.read(SUMS, flags="N=3"),
        lambda: lw.read(SUMS, flags=3),
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
        lambda: lw.check(BY_HAND, SUMS, M=3),
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


def test_flags_are_those_of_the_compiler(tmp_path: Path) -> None:
    """The header is found, and its number is the length of the rows; without it there is no such number."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "sizes.h").write_text("#define ROW 3\n")
    file = tmp_path / "k.c"
    loop = "for (int i = 0; i < n; i++) a[ROW * i] = a[i];"
    file.write_text(f'#include "sizes.h"\nvoid f(int n, double *a) {{ {loop} }}\n')
    flags = ["-I", str(tmp_path / "include")]
    assert "a[3i]" in lw.describe(lw.read(file, flags=flags))
    assert lw.prove(file, file, flags=flags).proved
    assert [nest.program is not None for nest in lw.find(file, flags=flags)] == [True]
    assert "i >= 0" not in lw.to_c(lw.read(file, flags=flags))


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda: lw.codegen, "write lw.to_c(lw.generate(lw.read_schedule('file.poly')))"),
        (lambda: lw.extract, "write lw.describe(lw.read('file.c'))"),
        (lambda: lw.read(SUMS).Add, "write plan['Add']"),
        (lambda: lw.nothing, "no attribute 'nothing'"),
    ],
)
def test_names_that_are_not_there_say_what_is(wrong: Callable[[], Any], advice: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(advice)):
        wrong()
