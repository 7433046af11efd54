"""Sums under `atomic` and `critical` are reductions, where nothing else is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.file import c_file
from loopwright.c.reworded.guarded_sums import with_reductions
from loopwright.c.reworded.own_values import FINITE
from loopwright.c.typed.options import PLAIN
from loopwright.errors import BadInput, GaveUp
from loopwright.prove.comparison.files import agreement, compare_files
from loopwright.prove.comparison.texts import Comparison, ComparisonOptions
from loopwright.prove.equivalence.combinations import COMPARABLE
from loopwright.prove.verdict import REORDERED, Proved, Verdict
from loopwright.source import Source
from tests.conftest import share

HEADERS = "#include <float.h>\n#include <limits.h>\n#include <math.h>\n#include <omp.h>\n"
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
        found = with_reductions(Source("f.c", text), PLAIN).text
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
    found = with_reductions(Source("f.c", SEVERAL), PLAIN).text
    assert "reduction(+:s, t)" in found and "critical" not in found and "own" not in found
    assert found.count("\n") == SEVERAL.count("\n") and "{ s += x[i]; t += 2; }" in found
    alone = Source("f.c", SEVERAL.replace("critical (adding)", "atomic"))
    assert with_reductions(alone, PLAIN) == alone


def _compared(new: str, folder: Path, *, allow_reassociation: bool = True, old: str = OLD) -> Verdict:
    return _comparison(new, folder, allow_reassociation=allow_reassociation, old=old).verdict


def _comparison(new: str, folder: Path, *, allow_reassociation: bool = True, old: str = OLD) -> Comparison:
    before, after = folder / "old.c", folder / "new.c"
    before.write_text(f"{HEADERS}{old}")
    after.write_text(f"{HEADERS}{new}")
    options = ComparisonOptions(allow_reassociation=allow_reassociation)
    return compare_files(before, after, options)


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
    assert c_file(source).regions and with_reductions(source, PLAIN) == source


SET = CRITICAL.replace("double own = 0.0;", "double own; own = 0;")
PRIVATE = CRITICAL.replace("s = 0;", "s = 0, own;", 1).replace("double own = 0.0;", "own = 0;")
PRIVATE = PRIVATE.replace("parallel\n", "parallel default(none) private(own) shared(s, x, n)\n")
SPELLED = CRITICAL.replace("own += x[i]", "own = x[i] + own").replace("s += own", "s = s + own")
SPELLED_ATOMIC = ATOMIC.replace("s += x[i]", "s = x[i] + s")
PRIVATE_PARTS = PARTS.replace("s = 0;", "s = 0, own;", 1).replace("double own = 0;", "own = 0;")
PRIVATE_PARTS = PRIVATE_PARTS.replace("parallel\n", "parallel private(own)\n")
SPELLED_PARTS = PARTS.replace("own += x[i]", "own = own + x[i]").replace("s += own", "s = own + s")


@pytest.mark.parametrize("new", [SET, PRIVATE, SPELLED, SPELLED_ATOMIC, PRIVATE_PARTS, SPELLED_PARTS])
def test_other_spellings_of_sums(tmp_path: Path, new: str) -> None:
    new = new.replace("#pragma scop\n", "").replace("#pragma endscop\n", "")
    assert isinstance(_compared(new, tmp_path), Proved)


PRODUCT = SPELLED.replace("x[i] + own", "x[i] * own").replace("s + own", "s * own")
PRODUCT = PRODUCT.replace("own = 0.0", "own = 1.0").replace("double s = 0", "double s = 1")


def test_products(tmp_path: Path) -> None:
    old = OLD.replace("s = 0", "s = 1").replace("+=", "*=")
    new = PRODUCT.replace("#pragma scop\n", "").replace("#pragma endscop\n", "")
    assert isinstance(_compared(new, tmp_path, old=old), Proved)
    _refuted_or_undecided(PRODUCT, "own = 1.0", "own = 0.0", tmp_path, old)
    _refuted_or_undecided(PRODUCT, "s = s * own", "s = s + own", tmp_path, old)
    _refuted_or_undecided(PRODUCT, "own = x[i] * own", "own = x[i] * own * own", tmp_path, old)


BIGGEST = """double biggest(int n, const double *x) {
  double best = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > best) best = x[i];
  return best;
}
"""
MERGED = """double biggest(int n, const double *x) {
  double best = 0;
#pragma omp parallel
  {
    double m = 0;
#pragma omp for nowait
    for (int i = 0; i < n; i++)
      if (x[i] > m) m = x[i];
#pragma omp critical (merge)
    if (m > best) best = m;
  }
  return best;
}
"""
CHOSEN = MERGED.replace("if (x[i] > m) m = x[i]", "m = m < x[i] ? x[i] : m")
CHOSEN = CHOSEN.replace("if (m > best) best = m", "best = m > best ? m : best")
CHOSEN = CHOSEN.replace("m = 0", "m = -INFINITY")
CALLED = MERGED.replace("if (x[i] > m) m = x[i]", "m = fmax(m, x[i])")
CALLED = CALLED.replace("if (m > best) best = m;", "{ best = fmax(best, m); }")
CALLED = CALLED.replace("m = 0", "m = -DBL_MAX")
BY_MACRO = "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n" + CALLED.replace("fmax(best", "MAX(best")
SHARED = MERGED.replace("m = 0", "m = best").replace(" nowait", "")
FIRST = MERGED.replace("m = 0", "m = x[0]").replace("best = 0", "best = x[0]")
NUMBERED = """    int me = omp_get_thread_num(), all = omp_get_num_threads();
    int lo = n * me / all, hi = n * (me + 1) / all;
    double m = 0;
"""
IN_PARTS = MERGED.replace("    double m = 0;\n#pragma omp for nowait\n", NUMBERED)
IN_PARTS = IN_PARTS.replace("i = 0; i < n", "i = lo; i < hi")
IN_TURN = """double biggest(int n, const double *x) {
  double best = 0;
#pragma omp parallel for shared(best)
  for (int i = 0; i < n; i++) {
#pragma omp critical
    { if (best < x[i]) best = x[i]; }
  }
  return best;
}
"""
FIRST_CALLED = FIRST.replace("if (x[i] > m) m = x[i]", "m = fmax(x[i], m)")
EXTREMES = [MERGED, CHOSEN, CALLED, BY_MACRO, SHARED, FIRST, FIRST_CALLED, IN_PARTS, IN_TURN]


@pytest.mark.parametrize("new", EXTREMES)
def test_the_largest_value(tmp_path: Path, new: str) -> None:
    """No value may be a NaN; where a thread begins at the least finite number, none may be less."""
    old = BIGGEST.replace("= 0;\n", "= x[0];\n") if new in (FIRST, FIRST_CALLED) else BIGGEST
    found = _comparison(new, tmp_path, old=old)
    assert found.proved and found.contract == REORDERED
    assert COMPARABLE in found.trusted and (FINITE in found.trusted) == ("DBL_MAX" in new)
    assert not isinstance(_compared(new, tmp_path, allow_reassociation=False, old=BIGGEST), Proved)


def test_the_smallest_integer(tmp_path: Path) -> None:
    """Integers need no assumption: they are the same in every order."""
    kind = {"double": "int", ">": "<", "m = 0": "m = INT_MAX"}
    old, new = BIGGEST, MERGED
    for was, now in kind.items():
        old, new = old.replace(was, now), new.replace(was, now)
    found = _comparison(new, tmp_path, old=old, allow_reassociation=False)
    assert found.proved and COMPARABLE not in found.trusted and not found.contract
    for number in ("INT_MIN", "LONG_MAX", "-1"):
        _refuted_or_undecided(new, "INT_MAX", number, tmp_path, old)


WRONG = {
    "a sum that is not begun": (SET, " own = 0;", ""),
    "a sum that is begun at another number": (SET, "own = 0;", "own = 2;"),
    "a sum that is begun twice": (SET, "own = 0;", "own = 0; own = 1;"),
    "a sum that all threads share": (PRIVATE, "private(own) shared(s, x, n)", "shared(own, s, x, n)"),
    "a private sum that is not begun": (PRIVATE, "    own = 0;\n", ""),
    "a private sum that is begun outside": (PRIVATE, "    own = 0;\n", "    own = s;\n"),
    "a total of each thread": (PRIVATE, "private(own) shared(s, x, n)", "private(own, s) shared(x, n)"),
    "a total that is read": (SET, "s += own; }\n", "s += own; }\n    if (s > 3) own = 1;\n"),
    "no guard": (SET, "#pragma omp critical (adding)\n", ""),
    "a sum that is taken from": (SPELLED, "s = s + own", "s = s - own"),
    "a sum that takes away": (SPELLED, "s = s + own", "s = own - s"),
    "a step from another variable": (SPELLED, "own = x[i] + own", "own = x[i] + s"),
    "a sum that is doubled": (SPELLED, "s = s + own", "s = s + own + own"),
    "a sum that is counted too": (SPELLED, "s = s + own", "s = s + own + 1"),
    "a sum that overwrites": (SPELLED, "s = s + own", "s = own"),
    "a step that takes from": (SPELLED_ATOMIC, "s = x[i] + s", "s = x[i] - s"),
    "a step that overwrites": (SPELLED_ATOMIC, "s = x[i] + s", "s = x[i]"),
    "a step that reads twice": (SPELLED_ATOMIC, "s = x[i] + s", "s = x[i] + s + s"),
    "another operator": (SPELLED, "s = s + own", "s = s * own"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_sums(tmp_path: Path, name: str) -> None:
    text, was, now = WRONG[name]
    _refuted_or_undecided(text, was, now, tmp_path, OLD)


WRONG_EXTREMES = {
    "a larger first value": (MERGED, "m = 0", "m = 1"),
    "no first value": (MERGED, "m = 0", "m"),
    "a value that all threads share": (MERGED, "double m = 0;", "static double m = 0;"),
    "no guard": (MERGED, "#pragma omp critical (merge)\n", ""),
    "the smaller one in the end": (MERGED, "if (m > best)", "if (m < best)"),
    "the smaller one of each thread": (MERGED, "if (x[i] > m)", "if (x[i] < m)"),
    "another value in the end": (MERGED, "best = m;", "best = m + 1;"),
    "another comparison": (MERGED, "if (m > best)", "if (m > 2)"),
    "what is merged is read": (MERGED, "best = m;\n", "best = m;\n    if (best > 9) m = best;\n"),
    "what is merged is read in the loop": (MERGED, "if (x[i] > m)", "if (x[i] > best)"),
    "a choice of the smaller one": (CHOSEN, "m > best ? m : best", "m > best ? best : m"),
    "a choice of something else": (CHOSEN, "m > best ? m : best", "m > best ? m : 0"),
    "a choice by another value": (CHOSEN, "m > best ?", "n > best ?"),
    "the other infinity": (CHOSEN, "-INFINITY", "INFINITY"),
    "the smaller one by a call": (CALLED, "fmax(best, m)", "fmin(best, m)"),
    "a call with less precision": (CALLED, "fmax(best, m)", "fmaxf(best, m)"),
    "a call of another value": (CALLED, "fmax(best, m)", "fmax(m, m)"),
    "the largest number": (CALLED, "-DBL_MAX", "DBL_MAX"),
    "the least number of another type": (CALLED, "-DBL_MAX", "-FLT_MAX"),
    "a function of the file": (CALLED, "double b", "double fmax(double a, double b) { return a; }\ndouble b"),
    "a macro that is the smaller one": (BY_MACRO, "(a) > (b)", "(a) < (b)"),
    "a macro that counts": (BY_MACRO, "? (a)", "? (a) + 1"),
    "a macro that is another": (BY_MACRO, ": (b)", ": (a)"),
    "what others have merged already": (SHARED, "omp for", "omp for nowait"),
    "what others have merged, by numbers": (IN_PARTS, "m = 0", "m = best"),
    "a first value that the loop changes": (FIRST, "m = x[0]", "m = n, n = 0"),
    "a first value of the block": (FIRST, "double m = x[0]", "const double *x = 0; double m = x[0]"),
    "a first value of another place": (FIRST, "m = x[0]", "m = x[1]"),
    "a first value of each thread": (FIRST, "m = x[0]", "m = x[omp_get_thread_num()]"),
    "a part is lost": (IN_PARTS, "n * (me + 1) / all", "n * me / all + n / all"),
    "no guard of parts": (IN_PARTS, "#pragma omp critical (merge)\n", ""),
    "an atomic choice": (IN_TURN, "critical", "atomic"),
    "a test outside of the guard": (IN_TURN, "#pragma omp critical\n    { if", "    if"),
    "no guard in turn": (IN_TURN, "#pragma omp critical\n", ""),
    "a smaller one in turn": (IN_TURN, "if (best < x[i])", "if (best > x[i])"),
}


@pytest.mark.parametrize("name", share([*WRONG_EXTREMES], 2))
def test_wrong_extremes(tmp_path: Path, name: str) -> None:
    text, was, now = WRONG_EXTREMES[name]
    old = BIGGEST.replace("= 0;\n", "= x[0];\n") if text == FIRST else BIGGEST
    _refuted_or_undecided(text, was, now, tmp_path, old)


def _refuted_or_undecided(text: str, was: str, now: str, folder: Path, old: str) -> None:
    assert was in text
    new = text.replace(was, now, 1).replace("#pragma scop\n", "").replace("#pragma endscop\n", "")
    try:
        found = _compared(new, folder, old=old)
    except (BadInput, GaveUp):
        return
    assert not isinstance(found, Proved)


def test_sections_of_different_names_do_not_exclude_each_other() -> None:
    second = MERGED[MERGED.index("#pragma omp parallel") : MERGED.index("  return")]
    second = second[second.index("#pragma omp for nowait") : second.rindex("  }")]
    text = MERGED.replace("best = m;\n", f"best = m;\n{second.replace('(merge)', '(again)')}")
    marked = text.replace("  double best = 0;\n", "  double best = 0;\n#pragma scop\n")
    source = Source("f.c", marked.replace("  return", "#pragma endscop\n  return"))
    assert text.count("critical") == 2 and with_reductions(source, PLAIN) == source
