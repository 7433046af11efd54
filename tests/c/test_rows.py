"""Local pointers to rows: read as the elements they stand for, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.model.program import Inlined
from loopwright.read.c.gate.gate import gated
from loopwright.read.c.reader import read_c
from tests.c.support import reads, refusal, region, underlined, writes

HEAD = (
    "#define W 12\n#define HIDDEN hid[j]\n#define EL(r, c) a[(r) * 4 + (c)]\n"
    "typedef double real; typedef double *vec; typedef int kind; struct s { double x; } st[9];\n"
    "double g(double *p) __attribute__((pure));\n"
    "static double img[8][W], *last, **far; static int ints[50]; void *any; volatile double vol[9];\n"
)
NEST = "for (i = 0; i < n; i++) {{ {declared} for (j = 0; j < m; j++) {{ {text} }} }}"
IMAGE = "for (i = 0; i < 8; i++) {{ {declared} for (j = 1; j < W - 1; j++) {text} }}"


@pytest.mark.parametrize(
    ("nest", "declared", "text", "read", "written"),
    [
        (NEST, "double *row = a + i * m;", "row[j] = b[j];", ["b[j]"], ["a[i, j]"]),
        (NEST, "double *restrict row = &a[i * m];", "row[j] += 1;", ["a[i, j]"], ["a[i, j]"]),
        (NEST, "const real *row = a + i * m;", "b[j] = row[j];", ["a[i, j]"], ["b[j]"]),
        (NEST, "int q = i * m; double *row = (a + q);", "row[j] = 1;", [], ["a[i, j]"]),
        (NEST, "double *row = a + 2 * i - 1;", "row[j] = 1;", [], ["a[-1 + 2i + j]"]),
        (NEST, "double *r = far[i], *s = far[i + 1];", "r[j] = s[j];", ["far[1 + i, j]"], ["far[i, j]"]),
        (NEST, "int *at = ints + i;", "if (at[j] > 0) at[j] = 1;", ["ints[i + j]"], ["ints[i + j]?"]),
        (NEST, "double *row = a + i;", "b[j] = sizeof row[0];", [], ["b[j]"]),
        (IMAGE, "const double *row = &img[i][0];", "a[j] = row[j - 1];", ["img[i, -1 + j]"], ["a[j]"]),
        (IMAGE, "double *row = img[i] + 1;", "row[j] = 1;", [], ["img[i, 1 + j]"]),
        (IMAGE, "double *row = img[i];", "row[j] = row[j + 1];", ["img[i, 1 + j]"], ["img[i, j]"]),
    ],
)  # fmt: skip
def test_an_element_of_a_row(
    nest: str, declared: str, text: str, read: list[str], written: list[str]
) -> None:
    program = region(nest.format(declared=declared, text=text), head=HEAD)
    (statement,) = program.statements
    assert (reads(statement), writes(statement)) == (read, written)
    assert {array.name for array in program.arrays} <= {"a", "b", "img", "far", "ints"}
    assert any(isinstance(hole, Inlined) and hole.is_row for hole in statement.body.holes)


def test_an_address_given_to_a_function_reaches_the_whole_array() -> None:
    program = region(NEST.format(declared="double *row = a + i;", text="b[j] = g(&row[j]);"), head=HEAD)
    assert reads(program.statements[0]) == ["a[o0]?"]


def test_a_row_whose_number_is_not_affine_may_be_any_row() -> None:
    text = NEST.format(declared="const double *row = a + i * m + (i / k) * n;", text="b[j] = row[j];")
    (statement,) = region(text, head=HEAD).statements
    assert reads(statement) == ["k[]", "a[o0]?"] and writes(statement) == ["b[j]"]


@pytest.mark.parametrize(
    ("size", "change", "message"),
    [
        ("k", "k = 2;", "'k' is written in the region, so it is not a parameter"),
        ("k", "k += 1;", "'k' is written in the region, so it is not a parameter"),
        ("step", "bump();", "a pointer may change 'step', which decides what the region runs"),
    ],
)
def test_a_row_whose_number_changes_is_refused(size: str, change: str, message: str) -> None:
    text = NEST.format(declared=f"double *row = a + i * (m / {size}); {change}", text="row[j] = 0;")
    with pytest.raises(BadInput, match=message):
        gated((region(text, head=HEAD + "int step; void bump(void) { step++; }"),))


def test_a_row_named_by_a_member_is_an_element_instead(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    path.write_text(
        "struct S { int d; };\n"
        "void f(int n, struct S *restrict s, const double *restrict a, double *restrict b) {\n"
        "  for (int i = 0; i < n; i++) { const double *row = a + i * s->d; b[i] = row[0]; }\n}\n"
    )
    (program,) = read_c(path)
    (statement,) = program.statements
    assert not program.set_aside and statement.body.place.text == "b[i] = a[(long)i * s->d];"


def test_rows_of_the_same_name() -> None:
    text = "for (i = 0; i < n; i++) {{ double *row = {}; row[1] = 0; }}"
    program = region(text.format("a + i") + text.format("b + 2 * i"))
    assert [writes(one) for one in program.statements] == [["a[1 + i]"], ["b[1 + 2i]"]]


_NOT_FOLLOWED = "a pointer declared in a region cannot be followed"


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("double *row = a + i;", "b[j] = g(row);"),
        ("double *row = a + i;", "b[j] = row == b;"),
        ("double *row = a + i;", "b[j] = sizeof row;"),
        ("double *row = a + i;", "*row = 1;"),
        ("double *row = a + i; double *next = row + 1;", "next[j] = 1;"),
        ("double *row;", "row[j] = 1;"),
        ("float *row = a + i;", "row[j] = 1;"),
        ("unsigned *row = ints;", "row[j] = 1;"),
        ("double *row = any;", "row[j] = 1;"),
        ("double *row = (double *)ints;", "row[j] = 1;"),
        ("double *row = A;", "row[j] = 1;"),
        ("double (*row)[n] = A + i;", "row[0][j] = 1;"),
        ("double **row = far + i;", "row[0][j] = 1;"),
        ("struct s *row = st + i;", "row[j].x = 1;"),
        ("double *volatile row = a;", "row[j] = 1;"),
        ("double *row = i > 2 ? a : b;", "row[j] = 1;"),
        ("double *row = (k, a);", "row[j] = 1;"),
        ("double *row = i + a;", "row[j] = 1;"),
        ("double t[9]; double *row = t;", "row[j] = 1;"),
        ("double *row = a; { double a[3]; a[0] = 1; row[1] = a[0]; }", "b[j] = 1;"),
        ("double *row = a; { double *row = b; row[0] = 1; }", "row[j] = 1;"),
        ("{ double *last = a; last[0] = 1; }", "last[j] = 1;"),
        ("double *hid = a;", "hid[j] = 1;"),
        ("double *kind = a;", "kind[j] = 1;"),
        ("double *row = a;", "if (b[j] > 0) { double *more = b; more[0] = 1; }"),
        ("double *row = &img[i][j];", "row[0] = 1;"),
    ],
)
def test_a_pointer_that_could_be_more_is_refused(declared: str, text: str) -> None:
    assert refusal(NEST.format(declared=declared, text=text), head=HEAD).message == _NOT_FOLLOWED


@pytest.mark.parametrize(
    ("nest", "declared", "text", "message"),
    [
        (NEST, "double *row = a + i;", "row[j] = 1; row++;", "the pointer 'row' changes here"),
        (NEST, "double *row = a + i;", "row[j] = 1; row = b;", "'row' has 1 dimension here"),
        (NEST, "double *row = a + i;", "last = row;", "'last' has 1 dimension here"),
        (NEST, "double *row = last + i;", "row[j] = 1; last = a;", "'last' has 1 dimension here"),
        (NEST, "double *row = far[i];", "row[j] = 1; far[i] = a;", "'far' has 2 dimensions here"),
        (NEST, "vec row = a;", "row[j] = 1;", "'row' is subscripted, but not declared"),
        (NEST, "double *row = a + k;", "row[j] = 1; k = j;", "where 'row' points cannot be followed: 'k' is"),
        (NEST, "double *row = a + ints[i];", "row[j] = 1;", "where 'row' points cannot be followed: it dep"),
        (NEST, "double *hid = a;", "HIDDEN = 1;", "the macro 'HIDDEN' hides a use of 'hid'"),
        (NEST, "int *row = ints;", "EL(i, row[j]) = 1;", "in this macro: 'row' is a pointer"),
        (NEST, "double *row = a + i;", "for (i = 0; i < n; i++) row[i] = 1;", "'i' is already the iterator"),
        (IMAGE, "double *row = img[i];", "row[j + 2] = 1;", "'row[j + 2]' may leave the row of 'img' of W"),
        (IMAGE, "double *row = img[i];", "row[j - 2] = 1;", "'row[j - 2]' may leave the row of 'img' of W"),
        (NEST, "double *row = img[i];", "row[j] = 1;", "'row[j]' may leave the row of 'img' of W"),
    ],
)  # fmt: skip
def test_why_a_pointer_is_refused(nest: str, declared: str, text: str, message: str) -> None:
    assert refusal(nest.format(declared=declared, text=text), head=HEAD).message.startswith(message)


def test_a_pointer_through_all_rows_is_not_a_pointer_to_a_row() -> None:
    text = "double *all = &img[0][0]; for (i = 0; i < 8 * W; i++) all[i] = 1;"
    assert underlined(refusal(text, head=HEAD)) == "all[i]"


def test_what_keeps_a_pointer_in_its_row_can_be_stated() -> None:
    text = NEST.format(declared="double *row = img[i];", text="row[j] = 1;")
    assert writes(region(text, head=HEAD, assume=["m <= W"]).statements[0]) == ["img[i, j]"]
