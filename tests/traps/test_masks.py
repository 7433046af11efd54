"""Masks that keep all but the lowest bits, as unrolled loops have them: `i < (n & ~3)`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import share
from tests.traps.support import PROVED, comparison, function

HEAD = """#include <stddef.h>
#define FOUR 4
#define UNSIGNED 3u
enum { THREE = 3 };
static const int SIZE = 4;
static const volatile int DEVICE = 4;
"""
MULTIPLES = [
    "n & ~3", "n & -4", "n & ~(4 - 1)", "n & ~(FOUR - 1)", "n & -FOUR", "n & ~THREE", "n & -SIZE",
    "n & ~(SIZE - 1)", "n - (n & THREE)", "n & -(int)sizeof(int)", "n & ~3L",
    "~3 & n", "-4 & n", "~(SIZE - 1) & n", "n - (3 & n)", "(n >> 2) * 4", "(int)(n & ~3u)", "(int)(~3u & n)",
    "(int)((unsigned)n & -4u)", "(int)(n & 0xfffffffc)",
]  # fmt: skip
"""What is n / 4 * 4 for every n at which a loop runs."""
OTHERS = [
    "n & ~7", "n & ~2", "n & -5", "n & ~0", "~n & 3", "n & ~(n - 1)", "n & 6", "6 & n", "~7 & n", "-3 & n",
    "(n >> 2) * 3", "n >> 3 << 2", "n & (unsigned char)~3", "n & ~-4", "(int)(n & ~5u)", "n & (3u - 7)",
]  # fmt: skip
CONVERTED = ["n & ~3u", "n & -4u", "n & ~UNSIGNED", "n & 0xfffffffc", "n & ~sizeof(int)", "n & ~(DEVICE - 1)"]
"""A large number where n is below 0, or another one where n is wider; or a number that may change."""


def _compared(mask: str, folder: Path, kind: str = "int") -> str:
    old, new = (
        function(
            f"for (int i = 0; i < ({bound}); i++) x[i] = y[i];",
            head=HEAD,
            parameters=f"{kind} n, double *restrict x, double *restrict y",
        )
        for bound in ("n / 4 * 4", mask)
    )
    return comparison(old, new, folder)


@pytest.mark.parametrize("mask", MULTIPLES)
def test_multiples_of_four(mask: str, tmp_path: Path) -> None:
    assert _compared(mask, tmp_path) == PROVED


@pytest.mark.parametrize("kind", ["int", "long", "unsigned", "size_t", "short"])
@pytest.mark.parametrize("mask", share([*OTHERS, *CONVERTED], 2))
def test_other_masks(mask: str, kind: str, tmp_path: Path) -> None:
    is_same = kind == "unsigned" and mask in CONVERTED
    assert is_same or _compared(mask, tmp_path, kind) != PROVED


@pytest.mark.parametrize("mask", ["n & ~3u", "~3u & n", "n & -4u", "n & 0xfffffffc", "n >> 2 << 2", "n / 4 << 2"])
def test_an_unsigned_number(mask: str, tmp_path: Path) -> None:
    """A negative int is another number where it is converted, and must not be shifted to the left."""
    assert _compared(mask, tmp_path, "unsigned") == PROVED
    assert _compared(mask, tmp_path, "int") != PROVED


def test_a_wide_number_and_a_narrow_mask(tmp_path: Path) -> None:
    """~3 is -4 in any signed type; ~3u as a size_t has no bits above the lower 32."""
    assert _compared("n & ~3", tmp_path, "size_t") == PROVED
    for mask in ("n & ~3u", "~3u & n", "n & (unsigned)~3", "n & -4u", "n & 0xfffffffc"):
        assert _compared(mask, tmp_path, "size_t") != PROVED
    assert _compared("n & ~(size_t)3", tmp_path, "size_t") == PROVED


HIDDEN = {
    "a local variable": "int SIZE = n; for (int i = 0; i < n; i++) x[i % SIZE] = y[i];",
    "a variable of a loop": "for (int SIZE = 5; SIZE < 6; SIZE++) for (int i = 0; i < n; i++) x[i % SIZE] = y[i];",
    "a variable that is set": "int SIZE; SIZE = 5; for (int i = 0; i < n; i++) x[i % SIZE] = y[i];",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_constant_of_the_file_may_be_hidden(name: str, tmp_path: Path) -> None:
    parts = {"head": HEAD, "parameters": "int n, double *restrict x, double *restrict y"}
    plain = function("for (int i = 0; i < n; i++) x[i % 4] = y[i];", **parts)
    named = function("for (int i = 0; i < n; i++) x[i % SIZE] = y[i];", **parts)
    assert comparison(plain, named, tmp_path) == PROVED
    assert comparison(plain, function(HIDDEN[name], **parts), tmp_path) != PROVED
