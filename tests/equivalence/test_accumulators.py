"""Values that are accumulated in several variables: every contribution once and once only."""

from __future__ import annotations

from pathlib import Path
from platform import machine

import pytest

from loopwright.c.reworded.jumps import RETURNED
from loopwright.c.types import DOUBLE
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import Comparison, ComparisonOptions
from loopwright.prove.equivalence.answer import REASSOCIATION
from loopwright.prove.equivalence.combinations import COMPARABLE, PARTIAL
from loopwright.prove.equivalence.numbering import MOST_TOGETHER, Table
from loopwright.prove.verdict import Refuted, Undecided
from tests.conftest import share
from tests.equivalence.accumulators import RIGHT, UNDECIDED, WRONG


def compared(folder: Path, old: str, new: str, *, reassociate: bool = True) -> Comparison:
    if "immintrin.h" in new and machine() != "x86_64":
        pytest.skip("instructions of x86")
    files = folder / "old.c", folder / "new.c"
    for file, text in zip(files, (old, new), strict=True):
        file.write_text(text)
    return compare_files(*files, ComparisonOptions(allow_reassociation=reassociate))


@pytest.mark.parametrize("name", share([*RIGHT], 2))
def test_every_contribution_once(name: str, tmp_path: Path) -> None:
    found = compared(tmp_path, *RIGHT[name])
    assert found.proved, found.verdict
    assert REASSOCIATION in found.trusted or found.answers[0].way == "by instances"


@pytest.mark.parametrize("name", share([*WRONG], 2, 1))
def test_a_contribution_too_many_or_too_few(name: str, tmp_path: Path) -> None:
    verdict = compared(tmp_path, *WRONG[name]).verdict
    assert isinstance(verdict, Refuted), verdict


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_rounds_otherwise_is_not_proved(name: str, tmp_path: Path) -> None:
    verdict = compared(tmp_path, *UNDECIDED[name]).verdict
    assert isinstance(verdict, Undecided), verdict


def test_unsigned_sums_are_exact(tmp_path: Path) -> None:
    found = compared(tmp_path, *RIGHT["unsigned"], reassociate=False)
    assert found.proved and REASSOCIATION not in found.trusted


@pytest.mark.parametrize("name", ["four variables", "signed", "the largest"])
def test_other_sums_are_not(name: str, tmp_path: Path) -> None:
    assert not compared(tmp_path, *RIGHT[name], reassociate=False).proved


@pytest.mark.parametrize(("name", "said"), [("signed", PARTIAL), ("the largest", COMPARABLE)])
def test_what_is_assumed_is_said(name: str, said: str, tmp_path: Path) -> None:
    assert said in compared(tmp_path, *RIGHT[name]).trusted


def test_the_largest_of_ints_is_exact(tmp_path: Path) -> None:
    old, new = (text.replace("double", "int") for text in RIGHT["the largest"])
    assert compared(tmp_path, old, new, reassociate=False).proved


def test_a_witness_counts(tmp_path: Path) -> None:
    verdict = compared(tmp_path, *WRONG["a variable twice"]).verdict
    assert isinstance(verdict, Refuted)
    assert "a[2] is once in the sum of OLD, twice in that of NEW" in verdict.witness
    assert "the returned value is 1" in verdict.witness


def test_what_is_shown_is_the_users_line(tmp_path: Path) -> None:
    head = "double f(int n, const double *restrict a) { double s = 0.0;\n"
    old = f"{head}  for (int i = 0; i < n; i++) s += a[i];\n  return s; }}\n"
    found = compared(
        tmp_path, old, old.replace("s = 0.0;", "s = 0.0, t = 1.0;").replace("return s", "return s + t")
    )
    assert isinstance(found.verdict, Refuted) and RETURNED not in found.place.source.text


@pytest.mark.parametrize(("number", "is_proved"), [("0x0p0", True), ("0x.0p+1", True), ("0x1p-9", False)])
def test_first_values_in_hexadecimal(number: str, is_proved: bool, tmp_path: Path) -> None:
    old, new = RIGHT["four variables"]
    assert compared(tmp_path, old, new.replace("0.0", number, 1)).proved is is_proved


def test_sums_that_double_are_not_written_out() -> None:
    """`t += t`, of which the hundredth has 2^100 terms; equal sums have equal numbers all the same."""
    table = Table(reassociate=True)
    first = table.number(("input", "t", ()))
    found = []
    for _ in range(2):
        number = first
        for _ in range(100):
            number = table.apply("+", DOUBLE, (number, number))
        found.append(number)
    assert found[0] == found[1] != first and all(len(key) <= MOST_TOGETHER + 3 for key in table.keys)
