"""Two names for one memory: what the function itself shows is not taken on trust."""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput
from loopwright.model.program import ELSEWHERE, AssumptionKind, Program
from loopwright.read.c.reader import parse_c, read_source
from loopwright.source import Source
from tests.c.support import set_aside, underlined

FUNCTION = """void f(int n, double *a, double *b, double A[n][n]) {{
  double *p = b, *q;
  {before}
#pragma scop
  for (int i = 0; i < n; i++) {body}
#pragma endscop
  {after}
}}
"""


def read(before: str, body: str, after: str = "") -> Program:
    (program,) = parse_c(Source("t.c", FUNCTION.format(before=before, body=body, after=after)))
    return program


@pytest.mark.parametrize(
    ("before", "body", "pointer", "array"),
    [
        ("", "p[i] = b[i - 1];", "p", "b"),
        ("", "b[i] = p[i - 1];", "p", "b"),
        ("q = a + n;", "q[i] = a[i];", "q", "a"),
        ("q = &a[n - 1];", "a[i] = q[-i];", "q", "a"),
        ("q = (double *)(a + n - 1);", "*(q + i) = a[i];", "q", "a"),
        ("q = n > 3 ? b : (a);", "q[i] = a[i];", "q", "a"),
        ("q = A[2];", "q[i] = A[i][0];", "q", "A"),
        ("q = &A[0][0];", "q[i] = A[i][0];", "q", "A"),
        ("q = p + 1;", "b[i] = q[i];", "q", "b"),
        ("q = &p[1];", "b[i] = q[i];", "q", "b"),
        ("double (*r)[n] = A;", "r[i][0] = A[0][i];", "r", "A"),
    ],
)
def test_a_pointer_into_an_array_of_the_region_is_not_followed(
    before: str, body: str, pointer: str, array: str
) -> None:
    program = read(before, body)
    why = BadInput.of(set_aside(program))
    assert why.message == f"'{pointer}' points into '{array}', and the region uses both"
    assert underlined(why) == pointer
    assert [one.name for one in program.arrays] == [ELSEWHERE]


@pytest.mark.parametrize(
    ("before", "body", "after"),
    [
        ("", "a[i] = p[i] + b[i];", ""),
        ("", "p[i] = a[i];", "p = b + 1;"),
        ("q = &p[3];", "a[i] = q[i];", ""),
        ("double s = a[0];", "a[i] = s;", ""),
        ("int k = b - p;", "b[i] = k;", ""),
    ],
)
def test_other_pointers_are_read(before: str, body: str, after: str) -> None:
    assert not read(before, body, after).set_aside


_TYPES = "typedef double *vec; typedef vec same; typedef double **rows; typedef double grid[9][9];\n"
_TYPES += "typedef struct { int n; double **v, *w[9]; vec x; } mat;\n"


@pytest.mark.parametrize(
    ("parameters", "body", "listed"),
    [
        ("vec a, vec b", "a[i] = b[i + 1];", ["a, b: apart"]),
        ("same a, same b", "a[i] = b[i + 1];", ["a, b: apart"]),
        ("grid a, grid b", "a[i][0] = b[i][1];", ["a, b: apart"]),
        ("vec a, double *b", "a[i] = b[i + 1];", ["a, b: apart"]),
        ("double *restrict *a, double *restrict *b", "a[i][0] = b[i][1];", ["a, b: apart", "a: rows"]),
        ("rows a, rows b", "a[i][0] = b[i][1];", ["a, b: apart", "a: rows"]),
        ("mat *a, vec b", "a->v[i][0] = b[i];", ["b, a->v: apart", "a->v: rows"]),
        ("mat a, vec b", "a.w[i][0] = b[i];", ["b, a.w: apart", "a.w: rows"]),
        ("mat *a, mat *b", "a->x[i] = b->v[i][0];", ["a->x, b->v: apart"]),
        ("double *restrict a, const double *restrict b", "a[i] = b[i + 1];", []),
        ("double *restrict a, vec b", "a[i] = b[i + 1];", ["b: apart"]),
    ],
)
def test_what_a_type_leads_to_is_listed(parameters: str, body: str, listed: list[str]) -> None:
    """Pointers by a name for their type, and rows by the member of a struct, are pointers all the same."""
    words = {"not aliased by anything else in the region": "apart"}
    words["no two rows overlap"] = "rows"
    text = f"{_TYPES}void f(int n, {parameters}) {{\n#pragma scop\n"
    text += f"for (int i = 0; i < n; i++) {body}\n#pragma endscop\n}}\n"
    (program,) = read_source(Source("t.c", text))
    shared = [one for one in program.assumptions if one.kind is AssumptionKind.ALIASING]
    names = [one.text.split(": ") for one in shared]
    assert [f"{who}: {words[what]}" for who, what in names] == listed


@pytest.mark.parametrize("moved", ["p = p->next;", "p = p->next->next; p = p->next;"])
@pytest.mark.parametrize("stored", ["p->v = b;", "p->next->v = b;", "p->next->next->next->v = b;", ""])
def test_a_list_that_is_walked_through(moved: str, stored: str) -> None:
    text = "static double b[99]; static struct s { double *v; struct s *next; } *p;\n"
    text += f"void g(void) {{ {moved} {stored} }}\nvoid f(int n) {{\n#pragma scop\n"
    text += "for (int i = 1; i < n; i++) p->v[i] = b[i - 1];\n#pragma endscop\n}\n"
    if not stored:
        assert read_source(Source("t.c", text))
        return
    with pytest.raises(BadInput, match="may be the same memory"):
        read_source(Source("t.c", text))
