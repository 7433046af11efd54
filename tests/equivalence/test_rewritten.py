"""Forms that people and assistants rewrite loops in: one loop over a table, tables in one dimension, parts of
a loop for each thread, calls that fetch memory beforehand; and what only looks like these."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import Refuted
from tests.conftest import share
from tests.equivalence.test_phrasings import verdict

HEAD = "#include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n#include <omp.h>\n"
HEAD += "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
TABLE = "void f(int n, int m, double A[n][m], double B[n][m]) {{\n{}\n}}\n"
NEST = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = B[i][j] * 2.0;"
ONE = "for ({}; t++) {{ int i = t / m; int j = t % m; A[i][j] = B[i][j] * 2.0; }}"
ALL = "int t = 0; t < n * m"
FLAT = "void f(int n, int m, double *restrict a, const double *restrict b) {{\n{}\n}}\n"
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] += b[i * m + j];"
FOUR = """int total = n * m, t = 0;
  for (; t <= total - 4; t += 4) {{
    a[t] += b[t]; a[t + 1] += b[t + 1]; a[t + 2] += b[t + {}]; a[t + 3] += b[t + 3];
  }}
  for (; t < total; t++) a[t] += b[t];"""
SUMS = "void f(int n, int m, int p, const double *A, const double *B, double *C) {{\n{}\n}}\n"
PRODUCT = """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {
    double s = 0.0; for (int k = 0; k < p; k++) s += A[i * p + k] * B[k * m + j]; C[i * m + j] = s; }"""
BY_ROWS = """memset(C, 0, (size_t)n * m * sizeof(double));
  for (int i = 0; i < n; i++) {{ double *c = C + (size_t)i * m; for (int k = 0; k < p; k++) {{
    const double a = A[i * p + k]; const double *b = B + (size_t)k * {}; for (int j = 0; j < m; j++)
      c[j] += a * b[j]; }} }}"""
LINE = "void f(int n, double *restrict x, const double *restrict y) {{\n{}\n}}\n"
SCALE = "for (int i = 0; i < n; i++) x[i] = y[i] * 2.0;"
PART = "\n#pragma omp parallel\n{{ {} for (int i = {}) x[i] = y[i] * 2.0; }}"
NUMBERS = "int t = omp_get_thread_num(), p = omp_get_num_threads(); "
CHUNK = NUMBERS + "int c = (n + p - 1) / p; int lo = t * c; "
HALVES = """const int P = 2; for ({0} = 0; T < P; T++) {{ int lo = n * T / {1}, hi = n * (T + 1) / {1};
  for (int i = lo; i < hi; i++) {{ x[i] = y[i] * 2.0; }} }}"""
SMOOTH = """for (int t = 0; t < m; t++) {{
{0}    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
{0}    for (int i = 1; i < n - 1; i++) a[i] = b[i];
  }}"""
TIMES = "void f(int n, int m, double *restrict a, double *restrict b) {{\n{}\n}}\n"
SHARED = "#pragma omp for\n"
EIGHT = """int c = (n + 7) / 8; for (int t = 0; t < 8; t++) {{ {} int hi = MIN(t * c + c, n);
  for (int i = t * c; i < hi; i++) {} }}"""
FETCH = "for (int i = 0; i < n; i++) {{ __builtin_prefetch({}); x[i] = y[i] * 2.0; }}"

SAME = {
    "one loop": (TABLE, NEST, ONE.format(ALL)),
    "one loop after a test": (
        TABLE,
        "if (n < 0 || m < 0) return; " + NEST,
        "if (n < 0 || m < 0) return; " + ONE.format(ALL),
    ),
    "one parallel loop": (TABLE, NEST, "\n#pragma omp parallel for\n" + ONE.format(ALL)),
    "one loop over long numbers": (FLAT, ROWS, "for (size_t t = 0; t < (size_t)n * m; t++) a[t] += b[t];"),
    "four at once": (FLAT, ROWS, FOUR.format(2)),
    "rows of tables": (SUMS, PRODUCT, BY_ROWS.format("m")),
    "parts": (LINE, SCALE, PART.format(CHUNK + "int hi = MIN(lo + c, n);", "lo; i < hi; i++")),
    "parts by a product": (
        LINE,
        SCALE,
        PART.format(NUMBERS, "(int)((long)n * t / p); i < (int)((long)n * (t + 1) / p); i++"),
    ),
    "parts in turn": (LINE, SCALE, PART.format(NUMBERS, "t; i < n; i += p")),
    "the last part is longer": (
        LINE,
        SCALE,
        PART.format(NUMBERS + "int c = n / p, lo = t * c, hi = t == p - 1 ? n : lo + c;", "lo; i < hi; i++"),
    ),
    "two parts": (LINE, SCALE, HALVES.format("int T", "P")),
    "eight parts": (
        LINE,
        SCALE,
        "int c = (n + 7) / 8;\n#pragma omp parallel for\nfor (int t = 0; t < 8; t++) { int hi = t * c + c; "
        "if (hi > n) hi = n; for (int i = t * c; i < hi; i++) x[i] = y[i] * 2.0; }",
    ),
    "parts of unsigned numbers": (
        LINE.replace("int n", "size_t n"),
        SCALE.replace("int i", "size_t i"),
        PART.format(
            CHUNK.replace("int c", "size_t c").replace("int lo", "size_t lo"), "lo; i < MIN(lo + c, n); i++"
        ).replace("int i", "size_t i"),
    ),
    "threads that run a loop": (
        TIMES,
        SMOOTH.format(""),
        "\n#pragma omp parallel\n" + SMOOTH.format(SHARED),
    ),
    "fetched": (LINE, SCALE, FETCH.format("&y[i + 8], 0, 1")),
}
OTHER = {
    "rows of another length": (TABLE, NEST, ONE.format(ALL).replace("t / m", "t / n"), "no"),
    "one too few": (TABLE, NEST, ONE.format("int t = 0; t < n * m - 1"), "no"),
    "left early": (
        TABLE,
        NEST,
        ONE.format(ALL).replace("{ int", "{ if (t > 5) break; int"),
        "unknown",
    ),
    "a size that changes": (
        TABLE,
        NEST,
        ONE.format(ALL).replace("2.0;", "2.0; m = m + 0;"),
        "unknown",
    ),
    "a wrong one of four": (FLAT, ROWS, FOUR.format(1), "no"),
    "rows of another table": (SUMS, PRODUCT, BY_ROWS.format("p"), "no"),
    "rows that reach into each other": (
        FLAT,
        ROWS,
        ROWS.replace("j < m", "j <= m"),
        "no",
    ),
    "a block that lacks its last": (
        LINE,
        SCALE,
        "for (int b = 0; b < n; b += 64) { int e = MIN(b + 63, n); "
        "for (int i = b; i < e; i++) { double t = y[i]; x[i] = t * 2.0; } }",
        "no",
    ),
    "parts too short": (
        LINE,
        SCALE,
        PART.format(CHUNK.replace("n + p - 1", "n") + "int hi = MIN(lo + c, n);", "lo; i < hi; i++"),
        "no",
    ),
    "parts that overlap": (
        LINE,
        SCALE.replace("] =", "] +="),
        PART.format(CHUNK + "int hi = MIN(lo + c + 1, n);", "lo; i < hi; i++").replace("] =", "] +="),
        "no",
    ),
    "a part that is kept": (
        LINE,
        SCALE,
        PART.format(CHUNK + "static int hi = MIN(lo + c, n);", "lo; i < hi; i++"),
        "unknown",
    ),
    "a fraction": (
        LINE,
        SCALE,
        PART.format(NUMBERS + "float c = (n + p - 1) / p; int lo = t * c;", "lo; i < MIN(lo + c, n); i++"),
        "unknown",
    ),
    "parts that go on": (
        LINE,
        "for (int i = 0; i < n; i++) x[i + 1] = x[i];",
        PART.format(CHUNK, "lo; i < MIN(lo + c, n); i++").replace("x[i] = y[i] * 2.0", "x[i + 1] = x[i]"),
        "unknown",
    ),
    "a size that was changed": (
        LINE,
        SCALE,
        "int c = (n + 7) / 8; n = n / 2; for (int t = 0; t < 8; t++) { int hi = MIN(t * c + c, n); "
        "for (int i = t * c; i < hi; i++) x[i] = y[i] * 2.0; }",
        "unknown",
    ),
    "a part that is left": (
        LINE,
        SCALE.replace("x[i]", "{ if (i == 5) break; x[i]") + " }",
        EIGHT.format("", "{ if (i == 5) break; x[i] = y[i] * 2.0; }"),
        "unknown",
    ),
    "a part that changes what comes later": (
        LINE,
        "int z = 5, c = (n + 7) / 8; " + SCALE + " for (int i = 0; i < z; i++) x[i] = 1.0;",
        "int z = 5; "
        + EIGHT.format("if (z > n) z = n;", "x[i] = y[i] * 2.0;")
        + " for (int i = 0; i < z; i++) x[i] = 1.0;",
        "unknown",
    ),
    "parts by another number": (
        LINE,
        SCALE,
        "int (*omp_get_thread_num)(void) = omp_get_max_threads;"
        + PART.format(CHUNK, "lo; i < MIN(lo + c, n); i++"),
        "unknown",
    ),
    "parts of a negative size that are many": (
        LINE,
        SCALE,
        PART.format(CHUNK.replace("int c", "size_t c"), "lo; i < MIN(lo + c, n); i++"),
        "unknown",
    ),
    "negative sizes": (
        TABLE,
        "if (n < 0 && m < 0) { " + NEST + " }",
        "if (n < 0 && m < 0) { " + ONE.format(ALL) + " }",
        "unknown",
    ),
    "negative sizes in one row": (
        FLAT,
        "if (n >= 0 || m >= 0) return; " + ROWS,
        "if (n >= 0 || m >= 0) return; " + FOUR.format(2),
        "unknown",
    ),
    "negative sizes after a return": (
        TABLE,
        "if (n >= 0) return; if (m >= 0) { return; } " + NEST,
        "if (n >= 0) return; if (m >= 0) { return; } " + ONE.format(ALL),
        "unknown",
    ),
    "sizes that are set to be negative": (
        FLAT,
        "int k = -2; n = k; m = -3; " + ROWS,
        "int k = -2; n = k; m = -3; for (int t = 0; t < n * m; t++) a[t] += b[t];",
        "no",
    ),
    "sizes that must be negative": (
        TABLE,
        "if (n >= 0) abort(); assert(m < 0); " + NEST,
        "if (n >= 0) abort(); assert(m < 0); " + ONE.format(ALL),
        "unknown",
    ),
    "parts to what is no minimum": (
        "#define LESS(a, b) a < b ? a : b\n" + LINE,
        SCALE,
        PART.format(CHUNK, "lo; i < LESS(lo + c, n); i++"),
        "unknown",
    ),
    "as many parts as threads are asked for": (
        LINE,
        SCALE,
        PART.format(CHUNK.replace("omp_get_num_threads()", "4"), "lo; i < MIN(lo + c, n); i++").replace(
            "parallel", "parallel num_threads(4)"
        ),
        "unknown",
    ),
    "parts by an unsigned number": (LINE, SCALE, HALVES.format("unsigned T", "P"), "unknown"),
    "parts by a number in a byte": (LINE, SCALE, HALVES.format("unsigned char T", "P"), "unknown"),
    "parts through an unsigned number": (LINE, SCALE, HALVES.format("int T", "2u"), "unknown"),
    "a product in a byte": (
        FLAT,
        ROWS,
        "unsigned char total = n * m; for (int t = 0; t < total; t++) a[t] += b[t];",
        "unknown",
    ),
    "a row of another name": (
        TABLE.replace("int m,", "int m, int i,"),
        NEST,
        "for (int t = 0; t < n * m; t++) { { int i = t / m; B[0][0] = B[0][0]; } int j = t - i * m; "
        "A[t / m][j] = B[t / m][j] * 2.0; }",
        "unknown",
    ),
    "threads that do not wait": (
        TIMES,
        SMOOTH.format(""),
        "\n#pragma omp parallel\n" + SMOOTH.format("#pragma omp for nowait\n"),
        "unknown",
    ),
    "a loop that all threads count": (
        TIMES,
        SMOOTH.format(""),
        "int t;\n#pragma omp parallel\n" + SMOOTH.format(SHARED).replace("int t = 0", "t = 0"),
        "unknown",
    ),
    "fetched by an element": (LINE, SCALE, FETCH.format("&x[(int)y[i + 8]]"), "unknown"),
    "fetched by a remainder": (
        LINE.replace("int n", "int n, int k"),
        SCALE,
        FETCH.format("&x[i % k]"),
        "unknown",
    ),
    "fetched and counted": (LINE, SCALE, FETCH.format("&y[i++]"), "unknown"),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same(name: str, tmp_path: Path) -> None:
    head, old, new = SAME[name]
    assert verdict(tmp_path, HEAD + head.format(old), HEAD + head.format(new)) == "yes"


@pytest.mark.parametrize("name", share([*OTHER], 2))
def test_not_the_same(name: str, tmp_path: Path) -> None:
    head, old, new, answer = OTHER[name]
    assert verdict(tmp_path, HEAD + head.format(old), HEAD + head.format(new)) == answer


def test_the_numbers_that_tell_are_told(tmp_path: Path) -> None:
    for name, body in (("old", NEST), ("new", ONE.format("int t = 0; t < n * m - 1"))):
        (tmp_path / f"{name}.c").write_text(HEAD + TABLE.format(body))
    found = compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict
    assert isinstance(found, Refuted)
    assert found.parameters == {"n": 3, "m": 2}
    assert found.witness.startswith("n = 3, m = 2: A[2][1] is ")


def test_parameters_in_another_order_are_no_table(tmp_path: Path) -> None:
    other = SUMS.replace("int n, int m, int p, const double *A", "const double *A, int n, int m, int p")
    assert (
        verdict(tmp_path, HEAD + SUMS.format(PRODUCT), HEAD + other.format(BY_ROWS.format("m"))) == "unknown"
    )


_ADD = "for (int i = 0; i < n; i++) x[0] += y[i];"
_OWN = "double own = 0.0; for (int i = 0; i < n; i++) own += y[i];"
_TEAM = "\n#pragma omp parallel {}\n{{ {} {}\n x[0] += own; }}"
_CRITICAL, _ATOMIC = "\n#pragma omp critical (adding)", "\n#pragma omp atomic update"
BY_ALL = {
    "critical": (_TEAM.format("", _OWN, _CRITICAL), "no"),
    "atomic": (_TEAM.format("shared(x, y) default(none)", _OWN, _ATOMIC), "no"),
    "two that add": (_TEAM.format("", _OWN, _CRITICAL + "\n{ x[0] += 0.0; }" + _ATOMIC), "no"),
    "unguarded": (_TEAM.format("", _OWN, ""), "no"),
    "a loop that is divided": (_TEAM.format("", _OWN.replace("for", f"\n{SHARED}for", 1), ""), "unknown"),
    "a loop of lanes": (_TEAM.format("", _OWN.replace("for", "\n#pragma omp simd\nfor", 1), ""), "unknown"),
    "threads that wait": (_TEAM.format("", _OWN, "\n#pragma omp barrier"), "unknown"),
    "one thread": (_TEAM.format("", _OWN, "\n#pragma omp master"), "unknown"),
    "as many as are asked for": (_TEAM.format("num_threads(1)", _OWN, _CRITICAL), "unknown"),
    "perhaps one": (_TEAM.format("if(n > 9)", _OWN, _CRITICAL), "unknown"),
    "values of their own": (_TEAM.format("firstprivate(n)", _OWN, _CRITICAL), "unknown"),
    "all values of their own": (_TEAM.format("default(private)", _OWN, _CRITICAL), "unknown"),
    "inside of threads": (f"\n#pragma omp parallel\n{{ {_TEAM.format('', _OWN, _CRITICAL)} }}", "unknown"),
    "inside of a loop that is divided": (
        "\n#pragma omp parallel for\nfor (int k = 0; k < 1; k++) {"
        + _TEAM.format("", _OWN, _CRITICAL) + " }",
        "unknown",
    ),
}  # fmt: skip
"""What each of the threads runs: twice with two of them, unless a directive says something else."""


@pytest.mark.parametrize("name", BY_ALL)
def test_what_every_thread_adds(name: str, tmp_path: Path) -> None:
    new, answer = BY_ALL[name]
    files = [HEAD + LINE.format(f"\n#pragma scop\n{text}\n#pragma endscop\n") for text in (_ADD, new)]
    before, after = tmp_path / "old.c", tmp_path / "new.c"
    before.write_text(files[0])
    after.write_text(files[1])
    try:
        found = compare_files(before, after, ComparisonOptions(allow_reassociation=True)).verdict
    except BadInput:
        found = None
    assert ("no" if isinstance(found, Refuted) else "unknown") == answer
    assert not isinstance(found, Refuted) or found.witness.startswith("with two threads, ")
