"""What random attacks found in the bounds and types of new loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import pytest

from loopwright.emit.region import Loops, new_source
from loopwright.errors import GaveUp, InternalError
from loopwright.model.program import Array, Program
from loopwright.rewrite import targets
from loopwright.source import Source
from loopwright.transform import storage
from loopwright.transform.storage import TextEdit
from tests.fuzz.test_found import made


@pytest.mark.parametrize("kind", ["_Bool", "unsigned char", "unsigned"])
def test_new_loops_count_in_types_that_hold_their_numbers(kind: str) -> None:
    """A printer that does otherwise is found out."""

    def mistaken(regions: Sequence[Loops], *, openmp: bool) -> Source:
        source = new_source(regions, openmp=openmp)
        return replace(source, text=source.text.replace("(int i", f"({kind} i"))

    with patch.object(targets, "new_source", mistaken), pytest.raises(InternalError, match="counts 'i' in"):
        made("for (int i = 1; i < n; i++) B[i] = 1;\n", "reverse(S1, i)")


def test_loops_that_copy_count_in_types_that_hold_their_numbers() -> None:
    """What new storage declares is not known from the old file."""
    step = storage._edited

    def mistaken(program: Program, edits: Sequence[TextEdit], new: Sequence[Array], end: str) -> Source:
        assert "for (int B_1" in end
        return step(program, edits, new, end.replace("for (int B_1", "for (_Bool B_1"))

    with patch.object(storage, "_edited", mistaken), pytest.raises(InternalError, match="counts 'B_1' in"):
        made("for (int i = 1; i < n; i++) B[i] = 1;\n", "pack(B, S1, written)")


_CONVERTED = [(">= 1", ">= 1u"), ("n - 1", "n - 1ul"), ("n - 1", "(unsigned)n - 1")]


@pytest.mark.parametrize(("right", "wrong"), _CONVERTED)
def test_bounds_of_new_loops_are_not_converted_to_unsigned_types(right: str, wrong: str) -> None:
    """-3 is no less than 1 there."""

    def mistaken(regions: Sequence[Loops], *, openmp: bool) -> Source:
        source = new_source(regions, openmp=openmp)
        assert right in source.text
        return replace(source, text=source.text.replace(right, wrong))

    with patch.object(targets, "new_source", mistaken), pytest.raises(GaveUp, match="unsigned type"):
        made("for (int i = 1; i < n; i++) B[i] = 1;\n", "reverse(S1, i)")


def test_a_bound_that_is_one_less_may_be_below_zero() -> None:
    """`j < m + 1` of an unsigned j asks that m is at least -1; `j <= m` never ends there."""
    loop = "for (unsigned j = 0; j < m + 1; j++) B[j] = 1;\n"
    assert "for (long long j = 0; j <= m; j++)" in made(loop, "")

    def mistaken(regions: Sequence[Loops], *, openmp: bool) -> Source:
        source = new_source(regions, openmp=openmp)
        return replace(source, text=source.text.replace("(long long j", "(unsigned j"))

    with patch.object(targets, "new_source", mistaken), pytest.raises(GaveUp, match="'m' may be below 0"):
        made(loop, "")
