"""Programs that were rewritten, correctly and incorrectly."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.verdict import Proved, Refuted, Undecided
from tests.equivalence.right import REASSOCIATED, RIGHT
from tests.equivalence.support import compared, wrapped
from tests.equivalence.wrong import WRONG


@pytest.mark.parametrize("name", RIGHT)
def test_what_computes_the_same_is_proved(tmp_path: Path, name: str) -> None:
    old, new = RIGHT[name]
    found = compared(tmp_path, wrapped(old), wrapped(new))
    assert isinstance(found.verdict, Proved), found.verdict


@pytest.mark.parametrize("name", WRONG)
def test_what_differs_is_shown_to_differ(tmp_path: Path, name: str) -> None:
    old, new, shown = WRONG[name]
    found = compared(tmp_path, wrapped(old), wrapped(new))
    assert isinstance(found.verdict, Refuted), found.verdict
    assert shown in found.verdict.witness


@pytest.mark.parametrize("new", ("p[i - 1]", "p[i - 1] - (q[i] + q[i - 1] == 37)"))
def test_what_a_maximum_hides_where_no_test_holds_is_shown(tmp_path: Path, new: str) -> None:
    """Of integers, some inputs are 0 in most cells, and numbers of the program in the others."""
    loop = "for (i = 1; i < n; i++) p[i] = p[i] > {0} ? p[i] : {0};"
    texts = (loop.format(one) for one in ("p[i - 1] + (q[i] + q[i - 1] == 37)", new))
    found = compared(tmp_path, *(wrapped(one, names="int n, int *p, int *q") for one in texts))
    assert isinstance(found.verdict, Refuted), found.verdict
    assert "p[1] is 1 after" in found.verdict.witness


@pytest.mark.parametrize("name", REASSOCIATED)
def test_sums_in_another_order_are_the_same_for_those_who_allow_it(tmp_path: Path, name: str) -> None:
    old, new = REASSOCIATED[name]
    strict = compared(tmp_path, wrapped(old), wrapped(new))
    loose = compared(tmp_path, wrapped(old), wrapped(new), allow_reassociation=True)
    assert isinstance(strict.verdict, Refuted), strict.verdict
    assert isinstance(loose.verdict, Proved), loose.verdict


UNKNOWN = {
    "three times the same": (
        "for (i = 0; i < n; i++) x[i] = x[i] + x[i] + x[i];",
        "for (i = 0; i < n; i++) x[i] = 3 * x[i];",
    ),
    "a subscript that is data": (
        "for (i = 0; i < n; i++) a[i] = b[(int)c[i]];",
        "for (i = 0; i < n; i++) a[i] = b[(int)c[i]] + 1;",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_decided_is_not_decided(tmp_path: Path, name: str) -> None:
    old, new = UNKNOWN[name]
    found = compared(tmp_path, wrapped(old), wrapped(new))
    assert isinstance(found.verdict, Undecided), found.verdict
