"""A file that is wrong somewhere is refused there: loops, schedules, accesses, outlines, one change each."""

from __future__ import annotations

import pytest

from loopwright.prove.coq.check import Refused, check
from tests.coq.support import SECONDS, needs_coqc
from tests.coq.test_transformations import TRIANGLE, written
from tests.transform.support import planned

SCRIPT = "distribute(Init, Row)\ninterchange(Row, i, j)"
INNER = 'for "c1" = "c0"; "c1" < "n"; += 1 do'

WRONG = {
    "the original has one iteration less": (
        '"j" <= "i"',
        '"j" < "i"',
        "old_nothing_missing",
    ),
    "no size is allowed": ("| [n] => True", "| [n] => False", "instance_S1"),
    "the new loops do not end": (INNER, INNER.replace("<", ">="), "new_loops_end"),
    "the new loops have one iteration less": (
        INNER,
        INNER.replace('"n"', '"n" - 1'),
        "new_nothing_missing",
    ),
    "the new loops have one iteration more": (
        INNER,
        INNER.replace('= "c0"', '= "c0" - 1'),
        "new_nothing_extra",
    ),
    "the arguments are exchanged": (
        'call "S2" ("c1", "c0")',
        'call "S2" ("c0", "c1")',
        "new_nothing_missing",
    ),
    "the schedule wants the nests the other way round": (
        "[i; j] => [1; j; 0; i; 0]",
        "[i; j] => [-1; j; 0; i; 0]",
        "new_in_order",
    ),
    "the schedule wants the inner loop to count down": (
        "[i; j] => [1; j; 0; i; 0]",
        "[i; j] => [1; j; 0; - i; 0]",
        "new_in_order",
    ),
    "a cell is read that no lemma speaks of": (
        '[i; j] => [("x", [i]); ("a"',
        '[i; j] => [("x", [i]); ("x", [j]); ("a"',
        "transformation_legal",
    ),
    "an outline calls a place a number that is none": (
        "[Some 1; None; Some 0; None; Some 0] 1",
        "[Some 1; None; Some 0; Some 0; Some 0] 1",
        "transformation_legal",
    ),
    "an outline says that a statement stays which moves": (
        "[Some 1; None; Some 0; None; Some 0] 1",
        "[Some 1; None; Some 0; None; Some 0] 6",
        "transformation_legal",
    ),
    "a pair of statements is left out": (
        "  - kept_by (kept_S2_S2 n Hp).\n",
        "",
        "transformation_legal",
    ),
}


@needs_coqc
@pytest.mark.parametrize("name", WRONG)
def test_it_is_refused_at_the_lemma_it_breaks(name: str) -> None:
    old, new, lemma = WRONG[name]
    text = written(planned(TRIANGLE, SCRIPT))
    assert text.count(old) == 1
    found = check(text.replace(old, new), SECONDS)
    assert isinstance(found, Refused), found
    assert found.lemma == lemma, found
