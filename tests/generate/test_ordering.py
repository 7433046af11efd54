"""The order of disjoint pieces of a dimension: the law, by enumeration.

[Grosser2015, section 5.7], [Courant2021, appendix A]
"""

from __future__ import annotations

from itertools import combinations

import islpy as isl
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from loopwright.generate.components import sort_pieces
from tests.conftest import examples
from tests.generate.support import flat, proved_program

LEVEL = 2
BOX = "-3 <= x <= 3 and -3 <= y <= 3"

CYCLES = {
    "two pieces in either order": ("t = 2x", "t = 1"),
    "the order depends on a remainder": ("t = 2*(x mod 2)", "t = 1"),
    "three pieces, no two of them in both orders": (
        "t = 0 and 0 <= x <= 2 and x mod 2 = 0",
        "t = 1 and 0 <= x <= 1",
        "t = 5 - 3x and 1 <= x <= 2",
    ),
    "the order depends on two dimensions": ("t = 2x", "t = 2y + 1", "t = 9 - 4x - 4y and x >= 1 and y >= 1"),
}


def points(pieces: list[isl.BasicSet]) -> list[list[tuple[int, ...]]]:
    found: list[list[tuple[int, ...]]] = []
    for piece in pieces:
        inside: list[isl.Point] = []
        piece.to_set().foreach_point(inside.append)
        axes = [[p.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(3)] for p in inside]
        found.append([tuple(point) for point in axes])
    return found


def check(pieces: list[isl.BasicSet]) -> None:
    """Every point once, and for equal outer values the pieces one after the other."""
    wanted, found = points(pieces), points(sort_pieces(pieces, LEVEL))
    assert sorted(p for piece in wanted for p in piece) == sorted(p for piece in found for p in piece)
    for earlier, later in combinations(found, 2):
        last = {point[:LEVEL]: point[LEVEL] for point in sorted(earlier)}
        assert all(last.get(point[:LEVEL], point[LEVEL]) <= point[LEVEL] for point in later)


@pytest.mark.parametrize("name", CYCLES)
def test_cycles_are_split(name: str) -> None:
    cycle = [isl.BasicSet(f"{{ [x, y, t] : {BOX} and {text} }}") for text in CYCLES[name]]
    check(cycle)
    assert len(sort_pieces(cycle, LEVEL)) > len(cycle)


@st.composite
def affine(draw: st.DrawFn) -> str:
    a, b, c = (draw(st.integers(-k, k)) for k in (2, 2, 6))
    return f"{a}x + {b}y + {c}"


@st.composite
def pieces(draw: st.DrawFn) -> isl.BasicSet:
    """An interval of t for each x and y, or for those of one residue or on one side of a line alone."""
    value, divisor = draw(affine()), draw(st.integers(2, 3))
    wide = draw(st.integers(0, 2))
    kinds = (
        f"t = {value}",
        f"{divisor}t = {value}",
        f"t = floor(({value})/{divisor})",
        f"{value} <= t <= {value} + {wide}",
    )
    limits = ("", f" and {draw(affine())} >= 0", f" and ({draw(affine())}) mod {divisor} = 0")
    text = f"{{ [x, y, t] : {BOX} and {draw(st.sampled_from(kinds))}{draw(st.sampled_from(limits))} }}"
    return isl.BasicSet(text)


@settings(max_examples=examples(60))
@given(st.lists(pieces(), min_size=3, max_size=8))
def test_any_disjoint_pieces(drawn: list[isl.BasicSet]) -> None:
    kept: list[isl.BasicSet] = []
    for piece in drawn:
        if not piece.is_empty() and all(piece.is_disjoint(other) for other in kept):
            kept.append(piece)
    assume(len(kept) > 1)
    note("; ".join(map(str, kept)))
    check(kept)


def test_statements_that_share_a_stride_only_with_a_third_one() -> None:
    """B differs from A by even numbers, C by odd ones; for i < 10 there is no A, and B(1) precedes C(1)."""
    schedule = flat(
        "[n] -> { A[i, j] -> [i, 2j, 0] : 10 <= i < 20 and 0 <= j < n;"
        " B[i] -> [i, i, 0] : 0 <= i < 10 or (10 <= i < 20 and i mod 2 = 0);"
        " C[i] -> [i, 1, 1] : 0 <= i < 20 }"
    )
    proved_program(schedule)
