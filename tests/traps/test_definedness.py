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
    assert "'x' has all cells that NEW writes; OLD need not touch them" in trusted


def test_memory_that_only_the_new_program_reads_is_listed(tmp_path: Path) -> None:
    old = function("for (i = 0; i < n; i++) a[i] = x[0];")
    new = function("double d = x[0]; for (i = 0; i < n; i++) a[i] = d;")
    assert comparison(old, new, tmp_path) == PROVED
    trusted = compare_files(tmp_path / "old.c", tmp_path / "new.c").trusted
    assert "'x' has all cells that NEW reads; OLD need not touch them" in trusted


@pytest.mark.parametrize(
    ("old", "new", "is_no"),
    [
        ("int d; if (k) d = 3; if (n) t = d;", "if (n) t = 3;", False),
        ("int d; if (k) d = 3; if (n) t = d;", "if (n) t = 4;", True),
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
    [("s = M_PI * t;", "s = 3.14159265358979323846 * t;"), ("k = INT_MAX;", "k = 2147483647;")],
)
def test_a_constant_of_a_header_is_no_input_of_a_witness(old: str, new: str, tmp_path: Path) -> None:
    texts = [function(one, head="#include <limits.h>\n#include <math.h>", after="s += k;") for one in (old, new)]
    assert "does not end up with the same value" not in comparison(texts[0], texts[1], tmp_path)
