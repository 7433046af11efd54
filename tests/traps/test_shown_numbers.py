"""Traps: lengths of rows that are no known numbers, and that the values in the file refute all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.model.program import AssumptionKind
from loopwright.progress import silent
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from tests.traps.support import Trap

_SHOWN = {
    "a variable of other files": ("int d = 2;", "d", False),
    "a struct of other files": ("struct { int d; } z = { 2 };", "z.d", False),
    "one that is set once": ("static int d; void g(void) { d = 2; }", "d", False),
    "a member that is set once": ("struct { int w, d; } z; void g(void) { z.d = 2; }", "z.d", False),
    "two numbers": ("int d = 2; void g(void) { d = 3; }", "d", False),
    "a number that is enough": ("int d = 2; void g(void) { d = 9; }", "d", True),
    "any number": ("int d = 2; void g(int n) { d = n; }", "d", True),
    "a pointer": ("int d = 2, *k; void g(void) { k = &d; }", "d", True),
    "no number": ("struct { int w, d; } z;", "z.d", True),
}
"""Whether the file shows a length of rows that holds five elements."""


_GIVEN = {
    "a half": ("int d = n / 2;", "d", "n", False),
    "one less": ("int d; d = n - 1;", "d", "n", False),
    "the size itself": ("int d = n;", "d", "n", True),
    "a remainder": ("int d = n % 4;", "d", "5", False),
    "low bits": ("int d = n & 3;", "d", "5", False),
    "more bits": ("int d = n & 7;", "d", "5", True),
    "a minimum": ("int d = n < 4 ? n : 4;", "d", "5", False),
    "a function of the file": ("int d = four();", "d", "5", False),
    "a bit-field": ("struct { unsigned d : 2; } z; z.d = n;", "z.d", "5", False),
    "a wider bit-field": ("struct { unsigned d : 3; } z; z.d = n;", "z.d", "5", True),
    "a later value": ("int d = n / 2; if (n > 9) d = n;", "d", "n", True),
    "a size that changes": ("int d = n / 2; n = d;", "d", "n", True),
    "memory": ("int d = k ? 4 : a[0];", "d", "5", True),
    "a member": ("int d = w->d;", "d", "5", True),
}
"""Whether rows of a length may hold so many elements."""


@pytest.mark.parametrize("name", _GIVEN)
def test_rows_are_not_believed_if_the_value_of_their_length_refutes_them(name: str, tmp_path: Path) -> None:
    setup, size, most, is_believed = _GIVEN[name]
    loops = f"for (i = 0; i < n; i++) for (j = 0; j < {most}; j++) L: x[i * {size} + j] = i;"
    head = "static int four(void) { return 4; } struct W { int d; };"
    trap = Trap(name, loops, head, setup, parameters="int n, double *x, struct W *w")
    (tmp_path / "t.c").write_text(trap.text())
    (program,) = read_c(tmp_path / "t.c")
    assert (AssumptionKind.ROWS in {one.kind for one in program.trusted}) == is_believed


_LENGTHS = [
    ("int m = 4; double w[20][m]; m = 9;", 4, True),
    ("int m = 4; double w[20][m]; m = 9;", 5, False),
    ("int m = 9; m = 4; double (*w)[m + 1] = (void *)x;", 5, True),
    ("int m = 9; m = 4; double (*w)[m + 1] = (void *)x;", 6, False),
]


@pytest.mark.parametrize(("setup", "most", "is_inside"), _LENGTHS)
def test_lengths_that_are_numbers_where_an_array_is_declared(
    setup: str, most: int, is_inside: bool, tmp_path: Path
) -> None:
    body = f"for (i = 0; i < 9; i++) for (j = 0; j < {most}; j++) w[i][j] = i;"
    (tmp_path / "t.c").write_text(Trap("", body, setup=setup).text())
    if is_inside:
        read_c(tmp_path / "t.c")
    else:
        with pytest.raises(BadInput, match="outside its array"):
            read_c(tmp_path / "t.c")


def test_a_constant_in_new_storage_is_no_internal_error(tmp_path: Path) -> None:
    """`const int M` is a number; expanded, it is an element, and the subscript depends on data."""
    body = "for (i = 0; i < n; i++) for (j = 0; j < 6; j++) L: x[i * M + j] = j + i;"
    (tmp_path / "t.c").write_text(Trap("", body, setup="const int M = 4;").text())
    with pytest.raises(Illegal):
        transformed(Request(str(tmp_path / "t.c"), script="reverse(L, i)"), silent)
    with pytest.raises(GaveUp, match="depends on data"):
        transformed(Request(str(tmp_path / "t.c"), script="expand(M, i)"), silent)


@pytest.mark.parametrize("name", _SHOWN)
def test_rows_are_not_believed_if_no_number_of_the_file_is_long_enough(name: str, tmp_path: Path) -> None:
    head, size, is_believed = _SHOWN[name]
    loops = f"for (i = 0; i < n; i++) for (j = 0; j < 5; j++) L: x[i * {size} + j] = i;"
    (tmp_path / "t.c").write_text(Trap(name, loops, head).text())
    (program,) = read_c(tmp_path / "t.c")
    assert (AssumptionKind.ROWS in {one.kind for one in program.trusted}) == is_believed
