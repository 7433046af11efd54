"""Whole functions, as people rewrite them: early returns, values returned, pointers to rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import Illegal
from loopwright.prove.comparison.files import agreement, compare_files
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.prove.verdict import Refuted
from loopwright.read.c.options import ReadOptions
from tests.equivalence.test_phrasings import verdict

SCALED = "void f(int n, double a, const double *restrict x, double *restrict y) {\n"
LOOP = "  for (int i = 0; i < n; i++)\n    y[i] = y[i] + a * x[i];\n"
OUTER = (
    "void f(int n, int m, double A[restrict n][m], const double *restrict u, const double *restrict v) {\n"
)
NEST = "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n      A[i][j] += u[i] * v[j];\n"
MEAN = "double f(int n, const double *restrict x) {\n"
SUM = "  double s = 0.0;\n  for (int i = 0; i < n; i++)\n    s += x[i];\n"
ROW = "  for (int i = 0; i < n; i++) {\n    double *row = A[i];\n    for (int j = 0; j < m; j++)\n"
WALK = "  const double *p = x;\n  double *q = y;\n  for (int i = 0; i < n; i++) {\n"

HEAD = "#include <string.h>\n"
ZERO = f"{HEAD}void f(int n, double *restrict a, const double *restrict b) {{\n"
OWN = ZERO.replace(HEAD, f"{HEAD}#define memset(a, b, c) (a[0] = 1)\n")
TABLES = f"{HEAD}void f(int n, int m, double A[restrict n][m], double B[restrict n][m]) {{\n"
ROWS = "  for (int i = 0; i < n; i++)\n    if (m > 0)\n      {}\n"
LISTS = TABLES.replace("double A[restrict n][m]", "double **restrict A").replace(
    "double B[restrict n][m]", "double **restrict B"
)
INTS = f"{HEAD}void f(int n, int *restrict a, const int *restrict b) {{\n"
EACH = "for (int j = 0; j < m; j++) A[i][j] = {};"
CLEAR = "  for (int i = 0; i < n; i++)\n    a[i] = 0.0;\n"
COPY = CLEAR.replace("0.0", "b[i]")

YES = {
    "memset": (ZERO + CLEAR, f"{ZERO}  if (n > 0) memset(a, 0, n * sizeof(double));\n"),
    "memcpy": (ZERO + COPY, f"{ZERO}  if (n > 0) memcpy(a, b, (size_t)n * sizeof *a);\n"),
    "rows cleared": (
        TABLES + ROWS.format(EACH.format(0)),
        TABLES + ROWS.format("memset(A[i], 0, m * sizeof **A);"),
    ),
    "rows copied": (
        TABLES + ROWS.format(EACH.format("B[i][j]")),
        TABLES + ROWS.format("memcpy(&A[i][0], B[i], sizeof(A[0][0]) * (size_t)m);"),
    ),
    "rows copied from a column on": (
        TABLES + ROWS.format(EACH.replace("0", "1").format("B[i][j - 1]")),
        TABLES
        + ROWS.format("if (m > 1) memcpy(A[i] + 1, B[i], sizeof(*B[i]) * (m - 1));").replace(
            "B[i])", "A[i])"
        ),
    ),
    "rows that pointers lead to": (
        LISTS + ROWS.format(EACH.format(0)),
        LISTS + ROWS.format("memset(A[i], 0, m * sizeof(double));"),
    ),
    "rows of a number of elements": (
        TABLES.replace("[m]", "[8]") + ROWS.format(EACH.format(0)).replace("m;", "8;"),
        TABLES.replace("[m]", "[8]") + ROWS.format("memset(A[i], 0, sizeof A[i]);"),
    ),
    "nothing to do": (SCALED + LOOP, f"{SCALED}  if (n <= 0)\n    return;\n{LOOP}"),
    "nothing to do, in braces": (SCALED + LOOP, f"{SCALED}  if (n < 1) {{ return; }} // none\n{LOOP}"),
    "two reasons": (SCALED + LOOP, f"{SCALED}  if (n < 0) return;\n  if (n == 0) return;\n{LOOP}"),
    "the last statement": (SCALED + LOOP, f"{SCALED}{LOOP}  return;\n"),
    "a value at once": (f"{MEAN}{SUM}  return s;\n", f"{MEAN}  if (n <= 0) return 0.0;\n{SUM}  return s;\n"),
    "another value": (
        f"{MEAN}{SUM}  return s / n;\n",
        f"{MEAN}{SUM.replace('s', 't')}  double r = t / n;\n  return r;\n",
    ),
    "a row": (OUTER + NEST, f"{OUTER}{ROW}      row[j] += u[i] * v[j];\n  }}\n"),
    "pointers that walk": (SCALED + LOOP, f"{SCALED}{WALK}    *q = *q + a * *p;\n    q++;\n    p++;\n  }}\n"),
}
NOT_YES = {
    "a negative size": (ZERO + CLEAR, f"{ZERO}  memset(a, 0, n * sizeof(double));\n"),
    "a half that is negative": (
        ZERO + CLEAR,
        f"{ZERO}  if (n) memset(a, 0, (size_t)n / 1 * sizeof(double));\n",
    ),
    "bytes that are ones": (ZERO + CLEAR, f"{ZERO}  if (n > 0) memset(a, 1, n * sizeof(double));\n"),
    "other elements": (ZERO + CLEAR, f"{ZERO}  if (n > 0) memset(a, 0, n * sizeof(float));\n"),
    "one element too many": (ZERO + COPY, f"{ZERO}  if (n > 0) memcpy(a, b, (n + 1) * sizeof *a);\n"),
    "a copy that overlaps": (
        ZERO + CLEAR.replace("a[i] = 0.0", "a[i + 1] = a[i]"),
        f"{ZERO}  if (n > 0) memcpy(a + 1, a, n * sizeof *a);\n",
    ),
    "rows with a macro": (
        TABLES + ROWS.format(EACH.format(0)),
        TABLES.replace("void", "#define ROW i++\nvoid") + ROWS.format("memset(A[ROW], 0, m * sizeof **A);"),
    ),
    "whole tables": (
        TABLES + ROWS.format(EACH.format(0)),
        TABLES + "  if (n > 0) memset(A, 0, n * sizeof **A);\n",
    ),
    "rows that are too long": (
        TABLES + ROWS.format(EACH.format(0)),
        TABLES + ROWS.format("memset(A[i], 0, (m + 1) * sizeof **A);"),
    ),
    "rows by the size of a pointer": (
        LISTS.replace("int m", "int m") + ROWS.format(EACH.format(0)),
        LISTS + ROWS.format("memset(A[i], 0, sizeof A[i]);"),
    ),
    "rows by the size of rows": (
        TABLES + ROWS.format(EACH.format(0)),
        TABLES + ROWS.format("memset(A[i], 0, m * sizeof *A);"),
    ),
    "rows that a pointer leads to": (
        TABLES + ROWS.format(EACH.format("B[i][j]")),
        TABLES.replace("{\n", "{\n  double (*p)[m] = A + 1;\n")
        + ROWS.format("if (i < n - 1) memcpy(A[i], p[i], m * sizeof **A);"),
    ),
    "a place that the copy changes": (
        INTS + "  for (long k = 0; k < (n < 0 ? 1073741824 : n); k++) a[a[0] + k] = b[k];\n",
        INTS + "  memcpy(a + a[0], b, n * sizeof(int));\n",
    ),
    "a place that the copy changes, in a macro": (
        INTS + "  for (long k = 0; k < (n < 0 ? 1073741824 : n); k++) a[(a[0]) + k] = b[k];\n",
        INTS.replace("void", "#define FIRST a[0]\nvoid") + "  memcpy(a + FIRST, b, n * sizeof(int));\n",
    ),
    "a macro of the file": (ZERO + CLEAR, f"{OWN}  if (n > 0) memset(a, 0, n * sizeof(double));\n"),
    "one too many left out": (SCALED + LOOP, f"{SCALED}  if (n <= 1)\n    return;\n{LOOP}"),
    "another value at once": (
        f"{MEAN}{SUM}  return s;\n",
        f"{MEAN}  if (n <= 0) return 1.0;\n{SUM}  return s;\n",
    ),
    "a value that is not the sum": (f"{MEAN}{SUM}  return s;\n", f"{MEAN}{SUM}  return s + 1;\n"),
    "a comma": (f"{MEAN}{SUM}  return s;\n", f"{MEAN}{SUM}  return s, 1.0;\n"),
    "another row": (
        OUTER + NEST,
        f"{OUTER}{ROW.replace('A[i]', 'A[0]')}      row[j] += u[i] * v[j];\n  }}\n",
    ),
    "beyond the row": (OUTER + NEST, f"{OUTER}{ROW}      row[j + 1] += u[i] * v[j];\n  }}\n"),
    "a little more, rounded": (
        f"float f(int n, const double *restrict x) {{\n{SUM}  return s;\n",
        f"float f(int n, const double *restrict x) {{\n{SUM}  return s + 1e-300 * n;\n",
    ),
}


CLAMP = "static int clamp(int v, int least, int most) { return v < least ? least : v > most ? most : v; }\n"
PLACES = "void f(int n, int m, double *restrict y, const double *restrict x) {\n"
NEXT = "static int step;\nstatic int next(int v) { return v + step; }\n"
PRODUCT = "static int product(int n, int m) { return n * m; }\n"
READ = "  for (int i = 0; i < n; i++) y[i] = x[{}];\n"
AT = "  for (int i = 0; i < n; i++) {{\n    int at = {};\n    y[i] = x[at] + x[i];\n  }}\n"


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("clamp(i - 1, 0, n - 1)", "i > 0 ? i - 1 : 0", "yes"),
        ("clamp(i - 1, 0, n - 1)", "i > 0 ? i : 0", "no"),
        ("clamp(i - 1, 0, n)", "clamp(i, 0, n)", "no"),
        ("product(2, i)", "2 * i", "yes"),
        ("product(2, i)", "2 * n", "no"),
    ],
)
def test_a_place_that_a_function_computes_of_its_arguments(
    old: str, new: str, answer: str, tmp_path: Path
) -> None:
    texts = (f"{CLAMP}{PRODUCT}{PLACES}{AT.format(place)}}}\n" for place in (old, new))
    assert verdict(tmp_path, *texts) == answer


SAME = "static int g(int v) { return v; }\n"


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        (SAME.replace("return v", "return v / 2u + 1"), "g(i - 3)", "(i - 3) / 2 + 1"),
        (SAME.replace("return v", "return v - 1u < 5 ? v : 0"), "g(i)", "i - 1 < 5 ? i : 0"),
        (SAME.replace("return v", "return v < 0u ? 0 : v + 3"), "g(i - 3)", "i - 3 < 0 ? 0 : i"),
        ("static int max(int a, int b) { if (a < b) return a; return b; }\n", "max(i, 3)", "i > 3 ? i : 3"),
        (
            "static unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }\n",
            "max(i - 3, 0)",
            "i - 3 > 0 ? i - 3 : 0",
        ),
    ],
)
def test_functions_that_compute_other_numbers_than_they_seem_to(
    function: str, old: str, new: str, tmp_path: Path
) -> None:
    texts = (f"{function}{PLACES}  for (int i = 0; i < n; i++) y[i] = x[{one}];\n}}\n" for one in (old, new))
    assert verdict(tmp_path, *texts) != "yes"


@pytest.mark.parametrize(
    ("function", "place", "other"),
    [
        ("", "(int)(i + 4294967296L)", "i + 4294967296L"),
        (SAME.replace("int v", "long v"), "g(i + 4294967296L)", "i + 4294967296L"),
        (SAME.replace("static int", "static long"), "g(i + 4294967296L)", "i + 4294967296L"),
    ],
)
def test_what_a_conversion_changes_is_no_proof_and_no_difference(
    function: str, place: str, other: str, tmp_path: Path
) -> None:
    """That a narrower type holds the numbers is taken on trust, and named."""
    paths = tmp_path / "old.c", tmp_path / "new.c"
    for path, subscript in zip(paths, (place, other), strict=True):
        path.write_text(f"{function}{PLACES}  for (int i = 0; i < n; i++) y[i] = x[{subscript}];\n}}\n")
    found = compare_files(*paths)
    assert not found.proved or "bounds and subscripts do not overflow or wrap around" in found.trusted
    paths[1].write_text(f"{function}{PLACES}  for (int i = 0; i < n; i++) y[i] = x[i];\n}}\n")
    assert not isinstance(compare_files(*paths).verdict, Refuted)


def test_a_place_that_a_function_computes_of_other_memory(tmp_path: Path) -> None:
    old = NEXT + PLACES + AT.format("next(i)").replace("y[i]", "step = 1; y[i]") + "}\n"
    new = NEXT + PLACES + AT.format("next(i)").replace("int at", "step = 1; int at") + "}\n"
    assert verdict(tmp_path, old, new) != "yes"


def test_the_sizes_of_tiles_may_be_a_macro_of_new_alone(tmp_path: Path) -> None:
    head = "#include <stddef.h>\n"
    start = "void f(size_t n, size_t m, double *restrict y, const double *restrict x) {\n"
    inner = "for (size_t j = 0; j < m; j++) "
    old = start + f"  for (size_t i = 0; i < n; i++) {inner}y[i * m + j] = x[i];\n}}\n"
    tile = "for (size_t i = k; i < n && i < k + TILE; i++) "
    new = start + f"  for (size_t k = 0; k < n; k += TILE) {inner}{tile}y[i * m + j] = x[i];\n}}\n"
    assert verdict(tmp_path, head + old, head + "#define TILE 16\n" + new) == "yes"
    old, new = (text.replace("x[i]", "x[i + TILE]") for text in (old, new))
    assert verdict(tmp_path, f"{head}#define TILE 8\n{old}", f"{head}#define TILE 16\n{new}") != "yes"


def test_loops_kept_whole_in_new_alone(tmp_path: Path) -> None:
    start = "void f(int n, const int *restrict r, const double *restrict v, double *restrict y) {\n"
    clear, add = "y[i] = 0;", "for (int k = r[i]; k < r[i + 1]; k++) y[i] += v[k];"
    each = "  for (int i = 0; i < n; i++) "
    together = f"{start}{each}{{ {clear} {add} }}\n}}\n"
    assert verdict(tmp_path, f"{start}{each}{clear}\n{each}{add}\n}}\n", together) == "yes"
    swapped = f"{start}{each}{{ {add} {clear} }}\n}}\n"
    assert verdict(tmp_path, together, swapped) == "unknown"


@pytest.mark.parametrize(("extra", "answer"), [("", "yes"), (" + ld", "no")])
def test_rows_of_a_leading_dimension_that_one_file_alone_need_not_read(
    extra: str, answer: str, tmp_path: Path
) -> None:
    start = "void f(int n, int m, const double *restrict a, int ld, double *restrict y) {\n"
    start += "#pragma loopwright assume ld >= m\n"
    rows, columns = "for (int i = 0; i < n; i++) ", "for (int j = 0; j < m; j++) "
    body = "{{ double t = 0; t += a[i * ld + j]; y[i * m + j] = t{}; }}\n}}\n"
    old = start + rows + columns + body.format("")
    assert verdict(tmp_path, old, start + columns + rows + body.format(extra)) == answer


GEMM = "void f(int M, int N, int K, const double *restrict A, int lda, const double *restrict B, int ldb,\n"
GEMM += "       double *restrict C, int ldc) {\n"
FIRST = """  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i * ldc + j] = 0;
      for (int k = 0; k < K; k++) C[i * ldc + j] += A[i * lda + k] * B[k * ldb + j];
    }
}
"""
COLUMNS = """  for (int j = 0; j < N; j++)
    for (int i = 0; i < M; i++) {
      double s = 0;
      for (int k = 0; k < K; k++) s += A[i * lda + k] * B[k * ldb + j];
      C[i * ldc + j] = s;
    }
}
"""


def test_a_hint_says_how_to_exclude_rows_that_reach_into_each_other(tmp_path: Path) -> None:
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text(GEMM + FIRST)
    new.write_text(GEMM + COLUMNS)
    with pytest.raises(Illegal) as refuted:
        agreement(str(old), str(new))
    assert refuted.value.hint == "if these sizes never occur, exclude them: --assume 'ldc >= N'"
    stated = ComparisonOptions(ReadOptions(assume=("ldc >= N",)))
    assert agreement(str(old), str(new), stated).ways == ("by values",)


def test_a_hint_says_how_to_exclude_sizes_below_1(tmp_path: Path) -> None:
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text(SCALED + LOOP + "}\n")
    new.write_text(SCALED + LOOP + "  if (n < 0)\n    y[0] = 0;\n}\n")
    with pytest.raises(Illegal) as refuted:
        agreement(str(old), str(new))
    assert refuted.value.hint == "if these sizes never occur, exclude them: --assume 'n >= 0'"
    new.write_text(SCALED + LOOP.replace("+ a", "- a") + "}\n")
    with pytest.raises(Illegal) as refuted:
        agreement(str(old), str(new))
    assert refuted.value.hint is None


@pytest.mark.parametrize(
    "body",
    [
        "int r = a / b; return r;",
        "int r = a / b; return r; /* no ceil */",
        "return (int)floor((double)a / b);",
        "return (int)ceil((double)(a / b));",
        "return (int)ceil((double)b / a);",
        "return (int)ceil((double)a / b) + 1;",
    ],
)
def test_a_quotient_that_the_file_rounds_otherwise(body: str, tmp_path: Path) -> None:
    head = f"#include <math.h>\nstatic int ceild(int a, int b) {{ {body} }}\n"
    old = head + PLACES + READ.format("ceild(i + 3, 2)") + "}\n"
    new = head + PLACES + READ.format("(i + 4) / 2") + "}\n"
    assert verdict(tmp_path, old, new) != "yes"


def test_a_quotient_of_three_numbers(tmp_path: Path) -> None:
    """The one that is known by its name has two."""
    body = "return (int)ceil((double)a / (double)b) + c;"
    head = f"#include <math.h>\nstatic int ceild(int a, int b, int c) {{ {body} }}\n{PLACES}"
    old, new = (head + READ.format(one) + "}\n" for one in ("ceild(i + 3, 2, 0)", "(i + 4) / 2"))
    assert verdict(tmp_path, old, new) != "yes"


def test_a_quotient_that_the_file_rounds_by_doubles(tmp_path: Path) -> None:
    """It is taken on trust to be what its name says."""
    body = "return (int)ceil((double)a / (double)(b));"
    head = f"#include <math.h>\nstatic int ceild(int a, int b) {{ {body} }}\n"
    old, new = (head + PLACES + READ.format(place) + "}\n" for place in ("ceild(i + 3, 2)", "(i + 4) / 2"))
    assert verdict(tmp_path, old, new) == "yes"


def test_a_function_inside_of_the_function(tmp_path: Path) -> None:
    """GNU C: it hides the one of the file."""
    head = "static int same(int v) { return v; }\n" + PLACES + "  int same(int v) { return v + 1; }\n"
    old, new = (head + READ.format(place) + "}\n" for place in ("same(i)", "i"))
    assert verdict(tmp_path, old, new) != "yes"


@pytest.mark.parametrize("name", YES)
def test_the_same(name: str, tmp_path: Path) -> None:
    old, new = YES[name]
    assert verdict(tmp_path, f"{old}}}\n", f"{new}}}\n") == "yes"


@pytest.mark.parametrize("name", NOT_YES)
def test_not_the_same(name: str, tmp_path: Path) -> None:
    old, new = NOT_YES[name]
    assert verdict(tmp_path, f"{old}}}\n", f"{new}}}\n") != "yes"
