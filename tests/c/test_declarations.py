"""Variables declared inside a region."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.c.file import c_file
from loopwright.model.program import Array, statement_text
from loopwright.source import Source
from tests.c.support import is_domain, reads, refusal, region, underlined, writes

LOOP = "for (i = 0; i < n; i++) "


def test_an_initialised_local_becomes_an_assignment_to_storage_in_front() -> None:
    program = region(LOOP + "{ double t = b[i], u; u = t; a[i] = u * u; }")
    first, second, third = program.statements
    assert statement_text(first, {}) == "t = b[i];"
    assert statement_text(first, {"i": "c0 + 1"}) == "t = b[(c0 + 1)];"
    assert (reads(first), writes(first)) == (["b[i]"], ["t[]"])
    assert (reads(second), writes(second)) == (["t[]"], ["u[]"])
    assert writes(third) == ["a[i]"]
    local = [array for array in program.arrays if array.local]
    assert local == [Array("t", 0, "double", True), Array("u", 0, "double", True)]


def test_local_arrays_keep_their_extents() -> None:
    program = region(LOOP + "{ float t[3][N]; t[1][2] = 0; a[i] = t[1][2]; }")
    assert Array("t", 2, "float", True, ("3", "N")) in program.arrays


def test_a_local_integer_that_never_changes_is_its_value() -> None:
    program = region(
        LOOP + "{ const int last = n - i; int next = last + 1;"
        " for (j = 0; j < last; j++) A[i][last - j] = next * last; }"
    )
    (statement,) = program.statements
    assert is_domain(statement, "[n] -> { [i, j] : 0 <= i < n and 0 <= j < n - i }")
    assert (reads(statement), writes(statement)) == ([], ["A[i, n - i - j]"])
    assert [array.name for array in program.arrays] == ["A"]
    text = statement_text(statement, {"i": "c0 - 1", "j": "c1"})
    assert text == "A[(c0 - 1)][(n - (c0 - 1)) - c1] = ((n - (c0 - 1)) + 1) * (n - (c0 - 1));"


def test_locals_of_one_name_in_two_blocks_keep_their_values() -> None:
    program = region(LOOP + "{ { int p = i + 1; a[p] = 0; } { int p = i + 2; b[p] = 0; } }")
    first, second = program.statements
    assert (writes(first), writes(second)) == (["a[1 + i]"], ["b[2 + i]"])
    assert statement_text(second, {"i": "t"}) == "b[(t + 2)] = 0;"


def test_a_local_integer_that_changes_cannot() -> None:
    error = refusal(LOOP + "{ int last = n; last = last - 1; for (j = 0; j < last; j++) A[i][j] = 0; }")
    assert "'last' is written in the region" in error.message


def test_the_same_local_in_two_blocks_is_one_storage() -> None:
    program = region(LOOP + "{ { double t = 1; a[i] = t; } { double t = 2; b[i] = t; } }")
    assert [array.name for array in program.arrays if array.local] == ["t"]


def test_iterators_may_be_declared_in_the_region() -> None:
    program = region("int p = 0, q; for (p = 1; p < n; p++) { int r; for (r = 0; r < p; r++) A[p][r] = 0; }")
    (statement,) = program.statements
    assert is_domain(statement, "[n] -> { [p, r] : 1 <= p < n and 0 <= r < p }")
    assert [array.name for array in program.arrays] == ["A"]
    assert "changes something" in refusal("int p = x++; for (p = 0; p < n; p++) a[p] = 0;").message


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("{ { double t = 1; a[i] = t; } { int t = 2; b[i] = t; } }", "declared twice", "t = 2"),
        ("{ double t = 5; { double t = 1; a[i] = t; } b[i] = t; }", "hides another one", "t = 1"),
        ("{ b[i] = t; { double t = 1; a[i] = t; } }", "is not the one declared inside", "t"),
        ("{ double *p = a; p[i] = norm(p); }", "pointer declared in a region", "*p"),
        ("{ double t[2] = {1, 2}; a[i] = t[0]; }", "initialised array", "t[2] = {1, 2}"),
        ("{ double t[i]; t[0] = 1; a[i] = t[0]; }", "depends on an iterator", "i"),
        ("{ double g(int); a[i] = 1; }", "only variables and arrays", "g(int)"),
        ("{ struct pair p; p.x = 1; a[i] = p.x; }", "declared in the region", "p.x"),
        ("{ int i = 2; a[i] = 1; }", "hides the iterator", "i = 2"),
        ("if (b[i] > 0) { int i = 2; a[i] = 1; }", "hides the iterator", "i = 2"),
        ("a[i] = norm(&i);", "address of this is taken", "i"),
    ],
)
def test_declarations_that_are_refused(text: str, message: str, where: str) -> None:
    error = refusal(LOOP + text, pure=["norm"])
    assert message in error.message and underlined(error) == where


def test_a_struct_of_the_region_is_named_before_pointers() -> None:
    """Other words of the file do without pointers, but not without structs."""
    head = "struct pair { double x, y; } p[9];"
    body = "{ struct pair *q = &p[i]; a[i] = q->x; struct pair s; s.x = q->x; q->y = s.x; }"
    error = refusal(LOOP + body, head=head)
    assert "'s', which is declared in the region" in error.message and underlined(error) == "s.x"
    assert error.hint == "use a variable for each of its fields"
    error = refusal(LOOP + "{ struct pair *q = &p[i]; a[i] = q->x; }", head=head)
    assert error.hint == "use the array or struct that it points to"


@pytest.mark.parametrize(
    "head",
    [
        "static double g(double y)", "int g(void)", "void g(int n, const double *x, double y[])", "int g()",
        "unsigned long long g(int a,int b)", "int *g(double **x)", "T g(int n)", "int g(T n)",
        "int g(n) int n;", "int g(int n, int (*h)(T))", "__attribute__((pure)) int g(int n)",
        "static inline const char *g(char c)",
        "int g(struct S { int a; } *p)", "int g(enum { one, two } k)",
    ],
)  # fmt: skip
def test_what_the_head_of_a_function_declares(head: str) -> None:
    """The same by its text alone as by its tree, which a body that is not understood asks for."""
    texts = [f"typedef int T;\n{head} {{ {body} }}\n" for body in ("return 0;", "return 0 +;")]
    rest = "void f(void) {\n#pragma scop\n;\n#pragma endscop\n}\n"
    plain, asked = (c_file(Source("t.c", text + rest)).declarations for text in texts)
    assert "g" in plain.functions and replace(plain, variables=()) == replace(asked, variables=())


@pytest.mark.parametrize(
    ("before", "inside", "name", "meaning"),
    [
        ("typedef int T;", "", "T", "int"),
        ("typedef int T; typedef int T;", "", "T", "int"),
        ("typedef int T; typedef const T U;", "", "U", "int"),
        ("typedef int T;", "typedef unsigned T;", "T", "T"),
        ("typedef int T; typedef T U;", "typedef unsigned T;", "U", "T"),
        ("typedef int T;", "typedef int *T;", "T", "T"),
        ("typedef int T;", "typedef int T[4];", "T", "T"),
        ("typedef int T, *U;", "", "U", "U"),
    ],
)
def test_a_type_that_a_block_defines_again_has_no_meaning(
    before: str, inside: str, name: str, meaning: str
) -> None:
    text = f"{before}\nvoid f(int n) {{ {inside}\n#pragma scop\n;\n#pragma endscop\n}}\n"
    assert c_file(Source("t.c", text)).declarations.resolved(name) == meaning
