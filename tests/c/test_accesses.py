"""What statements read and write."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.model.program import statement_text
from tests.c.support import gate_refusal, reads, refusal, region, underlined, writes

LOOP = "for (i = 0; i < n; i++) "


@pytest.mark.parametrize(
    ("text", "read", "written"),
    [
        ("a[i] = b[i - 1] + b[i + 1];", ["b[-1 + i]", "b[1 + i]"], ["a[i]"]),
        ("a[i] += b[2 * i];", ["a[i]", "b[2i]"], ["a[i]"]),
        ("a[i] = x * i;", ["x[]"], ["a[i]"]),
        ("x = a[i];", ["a[i]"], ["x[]"]),
        ("x -= a[n - i];", ["x[]", "a[n - i]"], ["x[]"]),
        ("a[i]++;", ["a[i]"], ["a[i]"]),
        ("--a[i];", ["a[i]"], ["a[i]"]),
        ("x = y = a[i];", ["a[i]"], ["y[]", "x[]"]),
        ("x = 1, y = x;", ["x[]"], ["x[]", "y[]"]),
        ("A[i][0] = (double)a[i] / -b[i];", ["a[i]", "b[i]"], ["A[i, 0]"]),
        ("a[i] = a[i] > 0 ? b[i] : x;", ["a[i]", "b[i]?", "x[]?"], ["a[i]"]),
        ("a[i] = x && b[i];", ["x[]", "b[i]?"], ["a[i]"]),
        ("*a = *(b + i);", ["b[i]"], ["a[0]"]),
        ("(*(a)) = b[0];", ["b[0]"], ["a[0]"]),
        ("*(a + i + 1) = *(b + 2 * i + n);", ["b[n + 2i]"], ["a[1 + i]"]),
        ("a[i] = sizeof(b[i]) + 'c';", [], ["a[i]"]),
        ("g.u[i] = p->v[i] + g.x;", ["p__v[i]", "g__x[]"], ["g__u[i]"]),
        ("q[i].x = q[i].y;", ["q[i]"], ["q[i]?"]),
        ("q[i].x[x] = 0;", ["x[]"], ["q[o0]?"]),
        ("q[i]->x = q[i].y->z;", ["q[o0]?"], ["q[o0]?"]),
        ("a[i] = *(b + i - 1) + (b + 2 * i)[n];", ["b[-1 + i]", "b[n + 2i]"], ["a[i]"]),
        ("a[x++] = b[(y = i)];", ["b[o0]?", "x[]"], ["y[]", "x[]", "a[o0]?"]),
    ],
)
def test_reads_and_writes(text: str, read: list[str], written: list[str]) -> None:
    (statement,) = region(LOOP + text).statements
    assert reads(statement) == read
    assert writes(statement) == written


def test_division_in_a_subscript_is_exact() -> None:
    (statement,) = region("for (i = -4; i < n; i++) a[i / 2] = b[i % 3];").statements
    (write,), (read,) = statement.writes, statement.reads
    assert write.must and write.relation.is_single_valued()
    values = {-4: (-2, -1), -3: (-1, 0), -1: (0, -1), 0: (0, 0), 5: (2, 2)}
    for i, (quotient, remainder) in values.items():
        point = isl.Set(f"[n] -> {{ S1[{i}] : n > 9 }}")
        assert point.apply(write.relation).is_equal(isl.Set(f"[n] -> {{ a[{quotient}] : n > 9 }}"))
        assert point.apply(read.relation).is_equal(isl.Set(f"[n] -> {{ b[{remainder}] : n > 9 }}"))


def test_min_in_a_subscript_is_exact() -> None:
    (statement,) = region(LOOP + "a[min(i, 3)] = 0;").statements
    (write,) = statement.writes
    wanted = isl.Map("[n] -> { S1[i] -> a[i] : 0 <= i < n and i < 3; S1[i] -> a[3] : 3 <= i < n }")
    assert write.must and write.relation.is_equal(wanted)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a[a[i]] = 0;", "a[o0]?"),
        ("a[i * i] = 0;", "a[o0]?"),
        ("A[m * n][i] = 0;", "A[o0, i]?"),
        ("A[i][k] = 0; k = 1;", "A[i, o1]?"),
        ("a[(int)x] = 0; x = 1;", "a[o0]?"),
    ],
)
def test_a_subscript_that_is_not_affine_may_be_anything(text: str, written: str) -> None:
    statement = region(LOOP + "{ " + text + " }").statements[0]
    assert writes(statement) == [written]


def test_a_call_that_gets_an_array_may_read_all_of_it() -> None:
    (statement,) = region(LOOP + "a[i] = norm(b, A[i]);", pure=["norm"]).statements
    assert reads(statement) == ["b[o0]?", "A[o0, o1]?"]


def test_a_call_that_gets_an_address_may_read_from_there() -> None:
    program = region(LOOP + "a[i] = norm(&b[i]) + norm(&A[i][0]) + norm(b + i) + norm(&x);", pure=["norm"])
    assert reads(program.statements[0]) == ["b[o0]?", "A[o0, o1]?", "b[o0]?", "x[]?"]


def test_the_fields_of_a_union_are_one_storage() -> None:
    text = LOOP + "{ u.bits = i; a[i] = u.value; }"
    union = "union { int bits; float value; }"
    for head in (f"{union} u;", f"typedef {union} both; both u;"):
        error = gate_refusal(text, head=head)
        assert "members of a union" in error.message and underlined(error) == "u.value"
    assert region(text, head="struct { int bits; float value; } u;").statements


def test_an_array_needs_all_its_subscripts_to_be_assigned() -> None:
    error = refusal(LOOP + "A[i] = b;")
    assert "'A' has 2 dimensions here, but is assigned with 1 subscript" in error.message
    assert underlined(error) == "A[i]"


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("a++;", "the pointer 'a' changes here", "a"),
        ("f(i)[0] = 1;", "not a variable or an array element", "f(i)[0]"),
        ("MAT(i, 0) = 1;", "not a variable or an array element", "MAT(i, 0)"),
        ("{ s.x = 1; t = s; }", "used here and through its fields", "s"),
        ("{ t = s.x; s = t; }", "used here and through its fields", "s"),
        ("{ p->x = 1; t = (*p).x; }", "used here and through its fields", "(*p).x"),
        ("{ p->x = 1; p[0].x = 2; }", "used here and through its fields", "p[0].x"),
        ("{ t = p->x; p = q; }", "used here and through its fields", "p"),
        ("a[i] = (double[]){1, 2}[0];", "cannot be read", "(double[]){1, 2}"),
        ("a[i] = ({ 1; });", "cannot be read", "{ 1; }"),
        ("i[a] = 1;", "'i' is subscripted here, but is not an array", "i[a]"),
        ("*(i + a) = 1;", "'i' is subscripted here, but is not an array", "*(i + a)"),
        ("*(x + a) = a[i];", "'x' is subscripted here, but is not an array", "*(x + a)"),
        ("{ p->a = q; x = p->a->b[i]; }", "'p->a' is used here and through its fields", "p->a"),
        ("{ x = 1; double x = 2; b[i] = x; }", "not the one declared inside", "x"),
        ("{ x = n; double t[x]; t[0] = 1; }", "depends on 'x', which the region sets", "x"),
        ("{ int m = n / 2; double t[m]; t[0] = 1; }", "depends on 'm', which the region sets", "m"),
        ("a[i] = sizeof(int[k++]);", "depends on the type around it", "k++"),
        ("a[i] = *&n;", "cannot be read", "&n"),
    ],
)
def test_accesses_that_are_refused(text: str, message: str, where: str) -> None:
    error = refusal(LOOP + text)
    assert message in error.message and underlined(error) == where and error.hint


def test_values_keep_the_types_of_the_iterators_they_replace() -> None:
    program = region("for (size_t u = 0; u < n; u++) { long w = u + 1; a[u] = w * x - u; }")
    (statement,) = program.statements
    assert statement.iterator_types == ("size_t",)
    assert (
        statement_text(statement, {"u": "c0 + 1"})
        == "a[((size_t)(c0 + 1))] = ((long)(((size_t)(c0 + 1)) + 1)) * x - ((size_t)(c0 + 1));"
    )
    assert statement_text(statement, {}) == "a[u] = ((long)(u + 1)) * x - u;"


def test_the_text_of_a_statement_takes_new_iterators() -> None:
    program = region("for (i = 0; i < n; i++)\n  for (j = 0; j < n; j++)\n    A[i][j] = i * j + s.i; // sum")
    (statement,) = program.statements
    assert statement_text(statement, {}) == "A[i][j] = i * j + s.i;"
    assert statement_text(statement, {"i": "c1", "j": "c0 - 1"}) == "A[c1][(c0 - 1)] = c1 * (c0 - 1) + s.i;"
    assert statement.body.trailing is not None
    assert statement.body.trailing.text == "// sum"
