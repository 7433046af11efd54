"""`prove`: what C may not define is done by the new program only where the old one does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.prove.comparison.files import compare_files
from tests.traps.support import PROVED, comparison, function

_EMPTY = "a value computed before a loop that may be empty: "

SPECULATED = {
    "a division before the test of its divisor": (
        "for (i = 0; i < n; i++) if (m != 0) r[i] = q[i] / m;",
        "for (i = 0; i < n; i++) { int d = q[i] / m; if (m != 0) r[i] = d; }",
    ),
    "a division in both branches": (
        "for (i = 0; i < n; i++) { if (m) r[i] = q[i] / m; else r[i] = 1; }",
        "for (i = 0; i < n; i++) { int d = q[i] / m; if (m) r[i] = d; else r[i] = 1; }",
    ),
    "a division out of a choice": (
        "for (i = 0; i < n; i++) r[i] = b[i] > 0 ? q[i] / w : 0;",
        "for (i = 0; i < n; i++) { int d = q[i] / w; r[i] = b[i] > 0 ? d : 0; }",
    ),
    "a division out of one of two choices": (
        "for (i = 0; i < n; i++) r[i] = b[i] > 0 ? (b[i] > 1 ? q[i] / w : 0) : 0;",
        "for (i = 0; i < n; i++) { int d = b[i] > 1 ? q[i] / w : 0; r[i] = b[i] > 0 ? d : 0; }",
    ),
    "a division out of an if in an if": (
        "for (i = 0; i < n; i++) if (b[i] > 0) { if (q[i] / w > 3) { r[i] = 1; a[i] = 1; } }",
        "for (i = 0; i < n; i++) { int d = q[i] / w > 3; if (b[i] > 0) { if (d) { r[i] = 1; a[i] = 1; } } }",
    ),
    "a division on the right of &&": (
        "for (i = 0; i < n; i++) r[i] = w && q[i] / w;",
        "for (i = 0; i < n; i++) { int d = q[i] / w; r[i] = w && d; }",
    ),
    "a division that is not used": (
        "for (i = 0; i < n; i++) r[i] = q[i];",
        "for (i = 0; i < n; i++) { int d = q[i] / w; r[i] = q[i]; }",
    ),
    "a division that is overwritten": (
        "for (i = 0; i < n; i++) r[i] = 0;",
        "for (i = 0; i < n; i++) { r[i] = q[i] / w; r[i] = 0; }",
    ),
    "one division more than there were": (
        "for (i = 0; i < n; i++) r[i] = q[i] / w;",
        "for (i = 0; i < n; i++) r[i] = q[i] / w; k = q[n] / w;",
    ),
    "a sum that is not needed": (
        "for (i = 0; i < n; i++) r[i] = q[i];",
        "for (i = 0; i < n; i++) { int d = q[i] + w; r[i] = q[i]; }",
    ),
    "a variable that has no value": (
        "for (i = 0; i < n; i++) r[i] = q[i];",
        "for (i = 0; i < n; i++) { double d = e; r[i] = q[i]; }",
    ),
    "a read beyond a declared size": (
        "for (i = 0; i < n; i++) r[i] = q[i];",
        "for (i = 0; i < n; i++) { int d = q[i + 100]; r[i] = q[i]; }",
    ),
    "a read beyond the size of an array of its own": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "double z[10]; for (i = 0; i < n; i++) z[i] = b[i]; for (i = 0; i < n; i++) a[i] = z[i];",
    ),
    "a read beyond a size that is subtracted from": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "double z[n - 1]; for (i = 0; i < n; i++) z[i] = b[i]; for (i = 0; i < n; i++) a[i] = z[i];",
    ),
    "a read of an array that only it has": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n; i++) { double d = few[i]; a[i] = b[i]; }",
    ),
    "a read of a member": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n; i++) { double d = both.y[i]; a[i] = b[i]; }",
    ),
    "a write of a member": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n; i++) { both.y[i] = both.y[i]; a[i] = b[i]; }",
    ),
    "a read beyond a row": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n; i++) { double d = rows[0][i]; a[i] = b[i]; }",
    ),
    "a write to memory that the other does not touch": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n; i++) a[i] = b[i]; x[0] = x[0];",
    ),
    "a variable that it adds to has no value": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (i = 0; i < n; i++) { e = e + 1; a[i] = b[i]; }",
    ),
    "an array of its own has no values": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "double z[100]; for (i = 0; i < n; i++) { double d = z[i]; a[i] = b[i]; }",
    ),
    "an array without elements": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "double z[n]; for (i = 0; i < n; i++) z[i] = b[i]; for (i = 0; i < n; i++) a[i] = z[i];",
    ),
    "an array without elements that is not used": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "double z[n - 5]; for (i = 0; i < n; i++) a[i] = b[i];",
    ),
    "a write that changes nothing beyond the end": (
        "for (i = 0; i < n; i++) x[i] = b[i];",
        "for (i = 0; i < n; i++) x[i] = b[i]; x[n] = x[n];",
    ),
} | {
    _EMPTY + value: (
        f"for (i = 0; i < n; i++) r[i] = q[i] ^ {value};",
        f"k = {value}; for (i = 0; i < n; i++) r[i] = q[i] ^ k;",
    )
    for value in ["(w / v)", "(w % v)", "(w << v)", "(w >> v)", "(w + v)", "(w * v)", "(-w)", "(int)s", "abs(w)"]
}
KEPT = {
    "a division with a name": (
        "for (i = 0; i < n; i++) r[i] = q[i] / w + 1;",
        "for (i = 0; i < n; i++) { int d = q[i] / w; r[i] = d + 1; }",
    ),
    "a division that is overwritten in both": (
        "for (i = 0; i < n; i++) for (j = 0; j < 10; j++) r[i] = q[j] / w;",
        "for (i = 0; i < n; i++) for (j = 0; j < 10; j++) { int d = q[j] / w; r[i] = d; }",
    ),
    "before a loop that is not empty": (
        "for (i = 0; i < 10; i++) r[i] = q[i] + w / v;",
        "k = w / v; for (i = 0; i < 10; i++) r[i] = q[i] + k;",
    ),
    "under the condition that the loop is not empty": (
        "for (i = 0; i < n; i++) r[i] = q[i] + w / v;",
        "if (n > 0) { k = w / v; for (i = 0; i < n; i++) r[i] = q[i] + k; }",
    ),
    "numbers that are no integers": (
        "for (i = 0; i < n; i++) a[i] = s / t;",
        "double d = s / t; for (i = 0; i < n; i++) a[i] = d;",
    ),
    "an array of its own that is large enough": (
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "double z[100]; for (i = 0; i < n; i++) z[i] = b[i]; for (i = 0; i < n; i++) a[i] = z[i];",
    ),
    "the same choice in two statements": (
        "for (i = 0; i < n; i++) r[i] = b[i] > 0 ? q[i] / w : 0;",
        "for (i = 0; i < n; i++) { int d = b[i] > 0 ? q[i] / w : 0; r[i] = d; }",
    ),
}

_COPY = "for (i = 0; i < n; i++) a[i] = b[i];"
WITHOUT_VALUE = [
    "int d; if (d) d = 2;",
    "double d; if (d > 1) d = 2;",
    "int d; if (b[0] > 1) d = d;",
    "int d; if (b[0] > 1) if (d > 1) d = 3;",
    "int d; if (b[0] > 1) d = 3; k = d;",
    "int d; if (b[0] > 1) d = 3; d = d;",
    "int d; if (b[0] > 1) d = 3; if (d > 1) k = 1;",
    "int d; if (b[0] > 1) { d = 3; k = 1; } else k = 2; k = d;",
    "int d; if (b[0] > 1) { d = 3; k = 1; } else k = d;",
    "double d, g; for (i = 0; i < 4; i++) if (b[i] > 1) d = b[i]; g = d;",
    "double d[4]; for (i = 0; i < 4; i++) if (b[i] > 1) d[i] = b[i]; d[0] = d[1];",
    "if (b[0] > 1) e = 3; k = e > 1;",
]
WITH_VALUE = [
    "int d = 1; if (d) d = 2;",
    "int d; if (b[0] > 1) if (b[1] > 1) d = 3;",
    "int d; if (b[0] > 1) { d = 3; k = d; }",
    "int d; if (b[0] > 1) { if (b[1] > 1) { d = 3; k = d; } }",
    "int d; if (b[0] > 1) { d = 3; k = 1; } else { k = 2; d = 4; } k = d;",
    "double d = 0, g; for (i = 0; i < 4; i++) if (b[i] > 1) d = b[i]; g = d;",
    "double d[4]; for (i = 0; i < 4; i++) { d[i] = 0; if (b[i] > 1) d[i] = b[i]; } k = d[1] > 0;",
]


@pytest.mark.parametrize("before", WITHOUT_VALUE)
def test_a_variable_that_data_may_leave_without_a_value(before: str, tmp_path: Path) -> None:
    assert "where OLD need not do so" in _answer(_COPY, f"{before} {_COPY}", tmp_path)


@pytest.mark.parametrize("before", WITH_VALUE)
def test_a_variable_that_has_one_on_every_way_to_its_read(before: str, tmp_path: Path) -> None:
    assert _answer(_COPY, f"{before} {_COPY}", tmp_path) == PROVED


def _answer(old: str, new: str, folder: Path) -> str:
    head = "int q[100], r[100], w, v; double few[10], rows[10][10]; struct { double x[10], y[10]; } both;"
    parts = {"head": head, "setup": "double e;", "parameters": "int n, int m, double *x"}
    before, after = (function(body, **parts) for body in (old, new))
    return comparison(before, after, folder)


@pytest.mark.parametrize("name", SPECULATED)
def test_what_only_the_new_program_computes(name: str, tmp_path: Path) -> None:
    assert _answer(*SPECULATED[name], tmp_path) != PROVED


@pytest.mark.parametrize("name", KEPT)
def test_what_both_compute(name: str, tmp_path: Path) -> None:
    assert _answer(*KEPT[name], tmp_path) == PROVED


def test_memory_that_only_the_new_program_writes_is_listed(tmp_path: Path) -> None:
    old = function("for (i = 0; i < n; i++) if (b[i] > 0) x[i] = 1;")
    new = function("for (i = 0; i < n; i++) x[i] = b[i] > 0 ? 1 : x[i];")
    assert comparison(old, new, tmp_path) == PROVED
    trusted = compare_files(tmp_path / "old.c", tmp_path / "new.c").trusted
    assert "'x' has all cells that NEW writes, even those that OLD does not access" in trusted


def test_memory_that_only_the_new_program_reads_is_listed(tmp_path: Path) -> None:
    old = function("for (i = 0; i < n; i++) a[i] = x[0];")
    new = function("double d = x[0]; for (i = 0; i < n; i++) a[i] = d;")
    assert comparison(old, new, tmp_path) == PROVED
    trusted = compare_files(tmp_path / "old.c", tmp_path / "new.c").trusted
    assert "'x' has all cells that NEW reads, even those that OLD does not access" in trusted


@pytest.mark.parametrize(
    "new",
    [
        "double d = x[0]; for (i = 0; i < n; i++) { a[i] = d; d = x[i + 1]; }",
        "for (i = 0; i < n; i++) { double d = x[i - 1]; d = x[i]; a[i] = d; }",
        "for (i = 0; i < n; i++) { double d = x[2 * i]; d = x[i]; a[i] = d; }",
        "double d = x[n]; for (i = 0; i < n; i++) { d = x[i]; a[i] = d; }",
    ],
)
def test_memory_beyond_all_that_the_old_program_touches_is_not_read(new: str, tmp_path: Path) -> None:
    old = function("for (i = 0; i < n; i++) a[i] = x[i];")
    assert comparison(old, function(new), tmp_path) != PROVED


@pytest.mark.parametrize("declared", ["A[24][24]", "A[24]", "*A"])
@pytest.mark.parametrize("first", [0, 1])
def test_no_cell_is_written_that_the_declaration_denies(first: int, declared: str, tmp_path: Path) -> None:
    """Data may keep OLD from `A[1][-1]` and `A[-1]`, which a pointer may have; NEW writes it whatever they are."""
    one, to = ("A[i][i]", "A[i + 1][i - 1]") if "][" in declared else ("A[i]", "A[i - 1]")
    head = f"void f(int n, unsigned {declared}) {{ for (int i = {first}; i < n; i++) "
    old = f"{head}{{ if ({one} != 0) {to} = 100 % {one}; }} }}"
    new = f"{head}{to} = {one} != 0 ? 100 % {one} : {to}; }}"
    assert (comparison(old, new, tmp_path) == PROVED) is (first == 1 or declared == "*A")


def test_memory_between_what_the_old_program_touches_is_there(tmp_path: Path) -> None:
    old = function("for (i = 0; i < n; i++) a[i] = x[3 * i];")
    new = function("for (i = 0; i < n; i++) { double d = i > 0 ? x[3 * i - 1] : 0; d = x[3 * i]; a[i] = d; }")
    assert comparison(old, new, tmp_path) == PROVED


@pytest.mark.parametrize(
    ("old", "new", "is_no"),
    [
        ("int d; if (k) d = 3; if (n) t = d;", "if (n) t = 3;", False),
        ("int d; if (k) d = 3; if (n) t = d;", "if (n) t = 4;", True),
        ("int d; if (d) t = 1;", "t = t;", False),
        ("int d; t = d == 123456 ? 5 : 4;", "t = 5;", False),
        ("int d, e; if (n == 123456) d = 2; e = d; t = e ? 5 : 5;", "t = 6;", False),
        ("int d; s = d; t = 5;", "t = 6;", True),
        ("int d; if (n > 0) d = 2; else d = 3; t = d == 2 ? 5 : 4;", "t = 5;", True),
        ("int d; t = n > 100 && d ? 5 : 4;", "t = 5;", True),
        ("double d[3]; d[1] = 2; t = d[2] == 123456 ? 5 : 4;", "t = 5;", False),
        ("s = j;", "s = j + 1;", False),
        ("s = k;", "s = k + 1;", True),
    ],
)
def test_a_witness_does_not_rest_on_a_variable_of_the_original_without_a_value(
    old: str, new: str, is_no: bool, tmp_path: Path
) -> None:
    texts = [function(body, setup="k = n % 3;") for body in (old, new)]
    assert ("does not end up with the same value" in comparison(texts[0], texts[1], tmp_path)) == is_no


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s = M_PI * t;", "s = 3.14159265358979323846 * t;"),
        ("k = INT_MAX;", "k = 2147483647;"),
        ("if (k < INT_MAX) s = 1;", "s = k == INT_MAX ? s : 1;"),
        ("s = DBL_EPSILON * t;", "s = 2.22044604925031308e-16 * t;"),
    ],
)
def test_a_constant_of_a_header_is_no_input_of_a_witness(old: str, new: str, tmp_path: Path) -> None:
    texts = [function(one, head=_LIMITS, after="s += k;") for one in (old, new)]
    assert _NOT_SAME not in comparison(texts[0], texts[1], tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s = M_PI * t;", "s = 3.1415 * t;"),
        ("k = INT_MAX;", "k = 2147483646;"),
        ("for (i = 0; i < n; i++) if (i < CHAR_BIT) a[i] = 1;", "for (i = 0; i < n; i++) a[i] = 1;"),
        ("s = DBL_EPSILON * t;", "s = 1e-15 * t;"),
    ],
)
def test_a_constant_of_a_header_has_its_value(old: str, new: str, tmp_path: Path) -> None:
    texts = [function(one, head=_LIMITS, after="s += k;") for one in (old, new)]
    assert _NOT_SAME in comparison(texts[0], texts[1], tmp_path)


_NOT_SAME = "does not end up with the same value"
_LIMITS = "#include <limits.h>\n#include <math.h>\n#include <float.h>"
SET_BEFORE = {
    "a number": ("k = 7;", "a[0] = k;", "a[0] = 7;", "a[0] = 8;"),
    "a sum": ("k = 5; k += 2;", "a[0] = k;", "a[0] = 7;", "a[0] = 8;"),
    "a size": ("k = 7;", "for (i = 0; i < k; i++) a[i] = 1;", "for (i = 0; i < 7; i++) a[i] = 1;", "a[0] = 1;"),
    "a part of a size": ("k = n / 2;", "for (i = 0; i < k; i++) a[i] = n;", "for (i = 0; i < k; i++) a[i] = n + (k > n);", "for (i = 0; i < k; i++) a[i] = k;"),
    "a choice": ("k = n > 3 ? 3 : n;", "for (i = 0; i < k; i++) a[i] = 1;", "for (i = 0; i < k && i < 3; i++) a[i] = 1;", "for (i = 0; i < k && i < 2; i++) a[i] = 1;"),
    "a return": ("if (n > 3) return;", "for (i = 0; i < n; i++) a[i] = n;", "for (i = 0; i < n; i++) if (n <= 3) a[i] = n;", "for (i = 0; i < n; i++) if (n <= 2) a[i] = n;"),
    "an assertion": ("assert(n <= 3);", "for (i = 0; i < n; i++) a[i] = n;", "for (i = 0; i < n; i++) if (n <= 3) a[i] = n;", "for (i = 0; i < n; i++) if (n <= 2) a[i] = n;"),
    "a loop around": ("for (k = 0; k < 1; k++)", "{ a[k] = k; }", "{ a[k] = 0; }", "{ a[k] = 1; }"),
    "a variable of the file that nothing changes": ("", "a[0] = kept;", "a[0] = 3;", "a[0] = 4;"),
    "what a function returns": ("k = any(n);", "a[0] = k;", "a[0] = k + 0;", "a[0] = k + 1;"),
    "what was read": ('scanf("%d", &k);', "a[0] = k;", "a[0] = k + 0;", "a[0] = k + 1;"),
    "an end of the program": ("if (n > 3) end();", "for (i = 0; i < n; i++) a[i] = n;", "for (i = 0; i < n; i++) if (n <= 3) a[i] = n;", "for (i = 0; i < n; i++) if (n <= 2) a[i] = n;"),
    "a pointer that is tested": ("if (x == 0 || n > 3) return;", "for (i = 0; i < n; i++) a[i] = n;", "for (i = 0; i < n; i++) if (n <= 3) a[i] = n;", "for (i = 0; i < n; i++) if (n <= 2) a[i] = n;"),
    "a return in a loop": ("do { if (n > 3) return; } while (0);", "for (i = 0; i < n; i++) a[i] = n;", "for (i = 0; i < n; i++) if (n <= 3) a[i] = n;", "for (i = 0; i < n; i++) if (n <= 2) a[i] = n;"),
    "an element that is tested": ("if (b[3] != 0) return;", "a[0] = b[3];", "a[0] = 0;", "a[0] = b[3] + 1;"),
    "another element that is tested": ("if (b[3] < 0) return;", "a[0] = b[2];", "a[0] = b[2] * 1;", "a[0] = 7;"),
    "an enumerator": ("k = TWO;", "a[0] = k;", "a[0] = 2;", "a[0] = 3;"),
    "cells that a loop sets": ("for (k = 0; k < 100; k++) b[k] = k;", "a[0] = b[3];", "a[0] = b[3] * 1;", "a[0] = b[4];"),
}
"""What stands before a region, the region, another one that does the same, and one that does not."""


@pytest.mark.parametrize("name", SET_BEFORE)
def test_a_witness_is_a_run_of_the_function(name: str, tmp_path: Path) -> None:
    setup, body, same, other = SET_BEFORE[name]
    head = "static int kept = 3;\nint any(int), scanf(const char *, ...);\nvoid assert(int), exit(int);\n"
    head += "enum { TWO = 2 };\nvoid end(void) { exit(1); }"
    texts = [function(one, setup=setup, head=head, after="b[1] = k;") for one in (body, same, other)]
    assert _NOT_SAME not in comparison(texts[0], texts[1], tmp_path)
    assert _NOT_SAME in comparison(texts[0], texts[2], tmp_path)


COMPUTED = {
    "one cell": ("b[0] = 3;", "a[0] = b[0];", "a[0] = 3;"),
    "an array": ("double c[3] = { 3 };", "a[0] = c[0];", "a[0] = 3;"),
    "by a pointer": ("int *p = &k; *p = 2;", "a[0] = k;", "a[0] = 2;"),
    "through a pointer": ("k = 2; int *p = &k;", "a[0] = *p;", "a[0] = 2;"),
    "by a loop": ("k = 9; while (k > 7) k--;", "a[0] = k;", "a[0] = 7;"),
    "by a switch": ("switch (n) { case 1: k = 3; break; default: k = 3; }", "a[0] = k;", "a[0] = 3;"),
    "in an assignment": ("k = 5; i = k = 2;", "a[0] = k;", "a[0] = 2;"),
    "in a first value": ("k = 5; int z = (k = 2);", "a[0] = k;", "a[0] = 2;"),
    "in a call": ("k = 5; any(k = 2);", "a[0] = k;", "a[0] = 2;"),
    "in a condition": ("k = 5; if ((k = 2)) i = 3;", "a[0] = k;", "a[0] = 2;"),
    "by the library": ("memset(&k, 0, sizeof k);", "a[0] = k;", "a[0] = 0;"),
    "by assembler": ('asm("movl $7, %0" : "=r"(k));', "a[0] = k;", "a[0] = 7;"),
    "in another scope": ("k = 5; { int k = 3; k = 4; }", "a[0] = k;", "a[0] = 5;"),
    "by a function of the file": ("k = three();", "a[0] = k;", "a[0] = 3;"),
    "by a macro": ("k = 5; BUMP", "a[0] = k;", "a[0] = 7;"),
    "a small number": ("unsigned char z = 300;", "a[0] = z;", "a[0] = 44;"),
    "a rounded number": ("float z = 0.1;", "a[0] = z;", "a[0] = 0.1f;"),
    "by a macro that chooses": ("k = LEAST(n, 2);", "for (i = 0; i < k; i++) a[i] = 1;", "for (i = 0; i < k && i < 2; i++) a[i] = 1;"),
    "a number of the file": ("k = TABLE[0];", "a[0] = k;", "a[0] = 2;"),
    "a sum of the file": ("k = SUM;", "a[0] = k;", "a[0] = 2;"),
    "below nothing": ("unsigned z = 0; k = z - 1 > 0 ? 2 : 9;", "a[0] = k;", "a[0] = 2;"),
    "compared as unsigned": ("k = -1 < 0u ? 9 : 2;", "a[0] = k;", "a[0] = 2;"),
    "by one of several cases": ("k = 2; switch (n) { k = 9; case 5:", "{ a[0] = k; }", "{ a[0] = 2; }"),
    "that lasts": ("static int z = 3;", "a[0] = z;", "a[0] = 3;"),
}
"""What is set before a region in ways that are not followed, the region, and another one that does the same."""


@pytest.mark.parametrize("name", COMPUTED)
def test_what_is_computed_before_a_region_is_no_input_of_a_witness(name: str, tmp_path: Path) -> None:
    setup, body, same = COMPUTED[name]
    (tmp_path / "bump.h").write_text("#define BUMP k = 7;\n")
    head = '#include "bump.h"\n#include <string.h>\nint any(int); int three(void) { return 3; }\n'
    head += "#define LEAST(x, y) ((x) < (y) ? (x) : (y))\n#define SUM (1 + 1)\nstatic const int TABLE[2] = { 2, 2 };"
    after = "}" * setup.count("switch (n) { k") + "b[1] = k;"
    texts = [function(one, setup=setup, head=head, after=after) for one in (body, same)]
    assert _NOT_SAME not in comparison(texts[0], texts[1], tmp_path)


OTHER_NAMES = {
    "by a first value": ("double *p = x;", "p", "x"),
    "by an assignment": ("double *p; p = x;", "x", "p"),
    "by a call": ("double *p; lead(&p, x);", "p", "x"),
    "of a place in it": ("double *p = x + 1, *q = &x[1];", "p", "q"),
    "by a type": ("Numbers p = x;", "p", "x"),
    "by a variable of the file": ("w = x;", "w", "x"),
}
APART = {
    "parameters": ("", "x", "y"),
    "allocated": ("double *p = (double *)malloc(800), *q; q = malloc(800);", "p", "q"),
    "arrays": ("double p[100], q[100];", "p", "q"),
}
_LEAD = "#include <stdlib.h>\nvoid lead(double **, double *); double *w; typedef double *Numbers;"


@pytest.mark.parametrize("name", [*OTHER_NAMES, *APART])
def test_two_names_of_one_memory_are_no_difference(name: str, tmp_path: Path) -> None:
    setup, *names = (OTHER_NAMES | APART)[name]
    old, new = (
        function(
            f"for (i = 0; i < n; i++) {one}[i] = 1;", setup=setup, head=_LEAD, after=f"{names[0]}[0] += s;"
        )
        for one in names
    )
    assert (_NOT_SAME in comparison(old, new, tmp_path)) == (name in APART)
