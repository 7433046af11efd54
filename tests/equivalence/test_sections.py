"""Critical sections elsewhere in the file: a thread that is in one waits at the next one of its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.reworded.guarded_sums import with_reductions
from loopwright.c.typed.options import PLAIN
from loopwright.prove.verdict import Proved
from loopwright.source import Source
from tests.equivalence.test_guarded_sums import (
    BACKWARDS,
    BIGGEST,
    CRITICAL,
    MERGED,
    OLD,
    _compared,
    _refuted_or_undecided,
)

MARKS = ("#pragma scop\n", "#pragma endscop\n")
SUM = CRITICAL.replace(MARKS[0], "").replace(MARKS[1], "")
CALLER = """void all(int n, double *x) {
#pragma omp parallel
  {
#pragma omp critical (adding)
    x[0] += 1;
  }
}
"""
ENTERED = {
    "a call": ("x[0] += 1", "x[0] = total(n, x)"),
    "a call by a macro": ("x[0] += 1", "\n#define SUM total(n, x)\n x[0] = SUM"),
    "a section by an operator": ("#pragma omp parallel", '_Pragma("omp critical (adding)")'),
}
NOT_ENTERED = {
    "no call": ("", ""),
    "another name": ("(adding)\n    x[0] += 1", "(other)\n    x[0] = total(n, x)"),
    "no name": (" (adding)\n    x[0] += 1", "\n    x[0] = total(n, x)"),
}


@pytest.mark.parametrize("name", [*ENTERED, *NOT_ENTERED])
def test_no_thread_enters_a_section_from_one_of_the_same_name(name: str) -> None:
    """It would wait for ever, which the original does not."""
    was, now = {**ENTERED, **NOT_ENTERED}[name]
    source = Source("f.c", CRITICAL + CALLER.replace(was, now, 1))
    assert (with_reductions(source, PLAIN) == source) == (name in ENTERED)


def test_a_sum_that_is_called_in_a_section(tmp_path: Path) -> None:
    caller = CALLER.replace("x[0] += 1", "x[0] = total(n, x)")
    assert isinstance(_compared(SUM + CALLER, tmp_path, old=OLD + CALLER), Proved)
    _refuted_or_undecided(SUM + CALLER, "x[0] += 1", "x[0] = total(n, x)", tmp_path, OLD + caller)


def test_a_section_around_a_section() -> None:
    text = CRITICAL.replace(MARKS[0], f"#pragma omp critical (adding)\n  {{\n{MARKS[0]}")
    source = Source("f.c", text.replace(MARKS[1], f"{MARKS[1]}  }}\n"))
    assert with_reductions(source, PLAIN) == source


def test_two_functions_with_sections(tmp_path: Path) -> None:
    """The pragmas of one do not stand against the other; a section that is gone does."""
    assert isinstance(_compared(SUM + MERGED, tmp_path, old=OLD + BIGGEST), Proved)
    assert isinstance(_compared(BACKWARDS + CALLER, tmp_path, old=OLD + CALLER), Proved)
    _refuted_or_undecided(BACKWARDS + CALLER, "#pragma omp critical (adding)\n", "", tmp_path, OLD + CALLER)
