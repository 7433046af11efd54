"""Values that are the same as integers, computed in types that do not hold them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.options import CompilerOptions
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.equivalence import flow
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.options import ReadOptions

NARROWER = {
    "a narrower product": ("l[i] = i * 100000L;", "l[i] = i * 100000;", {"n": 21476}),
    "a product that is divided again": ("l[i] = i;", "l[i] = i * 1000 / 1000;", {"n": 2147485}),
    "a product of a local": ("l[i] = i * 100000L;", "{ int t = i * 100000; l[i] = t; }", {"n": 21476}),
    "a narrower local": ("l[i] = i * 100000L;", "{ int t = i * 100000L; l[i] = t; }", {"n": 21476}),
    "a narrower difference": ("l[i] = 3L * n - i;", "l[i] = 3 * n - i;", {"n": 715827883}),
    "a sum that is subtracted again": ("l[i] = i;", "l[i] = i + n - n;", {"n": 1073741825}),
    "a shift": ("l[i] = i * 65536L;", "l[i] = i * 65536;", {"n": 32769}),
}
"""OLD, NEW, and the least size at which only NEW overflows."""
AS_WIDE = {
    "a wider product": ("l[i] = i * 100000;", "l[i] = i * 100000L;"),
    "the same product": ("l[i] = i * 100000;", "l[i] = 100000 * i + 0;"),
    "a product that fits": ("if (i < 20000) l[i] = i * 100000L;", "if (i < 20000) l[i] = i * 100000;"),
    "one that both leave": ("{ l[i] = i * 100000L; q[i] = i * 100000; }", "{ l[i] = q[i] = i * 100000; }"),
}


def _found(old: str, new: str, folder: Path) -> Proved | Refuted | object:
    head = "void f(int n, long *restrict l, int *restrict q) {\n#pragma scop\nfor (int i = 0; i < n; i++)"
    for name, body in (("old.c", old), ("new.c", new)):
        (folder / name).write_text(f"{head} {body}\n#pragma endscop\n}}\n")
    return compare_files(folder / "old.c", folder / "new.c").verdict


@pytest.mark.parametrize("name", NARROWER)
def test_new_overflows_where_old_does_not(name: str, tmp_path: Path) -> None:
    old, new, sizes = NARROWER[name]
    verdict = _found(old, new, tmp_path)
    assert isinstance(verdict, Refuted) and verdict.parameters == sizes


@pytest.mark.parametrize("name", AS_WIDE)
def test_new_overflows_only_where_old_does(name: str, tmp_path: Path) -> None:
    verdict = _found(*AS_WIDE[name], tmp_path)
    assert isinstance(verdict, Proved) == (name != "one that both leave") and not isinstance(verdict, Refuted)


@pytest.mark.parametrize("narrower", ("short", "float", "char"))
def test_large_integers_do_not_fit_into_narrower_types(narrower: str, tmp_path: Path) -> None:
    found = _found("q[i] = q[i] + 0;", f"q[i] = ({narrower})q[i];", tmp_path)
    assert isinstance(found, Refuted) and "q[0] = " in found.witness


@pytest.mark.parametrize("given", ["n - 3u", "(unsigned)(n - 3)", "i - 3u", "-(n + 0u)"])
def test_a_local_is_what_wrapped_around(given: str, tmp_path: Path) -> None:
    """`long t = n - 3u;` is 2^32 - 1 for n = 2: the same as the value itself, and not -1."""
    local = f"{{ long t = {given}; l[i] += t; }}"
    assert not isinstance(_found(f"l[i] += {given};", local, tmp_path), Refuted)
    signed = given.replace("(unsigned)", "").replace("u", "")
    assert not isinstance(_found(f"l[i] += {signed};", local, tmp_path), Proved)


def test_a_conversion_that_wraps_around_is_no_overflow(tmp_path: Path) -> None:
    """(int)(unsigned)-5 is -5 again, so that the larger unsigned number refutes nothing."""
    test = "q[i] += {} != n ? 1 : 2;"
    verdict = _found(test.format("(i - 5)"), test.format("(int)(unsigned)(i - 5)"), tmp_path)
    assert isinstance(verdict, Undecided) and "C defines the value" in verdict.reason


def test_an_unknown_type_may_be_any_integer(tmp_path: Path) -> None:
    """The text does not show that T is short; with char, int or double for T the two differ."""
    head = "void f(int n, short a[n], short b[n]) {\nfor (int i = 0; i < n; i++) {"
    for name, kind in (("old.c", "T"), ("new.c", "short")):
        (tmp_path / name).write_text(f"{head} {kind} x = b[i] + 1; a[i] = x / 2; }}\n}}\n")
    reading = ReadOptions(compiled=CompilerOptions(("-DT=short",)))
    found = compare_files(tmp_path / "old.c", tmp_path / "new.c", ComparisonOptions(reading))
    assert not isinstance(found.verdict, Refuted)


SLOW = """static float near(float x) { if (x < 0) return -x; return x + 0.1f; }
void f(int n, int m, int s, double A0[24][24])
{
#pragma scop
  for (int i = n + m; i >= 2; i--) {
    A0[i][i] = (float)(near(A0[i - 1][i]));
    for (int j = 0; j <= n - i; j += 2) {
      for (int k = n + m; k >= 0; k--) {
        A0[i + 2][j + 2] += 1;
        if (s != 0) A0[k + j][k + i] = (1e-3 + A0[9][k + k]) / s;
      }
      A0[j + j][i - 1] -= ((s + A0[i][i + 2]) + (s ^ 5));
    }
  }
#pragma endscop
}
"""


def test_reads_that_isl_takes_too_long_for_are_not_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With isl's steps as many as it needs, this takes more than a minute."""
    monkeypatch.setattr(flow, "EFFORT", 3_000)
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text(SLOW)
    new.write_text(SLOW.replace("s + A0[i]", "s * A0[i]"))
    verdict = compare_files(old, new).verdict
    assert isinstance(verdict, Undecided) and "what reads of 'A0' see takes too long" in verdict.reason


def test_what_a_char_holds_is_no_larger_number(tmp_path: Path) -> None:
    """Whether it has a sign is the compiler's choice: a difference has to show for both."""
    body = "for (int i = 1; i < n; i++) t[i] = t[i - 1] > {0} ? t[i - 1] : {0};"
    for name, term in (("old.c", "(c[i] + c[i - 1] == 3)"), ("new.c", "(c[i] + c[i] == 3)")):
        text = f"void f(int n, int *restrict t, const char *restrict c) {{\n{body.format(term)}\n}}\n"
        (tmp_path / name).write_text(text)
    verdict = compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict
    assert isinstance(verdict, Refuted)
    assert verdict.inputs and all(-128 <= value <= 255 for name, _, value in verdict.inputs if name == "c")


def test_a_negative_number_is_shifted_down(tmp_path: Path) -> None:
    """Compilers of C keep its sign; a quotient is rounded to zero."""
    verdict = _found("q[i] = q[i] / 4;", "q[i] = q[i] >> 2;", tmp_path)
    assert isinstance(verdict, Refuted) and "q[0] = -" in verdict.witness


SAME = [
    ("x[i] = y[i] + 1.0L;", "x[i] = 1.0L + y[i];"),
    ("x[i] = y[i] + 0.5;", "x[i] = y[i] + 0.50L;"),
    ("x[i] = y[i] + 0x1p-1L;", "x[i] = .5f + y[i];"),
    ("x[i] = y[i] / 4;", "x[i] = y[i] * 0.25L;"),
    ("x[i] = y[i] * 2;", "x[i] = y[i] + y[i];"),
    ("d[i] = (double)(long double)e[i];", "d[i] = e[i];"),
    ("q[i] = (int)(long double)q[i];", "q[i] = q[i];"),
    ("q[i] = !(x[i] == y[i]);", "q[i] = x[i] != y[i];"),
    ("x[i] = fabsl(y[i]) * sqrtl(e[i]);", "x[i] = sqrtl((long double)e[i]) * fabsl(y[i]);"),
]
OTHER = [
    ("x[i] = y[i] + 0.5L;", "x[i] = y[i] + 0.25L;"),
    ("x[i] = y[i] + 0;", "x[i] = y[i];"),
    ("x[i] = y[i] - y[i];", "x[i] = 0;"),
    ("x[i] = fabsl(y[i]);", "x[i] = y[i] < 0 ? -y[i] : y[i];"),
    ("x[i] = sqrtl(y[i]);", "x[i] = sqrtl(y[i]) + 1;"),
    ("q[i] = x[i] < y[i];", "q[i] = !(x[i] >= y[i]);"),
    ("q[i] = x[i] == x[i];", "q[i] = 1;"),
    ("x[i] = y[i] + 16777217.0f;", "x[i] = y[i] + 16777217.0L;"),
]
BY_FORMAT = [
    ("x[i] = y[i] + x[i] + e[i];", "x[i] = y[i] + (x[i] + e[i]);"),
    ("d[i] = (double)((long double)e[i] * d[i]);", "d[i] = e[i] * d[i];"),
    ("d[i] = (double)((long double)e[i] + d[i]);", "d[i] = e[i] + d[i];"),
    ("x[i] = e[i] * d[i];", "x[i] = (long double)e[i] * d[i];"),
    ("x[i] = (double)y[i];", "x[i] = y[i];"),
    ("x[i] = y[i] + 0.1;", "x[i] = y[i] + 0.1L;"),
    ("x[i] = fabs(y[i]);", "x[i] = fabsl(y[i]);"),
    ("x[i] = 0.50000000000000000000000000001L;", "x[i] = 0.5L;"),
    ("x[i] = 9007199254740993.0L;", "x[i] = 9007199254740992.0L;"),
    ("l[i] = (long)(long double)l[i];", "l[i] = l[i];"),
    ("x[i] = 1e400L;", "x[i] = 1e500L;"),
    ("x[i] = 1e400;", "x[i] = 1e400L;"),
]
"""A long double has the digits of a double and others: how many depends on the machine."""


@pytest.mark.parametrize(("old", "new"), [*SAME, *OTHER, *BY_FORMAT])
def test_long_doubles(old: str, new: str, tmp_path: Path) -> None:
    head = "long double x[99], y[99]; double d[99], e[99]; int q[99]; long l[99];\nvoid f(int n) {"
    for name, body in (("old.c", old), ("new.c", new)):
        loop = f"#pragma scop\nfor (int i = 0; i < n; i++) {body}\n#pragma endscop\n}}\n"
        (tmp_path / name).write_text(f"#include <math.h>\n{head}\n{loop}")
    found = type(compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict)
    assert found == (Proved if (old, new) in SAME else Refuted if (old, new) in OTHER else Undecided)


@pytest.mark.parametrize(("new", "expected"), [("1e400", Proved), ("1e-400", Refuted)])
def test_a_number_beyond_all_doubles_as_a_float(new: str, expected: type, tmp_path: Path) -> None:
    for name, value in (("old.c", "1e400"), ("new.c", new)):
        text = f"float x[99];\nvoid f(int n) {{\n#pragma scop\nfor (int i = 0; i < n; i++) x[i] = {value};\n"
        (tmp_path / name).write_text(text + "#pragma endscop\n}\n")
    assert isinstance(compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict, expected)


def test_a_typedef_of_another_block_is_not_meant(tmp_path: Path) -> None:
    head = "typedef double T;\nvoid f(int n, double *x) {\n  { typedef float T; (void)(T)1; }\n"
    text = f"{head}#pragma scop\n  for (int i = 0; i < n; i++)\n    x[i] = (T)x[i];\n#pragma endscop\n}}\n"
    for other in ("x[i] = x[i]", "x[i] = (float)x[i]"):
        before, after = tmp_path / "old.c", tmp_path / "new.c"
        before.write_text(text)
        after.write_text(text.replace("x[i] = (T)x[i]", other))
        assert isinstance(compare_files(str(before), str(after)).verdict, Undecided)
