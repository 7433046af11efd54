"""`prove` by values: what functions, numbers and constants are, not what they look like."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.options import CompilerOptions
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import Refuted
from loopwright.read.c.options import ReadOptions
from tests.traps.support import PROVED, comparison, function

_HEAD = """
#include <complex.h>
#include <ctype.h>
#include <math.h>
double g(double) __attribute__((const)); int h(int) __attribute__((const));
int q[100], r[100]; unsigned u[100]; double _Complex z[100];
static const int K = 4000000000; __attribute__((weak)) const int W = 2;
"""
OTHER_VALUES = [
    ("a[i] = lround(b[i]) / 2;", "a[i] = lround(b[i]) * 0.5;"),
    ("a[i] = llrint(b[i]) / 2;", "a[i] = llrint(b[i]) * 0.5;"),
    ("a[i] = ilogb(b[i]) / 2;", "a[i] = ilogb(b[i]) * 0.5;"),
    ("a[i] = signbit(b[i]) / 2;", "a[i] = signbit(b[i]) * 0.5;"),
    ("a[i] = toupper(q[i]) / 2;", "a[i] = toupper(q[i]) * 0.5;"),
    ("a[i] = cimag(z[i]);", "a[i] = cimag((double)z[i]);"),
    ("a[i] = cimag(csqrt(b[i]));", "a[i] = cimag((double)csqrt(b[i]));"),
    ("if (!(q[i] < g(b[i]))) a[i] = 1;", "if (g(b[i]) <= q[i]) a[i] = 1;"),
    ("a[i] = !(i < g(b[i]));", "a[i] = g(b[i]) <= i;"),
    ("a[i] = (int)4000000000u;", "a[i] = 4000000000u;"),
    ("a[i] = (int)4294967295u;", "a[i] = (long)4294967295u;"),
    ("a[i] = (long)18446744073709551615u;", "a[i] = 18446744073709551615u;"),
    ("a[i] = 1.00000005960464477539062500001f;", "a[i] = 1.000000059604644775390625f;"),
    ("a[i] = b[i] * 1.0000000000000000001L;", "a[i] = b[i] * 1.0L;"),
    ("a[i] = K;", "a[i] = 4000000000;"),
    ("a[i] = W;", "a[i] = 2;"),
]
SAME = [
    ("a[i] = lround(b[i]) * 1;", "a[i] = lround(b[i]);"),
    ("a[i] = 1 * fmax(b[i], s);", "a[i] = fmax(b[i], s);"),
    ("if (!(q[i] < r[i])) a[i] = 1;", "if (r[i] <= q[i]) a[i] = 1;"),
    ("a[i] = b[i] * 0.1f;", "a[i] = b[i] * (double)0.1f;"),
]
NOT_REFUTED = [
    ("a[i] = fmin(b[i] / s, 1.0);", "a[i] = fmin(1.0, b[i] / s);"),
    ("a[i] = fmax(b[i] * 0.0, 0.0);", "a[i] = fmax(0.0, b[i] * 0.0);"),
    ("a[i] = ceil(b[i]);", "a[i] = -floor(-b[i]);"),
    ("a[i] = h(i);", "a[i] = (int)h(i);"),
    ("a[i] = h(b[i]);", "a[i] = h((int)b[i]);"),
]
"""Equal, whatever the inputs; nothing else is known of them here."""


def _loops(bodies: tuple[str, str], head: str = _HEAD) -> tuple[str, str]:
    old, new = (function(f"for (i = 0; i < n; i++) {body}", head=head) for body in bodies)
    return old, new


@pytest.mark.parametrize("bodies", OTHER_VALUES)
def test_what_looks_the_same(bodies: tuple[str, str], tmp_path: Path) -> None:
    assert comparison(*_loops(bodies), tmp_path) != PROVED


@pytest.mark.parametrize("bodies", SAME)
def test_what_is_the_same(bodies: tuple[str, str], tmp_path: Path) -> None:
    assert comparison(*_loops(bodies), tmp_path) == PROVED


@pytest.mark.parametrize("bodies", NOT_REFUTED)
def test_a_witness_computes_as_c_does(bodies: tuple[str, str], tmp_path: Path) -> None:
    old, new = _loops(bodies)
    (tmp_path / "old.c").write_text(old)
    (tmp_path / "new.c").write_text(new)
    assert not isinstance(compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict, Refuted)


@pytest.mark.parametrize(
    ("macro", "option"),
    [("#define sqrt(x) sqrtf(x)", ""), ("#define sqrt(x) ((int)(x))", ""), ("", "-Dsqrt=sqrtf")],
)
def test_a_function_of_the_library_that_is_a_macro_elsewhere(macro: str, option: str, tmp_path: Path) -> None:
    (tmp_path / "m.h").write_text(f"#include <math.h>\n{macro}\n")
    old, new = _loops(("a[i] = sqrt(b[i]) / 3;", "a[i] = (double)sqrt(b[i]) / 3;"), '#include "m.h"')
    (tmp_path / "old.c").write_text(old)
    (tmp_path / "new.c").write_text(new)
    options = ComparisonOptions(ReadOptions(compiled=CompilerOptions((option,) if option else ())))
    assert not compare_files(tmp_path / "old.c", tmp_path / "new.c", options).proved


_NEGATED = ("for (i = 0; i < 9; i++) a[i] = (-b[i]) * t;", "for (i = 0; i < 9; i++) a[i] = -(b[i] * t);")
_TURNED = ("for (i = 0; i < 9; i++) a[i] = b[i] / 3;", "for (i = 8; i >= 0; i--) a[i] = b[i] / 3;")
_UNUSED = ("for (i = 0; i < 9; i++) a[i] = b[i];", "for (i = 0; i < 9; i++) { double d = sqrt(b[i]); a[i] = b[i]; }")
_ROOTS = ("for (i = 0; i < 9; i++) a[i] = fabs(b[i]);", "for (i = 8; i >= 0; i--) a[i] = fabs(b[i]);")
SEEN = [
    (_NEGATED, "fesetround(FE_UPWARD);", "", False),
    (_NEGATED, "", "s = fetestexcept(FE_INEXACT);", False),
    (_NEGATED, "#pragma STDC FENV_ACCESS ON\n", "", False),
    (_NEGATED, "_mm_setcsr(0x3f80);", "", False),
    (_NEGATED, "// fesetround\n", "", True),
    (_TURNED, "fesetround(FE_UPWARD);", "", True),
    (_UNUSED, "errno = 0;", "s = errno;", False),
    (_UNUSED, "", "", True),
    (_ROOTS, "errno = 0;", "s = errno;", True),
]


@pytest.mark.parametrize(("pair", "setup", "after", "is_same"), SEEN)
def test_what_operations_leave_besides_values(
    pair: tuple[str, str], setup: str, after: str, is_same: bool, tmp_path: Path
) -> None:
    """How numbers are rounded, flags and `errno`, where the file uses them."""
    head = "#include <errno.h>\n#include <fenv.h>\n#include <math.h>\n#include <xmmintrin.h>"
    old, new = (function(body, head=head, setup=setup, after=after) for body in pair)
    assert (comparison(old, new, tmp_path) == PROVED) == is_same


@pytest.mark.parametrize(
    "bodies", [("a[i] = b[i];", "a[i] = b[i + 2 - W];"), ("a[i] = b[i] * 2;", "a[i] = b[i] * W;")]
)
@pytest.mark.parametrize("option", ["", "-DW=2"])
def test_a_number_that_is_named_elsewhere(bodies: tuple[str, str], option: str, tmp_path: Path) -> None:
    """What a header of the user's, or an option, makes a number is no size that may be any."""
    (tmp_path / "own.h").write_text("" if option else "#define W (1 + 1)\n")
    texts = _loops(bodies, '#include "own.h"')
    for name, text in zip(("old.c", "new.c"), texts, strict=True):
        (tmp_path / name).write_text(text)
    reading = ReadOptions(compiled=CompilerOptions((option,) if option else ()))
    found = compare_files(tmp_path / "old.c", tmp_path / "new.c", ComparisonOptions(reading))
    assert not isinstance(found.verdict, Refuted)


@pytest.mark.parametrize(
    ("declared", "old", "new", "is_same"),
    [
        ("double min(double, double);", "a[i] = min(i, 3) / 2;", "a[i] = (i < 3 ? i : 3) / 2;", False),
        ("long max(long, long);", "a[i] = max(i, 3) * K;", "a[i] = (i > 3 ? i : 3) * K;", False),
        ("int max(int, int);", "a[i] = max(b[i], 1.5);", "a[i] = max(b[i], 1.5) + 0;", False),
        ("int min(int, int);", "a[min(u[i], 9u)] = 1;", "a[u[i] < 9u ? u[i] : 9u] = 1;", False),
        ("int min(int, int);", "a[i] = min(i, 3) / 2;", "a[i] = (i < 3 ? i : 3) / 2;", True),
        ("double max(double, double);", "a[i] = max(b[i], 2.0);", "a[i] = max(b[i], (double)2);", True),
    ],
)
def test_a_minimum_has_the_type_of_its_declaration(
    declared: str, old: str, new: str, is_same: bool, tmp_path: Path
) -> None:
    head = f"unsigned u[100];\n#define K 2147483647\n{declared}"
    first, second = (function(f"for (int i = 0; i < n; i++) {{ {one} }}", head=head) for one in (old, new))
    assert (comparison(first, second, tmp_path) == PROVED) == is_same
