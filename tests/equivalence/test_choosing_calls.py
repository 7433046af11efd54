"""Larger and smaller values of threads: names of the library, and calls that leave a value as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import BadInput, GaveUp
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import Proved
from loopwright.read.c.options import ReadOptions

KEPT = """#include <limits.h>
#include <math.h>

int best(int n, int *x) {
  int s = -5;
  for (int i = 0; i < n; i++)
    if (x[i] > s)
      s = x[i];
  return s;
}
"""
OF_THREADS = KEPT.replace(
    "  for",
    """#pragma omp parallel
  {
    int own = INT_MIN;
#pragma omp for
  for""",
).replace("if (x[i] > s)\n      s = x[i];", "if (x[i] > own)\n      own = x[i];")
OF_THREADS = OF_THREADS.replace(
    "  return", "#pragma omp critical\n    if (own > s) s = own;\n  }\n  return"
)
REDUCED = KEPT.replace("  for", "#pragma omp parallel for reduction(max:s)\n  for")
CALLED = "s = fmax(s, x[i]);"
DOUBLES = tuple((f"int {name}", f"double {name}") for name in ("best", "*x", "s", "own"))


def _is_proved(old: str, new: str, folder: Path, *defined: str) -> bool:
    before, after = folder / "old.c", folder / "new.c"
    before.write_text(old)
    after.write_text(new)
    way = ReadOptions(compiled=CompilerOptions(arguments=defined))
    asked = ComparisonOptions(reading=way, allow_reassociation=True)
    try:
        found = compare_files(str(before), str(after), asked)
    except (BadInput, GaveUp):
        return False
    return isinstance(found.verdict, Proved)


def _with(text: str, *changes: tuple[str, str]) -> str:
    for was, now in changes:
        text = text.replace(was, now)
    return text


SHADOWED = {
    "a parameter": ("int *x", "int *x, int INT_MIN"),
    "a variable of the function": ("int s = -5;", "int s = -5, INT_MIN = 7;"),
    "a variable of the file": ("int best", "static const int INT_MIN = 7;\nint best"),
    "an enumerator": ("int best", "enum { INT_MIN = 7 };\nint best"),
    "a header that comes later": ("  return s;\n}\n", "  return s;\n}\n#include <limits.h>\n"),
}


def test_the_least_number_is_that_of_the_library(tmp_path: Path) -> None:
    assert _is_proved(KEPT, OF_THREADS, tmp_path)
    (tmp_path / "own.h").write_text("#include <limits.h>\n")
    texts = [one.replace("<limits.h>", '"own.h"') for one in (KEPT, OF_THREADS)]
    assert _is_proved(texts[0], texts[1], tmp_path)
    (tmp_path / "other.h").write_text("#define INT_MIN 7\n")
    headers = '"other.h"', "<math.h>"
    other, bare = ([one.replace("<limits.h>", name) for one in (KEPT, OF_THREADS)] for name in headers)
    assert not _is_proved(other[0], other[1], tmp_path)
    assert not _is_proved(bare[0], bare[1], tmp_path, "-DINT_MIN=7")


@pytest.mark.parametrize("name", SHADOWED)
def test_other_things_of_its_name(tmp_path: Path, name: str) -> None:
    bare = ("#include <limits.h>\n", "")
    old, new = (_with(one, bare, SHADOWED[name]) for one in (KEPT, OF_THREADS))
    if "later" in name:
        old, new = (one.replace("int s = -5;", "int s = -5, INT_MIN = 7;") for one in (old, new))
    assert not _is_proved(old, new, tmp_path)


def test_a_choosing_function_is_that_of_the_library(tmp_path: Path) -> None:
    last = ("if (own > s) s = own;", "s = fmax(s, own);"), ("INT_MIN", "-INFINITY")
    old, new = _with(KEPT, *DOUBLES), _with(OF_THREADS, *DOUBLES, *last)
    assert _is_proved(old, new, tmp_path)
    assert not _is_proved(old, new, tmp_path, "-Dfmax=hypot")
    given = ("double *x", "double *x, double (*fmax)(double, double)"), ("#include <math.h>\n", "")
    unknown = new.replace("-INFINITY", "-1.0 / 0.0")
    assert not _is_proved(_with(old, *given), _with(unknown, *given), tmp_path)


def _own(head: str) -> tuple[str, str]:
    return "double best", f"{head} {{ return a > b ? a : b; }}\ndouble best"


ROUNDING = {
    "a float of a double": (("fmax", "fmaxf"), *DOUBLES),
    "a double of a long": (("int best", "long best"), ("int *x", "long *x"), ("int s", "long s")),
    "ints of doubles": (*DOUBLES, ("fmax", "max"), _own("static int max(int a, int b)")),
    "arguments that are ints of doubles": (
        *DOUBLES,
        ("fmax", "max"),
        _own("static double max(int a, int b)"),
    ),
    "a result that is an int of doubles": (
        *DOUBLES,
        ("fmax", "max"),
        _own("static int max(double a, double b)"),
    ),
}


@pytest.mark.parametrize("name", ROUNDING)
def test_calls_that_round_the_accumulator(tmp_path: Path, name: str) -> None:
    """In threads with accumulators of their own, the first value is not rounded."""
    called = ("if (x[i] > s)\n      s = x[i];", CALLED), ("int s = -5;", "int s = x[n];")
    old, new = (_with(one, *called, *ROUNDING[name]) for one in (KEPT, REDUCED))
    assert not _is_proved(old, new, tmp_path)
    exact = (*called, *DOUBLES)
    assert _is_proved(_with(KEPT, *exact), _with(REDUCED, *exact), tmp_path)
    own = ("if (x[i] > own)\n      own = x[i];", "own = fmax(own, x[i]);")
    merged = _with(OF_THREADS, own, *called[1:], *ROUNDING[name], ("INT_MIN", "-INFINITY"))
    assert not _is_proved(old, merged, tmp_path)


@pytest.mark.parametrize(
    ("macro", "step"),
    [
        ("(a, b) ((a) > (b) ? (a) : (b))", ""),
        ("(a, b) ((a) > b ? (a) : b)", "s = max(s, x[i] ? x[i] : 1);"),
        ("(a, b) (a > (b) ? a : (b))", "s = max(x[i] & 7, s);"),
    ],
)
def test_a_macro_that_splits_its_arguments_is_no_maximum(tmp_path: Path, macro: str, step: str) -> None:
    called = (
        ("if (x[i] > s)\n      s = x[i];", step or "s = max(s, x[i] ? x[i] : 1);"),
        ("int best", f"#define max{macro}\nint best"),
    )
    old, new = (_with(one, *called) for one in (KEPT, REDUCED))
    assert _is_proved(old, new, tmp_path) == (not step)
