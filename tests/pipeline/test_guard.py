"""Assumptions are tried; with `--guard`, what is left is tested at run time, and the test is judged."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import loopwright as lw
from loopwright.errors import BadInput
from loopwright.model.program import AssumptionKind, Standing
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.text.guards import NotAGuard, established, shown_by
from loopwright.read.c.reader import parse_c, read_source
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.source import Source

ALIASING, BOUNDS, ARITHMETIC = AssumptionKind.ALIASING, AssumptionKind.BOUNDS, AssumptionKind.ARITHMETIC
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
FUNCTIONS = {
    "axpy": ("int n, double a, double *x, double *y", "for (int i = 0; i < n; i++) y[i] += a * x[i];"),
    "copy": ("int n, const float *x, float *y", "for (int i = 0; i < n; i++) y[i] = x[i];"),
    "stencil": ("int n, double *a, double *b", "for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];"),
    "steps": (
        "int t, int n, double *a, double *b",
        "for (int s = 0; s < t; s++) { for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];"
        " for (int i = 1; i < n - 1; i++) a[i] = b[i]; }",
    ),
    "matrix times vector": (
        "int n, int m, double A[n][m], double *x, double *y",
        f"{ROWS} y[i] += A[i][j] * x[j];",
    ),
    "rows of 100": (
        "int n, double (*A)[100], double (*B)[100]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < 100; j++) B[i][j] = A[i][j];",
    ),
    "one dimension": ("int n, int m, double *A, double *B", f"{ROWS} B[i * m + j] = A[i * m + j] + 1;"),
    "transposed": ("int n, int m, double A[n][m], double B[m][n]", f"{ROWS} B[j][i] = A[i][j];"),
    "size_t": ("unsigned long n, double *x, double *y", "for (unsigned long i = 0; i < n; i++) y[i] = x[i];"),
    "long": ("long n, long m, int *x, int *y", f"{ROWS.replace('int', 'long')} y[i + j] += x[j];"),
    "global array": ("int n, double *x", "for (int i = 0; i < n; i++) x[i] = table[i];"),
    "global size": ("int *x", "for (int i = 0; i < size; i++) x[i] = i;"),
    "global scalar": ("int n, double *x", "for (int i = 0; i < n; i++) total += x[i];"),
    "restrict on one": (
        "int n, double *restrict x, double *y, double *z",
        "for (int i = 0; i < n; i++) { x[i] = y[i]; z[i] = x[i]; }",
    ),
    "every third": ("int n, double *x, double *y", "for (int i = 2; i < n; i += 3) y[i] = x[i - 2] + 1;"),
    "triangle": (
        "int n, double *x, double *y",
        "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) y[j] += x[i];",
    ),
    "leading dimensions": (
        "int n, int m, const double *A, int lda, double *B, int ldb",
        f"{ROWS} B[i * ldb + j] = A[i * lda + j];",
    ),
    "strides": (
        "int n, double a, const double *x, int incx, double *y, int incy",
        "for (int i = 0; i < n; i++) y[i * incy] += a * x[i * incx];",
    ),
    "at an offset": ("int n, int o, double *x, double *y", "for (int i = 0; i < n; i++) y[i] = x[o + i];"),
    "unsigned": (
        "unsigned n, const unsigned char *x, unsigned char *y",
        "for (unsigned i = 1; i + 1 < n; i++) y[i] = (x[i - 1] + x[i + 1]) / 2;",
    ),
    "convolution": (
        "unsigned long n, unsigned long m, const float *x, const float *w, float *y",
        f"{ROWS.replace('int', 'unsigned long')} y[i] += x[i + j] * w[j];",
    ),
}
"""Functions with pointer parameters."""


def text_of(parameters: str, body: str) -> str:
    head = "double table[1000], total;\nint size;\n"
    return f"{head}void f({parameters})\n{{\n#pragma scop\n  {body}\n#pragma endscop\n}}\n"


def guarded(folder: Path, text: str, script: str | None = None) -> tuple[Path, Path, dict[str, str]]:
    """The old and the new file, and what became of the assumptions, none of which is left."""
    old, new = folder / "old.c", folder / "new.c"
    old.write_text(text)
    found = transformed(Request(file=str(old), script=script, guard=True), silent)
    assert found.regions[0].assumptions == ()
    new.write_text(found.source.text)
    return old, new, {one.kind: one.standing for one in found.regions[0].tried}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_is_left_to_believe(name: str, tmp_path: Path) -> None:
    _, new, standings = guarded(tmp_path, text_of(*FUNCTIONS[name]))
    assert standings["aliasing"] == "guarded" and "assumed" not in standings.values()
    assert "uintptr_t" in new.read_text() and "} else {" in new.read_text()


@pytest.mark.parametrize(
    ("body", "is_seen"),
    [
        ("((x) > (y) ? (x) : (y))", True),
        ("((x) > (y) ? (x) : a[(int)(y)])", False),
        ("((x) + *(&(y) + 1))", False),
    ],
)
def test_macros_that_choose_compute_no_subscripts(body: str, is_seen: bool, tmp_path: Path) -> None:
    loop = "for (int i = 1; i < 900; i++) L: a[i] = LARGER(a[i + 1], a[2 * i]);"
    text = text_of("int n, double a[4000]", loop)
    (tmp_path / "k.c").write_text(f"#define LARGER(x, y) {body}\n{text}")
    found = transformed(Request(file=str(tmp_path / "k.c"), script="shift(L, i, 3)"), silent).regions[0]
    assert ("bounds and subscripts do not overflow or wrap around" not in found.assumptions) == is_seen


def is_plain_yes(old: Path, new: Path) -> bool:
    """Whether `prove` says yes, and nothing is left to believe of memory."""
    try:
        found = compare_files(old, new)
    except BadInput:
        return False
    return found.proved and not any("not aliased" in one for one in found.trusted)


def test_prove_judges_a_guarded_file(tmp_path: Path) -> None:
    old, new, _ = guarded(tmp_path, text_of(*FUNCTIONS["axpy"]))
    assert is_plain_yes(old, new)
    text = new.read_text()
    for right, wrong in (
        ("} else {", "} else if (0) {"),
        ("(uintptr_t)(n) * sizeof(*x)", "(uintptr_t)(5) * sizeof(*x)"),
        ("- (uintptr_t)x >=", "- (uintptr_t)y >="),
        ("sizeof(*y)", "sizeof(y)"),
    ):
        assert right in text
        new.write_text(text.replace(right, wrong))
        assert not is_plain_yes(old, new)


CONDITIONS = {"both ways": ("x - y", "y - x"), "one way": ("x - y",), "the same twice": ("x - y", "x - y")}


@pytest.mark.parametrize("name", CONDITIONS)
def test_addresses_are_compared_both_ways(name: str) -> None:
    (program,) = read_source(Source("k.c", text_of(*FUNCTIONS["copy"])))
    conditions = []
    for pair in CONDITIONS[name]:
        first, second = pair.split(" - ")
        conditions.append(f"(uintptr_t){first} - (uintptr_t){second} >= (uintptr_t)(n) * sizeof(*{second})")
    shown = shown_by(program, program.assumptions, established(program, conditions))
    (aliasing,) = [one for one in shown if one.kind is ALIASING]
    assert (aliasing.standing is Standing.GUARDED) == (name == "both ways")


@pytest.mark.parametrize("condition", ["n++ < 5", "g(n) > 0", "n + 1 > 0", "x[0] > 0", "(n = 5) > 0"])
def test_a_condition_that_does_or_risks_more_is_no_guard(condition: str) -> None:
    (program,) = read_source(Source("k.c", text_of(*FUNCTIONS["copy"])))
    with pytest.raises(NotAGuard):
        established(program, [condition])


COPY = "for (int i = 0; i < n; i++) x[i] = y[i];"
TRIED = {
    "rows of the right length": ("double A[n][m]", "", f"{ROWS} A[i][j] = 0;", BOUNDS, Standing.PROVED),
    "another length by now": ("double A[n][m]", "m = 9;", f"{ROWS} A[i][j] = 0;", BOUNDS, Standing.ASSUMED),
    "rows anywhere": ("double **A", "", f"{ROWS} A[i][j] = 0;", BOUNDS, Standing.PROVED),
    "table[n]": ("int k", "", "for (int i = 0; i < n; i++) table[i] = 0;", BOUNDS, Standing.ASSUMED),
    "table[1000]": ("int k", "", "for (int i = 0; i < 1000; i++) table[i] = 0;", BOUNDS, Standing.PROVED),
    "two pointers": ("double *x, double *y", "", COPY, ALIASING, Standing.ASSUMED),
    "one restrict": ("double *restrict x, double *y", "", COPY, ALIASING, Standing.PROVED),
    "a variable of the function": ("double *y", "double x[9];", COPY, ALIASING, Standing.PROVED),
    "one that is pointed to": ("double *y", "double x[9]; y = x;", COPY, ALIASING, Standing.ASSUMED),
}


@pytest.mark.parametrize("name", TRIED)
def test_what_the_file_shows_is_not_assumed(name: str) -> None:
    parameters, setup, body, kind, standing = TRIED[name]
    text = text_of(f"int n, int m, {parameters}", body).replace("#pragma scop", f"{setup}\n#pragma scop")
    (program,) = read_source(Source("k.c", text))
    assert [one.standing for one in program.assumptions if one.kind is kind] == [standing]


def test_what_a_guard_cannot_say_is_listed_and_not_tested(tmp_path: Path) -> None:
    """Which elements of x are touched, the data say."""
    text = text_of("int n, int *k, double *x, double *y", "for (int i = 0; i < n; i++) x[k[i]] = y[i + 1];")
    (tmp_path / "k.c").write_text(text)
    found = transformed(Request(file=str(tmp_path / "k.c"), guard=True), silent)
    assert [one.kind for one in found.regions[0].tried if one.standing == "assumed"] == ["aliasing"]
    assert "uintptr_t" not in found.source.text


@pytest.mark.parametrize(
    ("parameters", "setup", "body", "told"),
    [
        ("struct v *s", "", "for (int i = 0; i < s->n; i++) s->y[i] = s->x[i];", "what is not a variable"),
        ("struct v s", "", "for (int i = 0; i < s.n; i++) s.y[i] = s.x[i];", "what is not a variable"),
        ("int n, double **A, double **B", "", f"{ROWS.replace('m;', 'n;')} A[i][j] = B[i][j];", "the rows"),
        ("struct v *s", "double *x = s->x, *y = s->y; int n = s->n;", COPY, ""),
        ("int n, double (*A)[n], double (*B)[n]", "", f"{ROWS.replace('m;', 'n;')} A[i][j] = B[i][j];", ""),
    ],
)
def test_what_to_change_where_no_guard_can_be_written(
    parameters: str, setup: str, body: str, told: str, tmp_path: Path
) -> None:
    head = "struct v { int n; double *x, *y; };\n"
    scop = f"\n#pragma scop\n{body}\n#pragma endscop\n"
    (tmp_path / "k.c").write_text(f"{head}void f({parameters}) {{ {setup}{scop}}}\n")
    found = transformed(Request(file=str(tmp_path / "k.c"), guard=True), silent)
    assert bool(found.regions[0].assumptions) is bool(told)
    assert [told in one for one in found.notes] == ([True] if told else [])


@pytest.mark.parametrize("head", ["#define uintptr_t unsigned", "#define else else", "int uintptr_t;"])
def test_no_guard_is_written_with_words_that_mean_something_else(head: str, tmp_path: Path) -> None:
    text = text_of("int n, double *x, double *y", "for (int i = 0; i < n; i++) x[i] = y[i + 1];")
    (tmp_path / "k.c").write_text(f"{head}\n{text}")
    found = transformed(Request(file=str(tmp_path / "k.c"), guard=True), silent)
    assert found.regions[0].assumptions
    assert ["a meaning of its own" in one for one in found.notes] == [True]


def test_a_length_of_the_same_name_is_another_variable() -> None:
    """The m of A's declaration is the one of the file: the parameter comes later."""
    text = text_of("int n, double A[n][m], int m", f"{ROWS} A[i][j] = 0;")
    (program,) = read_source(Source("k.c", text.replace("int size;", "int m;")))
    assert [one.standing for one in program.assumptions if one.kind is BOUNDS] == [Standing.ASSUMED]


def test_a_row_that_is_left_is_refused_with_the_values() -> None:
    text = text_of("double n", "for (int j = 0; j < 20; j++) A[1][j] = n;").replace("total", "A[10][10]")
    with pytest.raises(BadInput, match=r"'A\[1\]\[10\]' is outside its array.*j = 10"):
        read_source(Source("k.c", text))
    assert parse_c(Source("k.c", text))


MAIN = r"""
#include <stdio.h>
int main(void)
{
  double x[64];
  for (int shift = 0; shift < 20; shift++) {
    for (int i = 0; i < 64; i++) x[i] = i;
    f(20, 0.5, x + 20, x + shift + 10);
    for (int i = 0; i < 64; i++) printf("%g ", x[i]);
  }
}
"""


def test_pointers_that_overlap_get_the_loops_as_they_were(tmp_path: Path) -> None:
    """Reversed, the loop computes something else where y is one element after x."""
    old, new, _ = guarded(tmp_path, text_of(*FUNCTIONS["axpy"]), "reverse(S1, i)")
    printed = []
    for file in (old, new):
        file.write_text(file.read_text() + MAIN)
        subprocess.run(["gcc", "-w", "-o", tmp_path / "run", file], check=True)
        printed.append(subprocess.run([tmp_path / "run"], capture_output=True, check=True).stdout)
    assert printed[0] == printed[1]


@pytest.mark.parametrize(
    ("condition", "loops", "is_same"),
    [
        ("n == 10", "for (int i = 0; i < 10; i++) x[i] = table[i];", True),
        ("n <= 0", "", True),
        ("n == 10", "for (int i = 0; i < 11; i++) x[i] = table[i];", False),
        ("n <= 1", "", False),
        ("n == 10 && size ? 1 : 1", "for (int i = 0; i < 10; i++) x[i] = table[i];", False),
        ("n == 10 || size", "for (int i = 0; i < 10; i++) x[i] = table[i];", False),
    ],
)
def test_loops_under_a_guard_are_for_its_sizes_alone(
    condition: str, loops: str, is_same: bool, tmp_path: Path
) -> None:
    parameters, body = FUNCTIONS["global array"]
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text(text_of(parameters, body))
    new.write_text(text_of(parameters, f"if ({condition}) {{ {loops} }} else {{ {body} }}"))
    assert compare_files(old, new).proved == is_same


@pytest.mark.parametrize(
    ("parameters", "body", "script"),
    [
        (
            "int n, double *x, double *y",
            "for (int i = 0; i < n; i++) { total = x[i]; S: y[i] = total; }",
            "expand(total, i)",
        ),
        (
            "int n, double *x",
            "double z[50][50]; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { z[i][j] = x[i];"
            " S: x[i] += z[i][j]; }",
            "pad(z, 1)",
        ),
    ],
)
def test_other_storage_under_a_guard(parameters: str, body: str, script: str, tmp_path: Path) -> None:
    """Sizes for which the original leaves its arrays show nothing of the new ones."""
    file = tmp_path / "f.c"
    file.write_text(text_of(parameters, body))
    for guard in (False, True):
        outcome = transformed(Request(str(file), script, guard=guard), silent)
        assert ("uintptr_t" in outcome.source.text) == (guard and "*y" in parameters)


def test_loops_for_some_sizes_are_not_taken_for_a_guard(tmp_path: Path) -> None:
    """Below one step of the unrolled loop, the loops as they were: `if (m >= 4) ... else` is not a guard."""
    text = """void f(int m, signed char a[24][24], float x[24])
{
#pragma scop
  for (int i = 1; i < m; i++) {
    for (int j = 0; j < m; j++) {
      x[j] = a[i][j];
    }
  }
#pragma endscop
}
"""
    (tmp_path / "k.c").write_text(text)
    (plan,) = lw.read_regions(tmp_path / "k.c")
    new = lw.to_c(plan.transform("unroll(S1, j, 4)"))
    assert "if (m >= 4)" in new and "else" in new


@pytest.mark.parametrize(
    ("head", "test"),
    [("int i = 1; i < n; i++", "n >= 2"), ("int i = n; i > 1; i--", "n >= 2"), ("int i = 0; i < n; i++", "")],
)
def test_iterations_that_openmp_counts_are_a_number(head: str, test: str, tmp_path: Path) -> None:
    """For n = -2147483648 the loop over 1 <= i < n is empty, and n - 1 is no int: gcc ran 2^31 iterations."""
    file = tmp_path / "f.c"
    file.write_text(text_of("int n, double A[24][24]", f"for ({head}) A[i][0] = A[i][1] * 2;"))
    outcome = transformed(Request(str(file), "parallel(S1, i)", guard=True, openmp=True), silent)
    assert (test in outcome.source.text) and ("n >= 2" in outcome.source.text) == bool(test)
    assert not outcome.left
