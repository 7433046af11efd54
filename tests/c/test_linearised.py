"""Arrays of several dimensions written as one."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from loopwright.errors import BadInput
from loopwright.model.program import AssumptionKind, Program
from loopwright.read.c.gate.gate import gated
from tests.c.support import reads, region, writes

ALL = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) "
INSIDE = "for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++) "


def believed(program: Program) -> list[str]:
    return [entry.text for entry in program.assumptions if entry.kind is AssumptionKind.ROWS]


@pytest.mark.parametrize(
    ("text", "read", "written"),
    [
        (ALL + "a[i*m+j] = b[j*n+i];", ["b[j, i]"], ["a[i, j]"]),
        (ALL + "*(a + i*m + j) = b[i];", ["b[i]"], ["a[i, j]"]),
        (ALL + "a[IDX(i, j, m)] += b[IDX(j, i, n)];", ["a[i, j]", "b[j, i]"], ["a[i, j]"]),
        (ALL + "a[at(i, j, m)] = 0;", [], ["a[i, j]"]),
        (ALL + "a[(long)i*m + (n - n) + j] = a[0];", ["a[0, 0]"], ["a[i, j]"]),
        (INSIDE + "a[i*m+j] = b[(i-1)*m + j+1];", ["b[-1 + i, 1 + j]"], ["a[i, j]"]),
        (INSIDE + "a[i*m+j] = b[i*m + m-1];", ["b[i, -1 + m]"], ["a[i, j]"]),
        (ALL + "for (k = 0; k < n; k++) a[(i*m+j)*n+k] = 0;", [], ["a[i, j, k]"]),
        (ALL + "for (k = 0; k < n; k++) a[i*m*n + j*n + k] = 0;", [], ["a[i, j, k]"]),
        ("for (i = 0; i < n; i++) { int row = i*m; for (j = 0; j < m; j++) a[row+j] = 0; }", [], ["a[i, j]"]),
        (ALL + "a[(i/2)*m + j] = 0;", [], None),
        (ALL + "for (k = 0; k < 3; k++) a[(i*m+j)*3+k] = 0;", [], ["a[i, 3j + k]"]),
        (ALL + "a[2*(i*m+j)] = a[2*(i*m+j) + 1];", ["a[i, 1 + 2j]"], ["a[i, 2j]"]),
        (ALL + "for (k = 0; k < n; k++) a[((i*m+j)*n+k)*4 + 3] = b[((i*m+m-1-j)*n)*4];",
         ["b[i, -1 + m - j, 0]"], ["a[i, j, 3 + 4k]"]),
        (ALL + "a[i*(m+1) + j] = b[(i+1)*(m+2) + j+1];", ["b[1 + i, 1 + j]"], ["a[i, j]"]),
        (ALL + "a[i*(m+1) + j] = a[i*(m+1) + m];", ["a[i, m]"], ["a[i, j]"]),
        (INSIDE + "a[(i+1)*(m-1) + j] = 0;", [], ["a[1 + i, j]"]),
        (ALL + "a[3*(i*(m+1) + j)] = a[3*(i*(m+1) + j) + 2];", ["a[i, 2 + 3j]"], ["a[i, 3j]"]),
        (ALL + "for (k = 0; k < n; k++) a[(i*(m+1) + j)*(n+2) + k] = b[(i*m + j)*(n+2) + k+1];",
         ["b[i, j, 1 + k]"], ["a[i, j, k]"]),
    ],
)  # fmt: skip
def test_subscripts_are_taken_apart(text: str, read: list[str], written: list[str] | None) -> None:
    head = "#define IDX(r, c, ld) ((r)*(ld)+(c))\nstatic int at(int r, int c, int w) { return r*w + c; }"
    program = region(text, head=head)
    (statement,) = program.statements
    assert reads(statement) == read
    assert all(access.must for access in statement.accesses)
    assert written is None or writes(statement) == written
    assert program.arrays[0].rows and believed(program) == []


@pytest.mark.parametrize(
    "text",
    [
        ALL + "a[i*j] = 0;",
        ALL + "a[i*m+j] = a[i*m+j-1];",
        "for (i = 0; i < n; i++) for (j = 0; j < 2 * m; j++) a[i*m+j] = 0;",
        ALL + "a[j*n*m + i] = 0;",
        ALL + "{ k = i; a[i*k+j] = 0; }",
        ALL + "a[i*m + (int)b[j]] = 0;",
        ALL + "for (k = 0; k < 4; k++) a[(i*m+j)*3+k] = 0;",
        ALL + "a[3*i*m + 2*j] = a[m];",
        ALL + "a[3*i*m + 2*i*n + j] = 0;",
        "for (i = 0; i < n / 2; i++) for (j = 0; j < m / 2; j++) a[i * (m / 2) + j] = 0;",
        "for (i = 0; i < n; i++) for (j = 0; j <= m + 1; j++) a[i*(m+1) + j] = 0;",
        ALL + "a[i*(m-1) + j] = 0;",
        ALL + "a[i*(m+1) + j] = a[i*(m+2) + j];",
    ],
)
def test_what_may_reach_into_another_row_stays_one_dimension(text: str) -> None:
    statement = region(text, assume=["n >= 2", "m >= 2"]).statements[-1]
    assert writes(statement)[0] == "a[o0]?"


@pytest.mark.parametrize("subscript", ["i*(m-1) + j", "i*(m-2) + j", "i*m + 2*j"])
def test_rows_are_not_believed_apart_where_a_loop_runs_once_alone(subscript: str) -> None:
    program = region(ALL + f"a[{subscript}] = 0;")
    assert writes(program.statements[-1])[0] == "a[o0]?"
    assert not believed(program)


def test_a_row_wider_than_the_loop_is_believed_where_it_is_written_and_listed() -> None:
    """Overlapping windows, `b[i*s + j]`, need no assumption: b is only read."""
    text = ALL + "a[i*k + j] = b[i*s + j];"
    (statement,) = (program := region(text, head="int s;")).statements
    assert writes(statement) == ["a[i, j]"] and "b[o0]?" in reads(statement)
    (listed,) = believed(program)
    assert listed.startswith("'a' has rows of k") and listed.endswith(": k >= m")
    shown = region(text, head="int s;", assume=["k >= m", "s >= m"])
    assert believed(shown) == [] and "b[i, j]" in reads(shown.statements[0])


def test_rows_of_a_sum_are_named_and_believed_as_one_is() -> None:
    program = region("for (j = 0; j <= m; j++) a[j] = 0; " + ALL + "a[(i+1)*(m+k) + j] = a[i*(m+k) + j];")
    assert [writes(one) for one in program.statements] == [["a[0, j]"], ["a[1 + i, j]"]]
    assert program.arrays[0].rows == ("m + k",)
    (listed,) = believed(program)
    assert listed.startswith("'a' has rows of m + k,")


def test_a_local_product_is_a_value_only_if_it_is_shown_to_be_an_integer() -> None:
    loop = "for (i = 0; i < n; i++) { int t = x * i; a[i] = t; }"
    assert len(region(loop).statements) == 2
    assert len(region(loop, head="int x;").statements) == 1


@pytest.mark.parametrize(
    "body",
    [
        "for (k = 0; k < n; k++) for (i = 0; i < 2*n; i++) for (j = 0; j < 2*m; j++)"
        " a[(k*2*n + i)*2*m + j] = b[k*n*m + (i/2)*m + j/2];",
        "for (i = 1; i < n; i++) for (j = 0; j < m; j++) a[i*m+j] = b[(i/2)*m + j] + b[((i+1)/2)*m + j];",
    ],
)
def test_both_readings_know_quotients_in_rows(body: str) -> None:
    (program,) = gated((region(body),))
    (statement,) = program.statements
    assert all(access.must for access in statement.accesses)
    assert all(array.rows for array in program.arrays)


def test_another_quotient_in_a_row_is_another_cell() -> None:
    program = region("for (i = 1; i < n; i++) for (j = 0; j < m; j++) a[i*m+j] = b[(i/2)*m + j];")
    (statement,) = program.statements
    (read,) = (access for access in statement.accesses if not access.is_write)
    (_, written) = statement.accesses if statement.accesses[0] is read else reversed(statement.accesses)
    shifted = replace(read, relation=read.relation.apply_range(isl.Map("{ b[r, c] -> b[r + 1, c] }")))
    wrong = replace(program, statements=(replace(statement, accesses=(shifted, written)),))
    with pytest.raises(BadInput, match="which the model lacks"):
        gated((wrong,))
