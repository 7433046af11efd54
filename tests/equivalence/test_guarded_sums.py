"""Sums under `atomic` and `critical` are reductions, where nothing else is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.file import c_file
from loopwright.c.reworded.guarded_sums import with_reductions
from loopwright.prove.comparison.files import agreement
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import REORDERED
from loopwright.source import Source

OLD = """double total(int n, const double *x) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i];
  return s;
}
"""
ATOMIC = """double total(int n, const double *x) {
  double s = 0;
#pragma scop
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    s += x[i];
  }
#pragma endscop
  return s;
}
"""
CRITICAL = """double total(int n, const double *x) {
  double s = 0;
#pragma scop
#pragma omp parallel
  {
    double own = 0.0;
#pragma omp for nowait
    for (int i = 0; i < n; i++)
      own += x[i];
#pragma omp critical (adding)
    { s += own; }
  }
#pragma endscop
  return s;
}
"""
BACKWARDS = OLD.replace("int i = 0; i < n; i++", "int i = n - 1; i >= 0; i--")
REDUCTION = OLD.replace("  for", "#pragma omp parallel for reduction(+:s)\n  for")


@pytest.mark.parametrize("new", [ATOMIC, CRITICAL, BACKWARDS, REDUCTION])
def test_sums_in_another_order_are_told(tmp_path: Path, new: str) -> None:
    """What is promised of their bits too, whichever way the proof takes."""
    before, after = tmp_path / "old.c", tmp_path / "new.c"
    before.write_text(OLD)
    after.write_text(new.replace("#pragma scop\n", "").replace("#pragma endscop\n", ""))
    found = agreement(str(before), str(after), ComparisonOptions(allow_reassociation=True))
    assert (
        found.contract == REORDERED and "sums and products may be computed in any order" in found.assumptions
    )


def test_they_are_written_as_reductions() -> None:
    for text in (ATOMIC, CRITICAL):
        found = with_reductions(Source("f.c", text)).text
        assert "reduction(+:s)" in found and "atomic" not in found and "critical" not in found
        assert found.count("s += x[i];") == 1 and "own" not in found
        assert found.count("\n") == text.count("\n")


OTHERS = {
    "a sum in another type": (CRITICAL, "double own", "float own"),
    "a sum that begins with 1": (CRITICAL, "0.0", "1.0"),
    "a sum that is read": (CRITICAL, "own += x[i]", "own += x[i] * own"),
    "a sum that is set": (CRITICAL, "own += x[i]", "own = x[i]"),
    "a sum that is taken away": (CRITICAL, "s += own", "s -= own"),
    "what the sum is added to, in the loop": (CRITICAL, "own += x[i]", "own += x[i] + s"),
    "a static sum": (CRITICAL, "double own", "static double own"),
    "two statements": (CRITICAL, "s += own;", "s += own; own = 0;"),
    "no critical section": (CRITICAL, "#pragma omp critical (adding)\n", "#pragma omp master\n"),
    "a variable of each thread": (CRITICAL, "parallel\n", "parallel private(s)\n"),
    "a variable of each thread, by the file": (
        ATOMIC,
        "double total",
        "double s;\n#pragma omp threadprivate(s)\ndouble total",
    ),
    "a last value": (ATOMIC, "schedule(static)", "lastprivate(s)"),
    "an atomic read": (ATOMIC, "atomic", "atomic capture"),
    "a value that is read elsewhere": (ATOMIC, "    s += x[i];\n", "    s += x[i];\n    if (s > 3) s = 0;\n"),
    "an element": (ATOMIC, "s += x[i]", "s[i] += x[i]"),
    "another operation": (ATOMIC, "s += x[i]", "s = x[i] - s"),
    "integers that are cut off": (ATOMIC, "double s", "long s"),
    "a loop of one thread": (ATOMIC, "parallel for schedule(static)", "simd"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_others_stay_as_they_are(name: str) -> None:
    text, was, now = OTHERS[name]
    assert was in text
    source = Source("f.c", text.replace(was, now, 1))
    assert c_file(source).regions and with_reductions(source) == source
