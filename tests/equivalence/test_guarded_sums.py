"""Sums under `atomic` and `critical` are reductions, where nothing else is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.file import c_file
from loopwright.c.reworded.guarded_sums import with_reductions
from loopwright.errors import BadInput
from loopwright.prove.comparison.files import agreement, compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import REORDERED, Proved, Verdict
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


SEVERAL = CRITICAL.replace("own = 0.0", "own = 0.0, more = 0")
SEVERAL = SEVERAL.replace("own += x[i];", "{ own += x[i]; more += 2; }")
SEVERAL = SEVERAL.replace("s += own;", "s += own; t += more;").replace("s = 0;", "s = 0, t = 0;")
PARTS = """double total(int n, const double *x) {
  double s = 0;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    int lo = n * me / all, hi = n * (me + 1) / all;
    double own = 0;
    for (int i = lo; i < hi; i++)
      own += x[i];
#pragma omp critical
    s += own;
  }
  return s;
}
"""
STRIDED = PARTS.replace("int i = lo; i < hi; i++", "int i = me; i < n; i += all")
STRIDED = STRIDED.replace("critical", "atomic")


def test_several_sums() -> None:
    found = with_reductions(Source("f.c", SEVERAL)).text
    assert "reduction(+:s, t)" in found and "critical" not in found and "own" not in found
    assert found.count("\n") == SEVERAL.count("\n") and "{ s += x[i]; t += 2; }" in found
    alone = Source("f.c", SEVERAL.replace("critical (adding)", "atomic"))
    assert with_reductions(alone) == alone


def _compared(new: str, folder: Path, *, allow_reassociation: bool = True) -> Verdict:
    before, after = folder / "old.c", folder / "new.c"
    before.write_text(f"#include <omp.h>\n{OLD}")
    after.write_text(f"#include <omp.h>\n{new}")
    options = ComparisonOptions(allow_reassociation=allow_reassociation)
    return compare_files(before, after, options).verdict


@pytest.mark.parametrize("new", [PARTS, STRIDED])
def test_parts_of_threads(tmp_path: Path, new: str) -> None:
    assert isinstance(_compared(new, tmp_path), Proved)
    assert not isinstance(_compared(new, tmp_path, allow_reassociation=False), Proved)


WRONG_PARTS = {
    "a part is lost": ("n * (me + 1) / all", "n * me / all + n / all"),
    "a part is added twice": ("int lo = n * me / all", "int lo = 0"),
    "a term is left out": ("int i = lo", "int i = lo + 1"),
    "a sum begins with 1": ("own = 0", "own = 1"),
    "no guard": ("#pragma omp critical\n", ""),
    "another guard": ("omp critical", "omp master"),
    "a bound of each thread": ("omp parallel\n", "omp parallel reduction(+:n)\n"),
}


@pytest.mark.parametrize("name", WRONG_PARTS)
def test_wrong_parts_of_threads(tmp_path: Path, name: str) -> None:
    was, now = WRONG_PARTS[name]
    assert was in PARTS
    try:
        found = _compared(PARTS.replace(was, now), tmp_path)
    except BadInput:
        return
    assert not isinstance(found, Proved)


OTHERS = {
    "a sum in another type": (CRITICAL, "double own", "float own"),
    "a sum that begins with 1": (CRITICAL, "0.0", "1.0"),
    "a sum that is read": (CRITICAL, "own += x[i]", "own += x[i] * own"),
    "a sum that is set": (CRITICAL, "own += x[i]", "own = x[i]"),
    "a sum that is taken away": (CRITICAL, "s += own", "s -= own"),
    "what the sum is added to, in the loop": (CRITICAL, "own += x[i]", "own += x[i] + s"),
    "a static sum": (CRITICAL, "double own", "static double own"),
    "two statements": (CRITICAL, "s += own;", "s += own; own = 0;"),
    "a sum that is added twice": (CRITICAL, "s += own;", "s += own; s += own;"),
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
