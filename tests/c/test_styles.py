"""Regions in the styles of public C: what each means, and what is refused beside them."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from loopwright.errors import BadInput
from loopwright.model.program import Program
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.pipeline.support import result, wrapped


def read(body: str, head: str = "", parameters: str = "int n, int m, double *a, double *b") -> Program:
    """The program of a region, compared with the typed reading and extracted twice."""
    text = f"{head}\nvoid f({parameters}) {{ int i, j, k;\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    (program,) = read_source(Source("t.c", text))
    return program


NEST = "for (i = 0; i < m; i++) for (j = 0; j < n; j++)"
BORDER = f"{NEST} if (i == 0 && j == n - 1) a[j] = 1; else a[i * n + j] = 2;"
CLAMPED = f"{NEST} a[i * n + j] = b[i * n + clamp(j + 1, n - 1)];"
CLAMP = "static int clamp(int v, int hi) { return v < 0 ? 0 : v > hi ? hi : v; }"
WINDOW = f"{NEST} a[i * n + j] = b[clamp(i + 1, m - 1) * n + clamp(j - 1, n - 1)];"
GHOSTS = "for (i = 0; i < NX + 2; i++) { g[IDX(i, 0)] = g[IDX(i, 3)]; g[IDX(i, 1)] = 0; }"
IMAGE = "for (i = 0; i < 2; i++) for (j = 0; j < 9; j++) { int k = i * W + j; g[k] = g[k + 1]; }"
ROWS = "for (i = 0; i < m; i++) { s = norm(n, A[i]); A[i][0] = s; }"
NORM = "static double norm(int n, const double *x) { double s = 0; while (n-- > 0) s += x[n]; return s; }"
MACROS = "#define NX 64\n#define IDX(i, j) ((i) + (NX + 2) * (j))\ndouble g[400];"


@pytest.mark.parametrize(
    ("body", "head"),
    [
        (BORDER, ""),
        (CLAMPED, CLAMP),
        (WINDOW, CLAMP),
        (GHOSTS, MACROS),
        (IMAGE, "static const int W = 320; double g[1000];"),
        (ROWS, f"double A[100][100], s; {NORM}"),
    ],
    ids=[
        *("a border", "a clamped column", "clamped rows and columns"),
        *("ghost cells", "a constant width", "rows that are passed on"),
    ],
)
def test_two_readings_agree(body: str, head: str) -> None:
    program = read(body, head)
    assert program.statements and not program.set_aside


def test_a_width_that_its_type_cuts_is_no_number() -> None:
    program = read(IMAGE, "static const unsigned char W = 320; double g[1000];")
    accesses = [access for one in program.statements for access in one.accesses if access.array == "g"]
    assert accesses and not any(access.must for access in accesses)
    with pytest.raises(BadInput, match="volatile"):
        read(IMAGE, "static volatile const int W = 320; double g[1000];")


def test_a_row_that_is_passed_on_may_be_read_to_its_end_and_beyond() -> None:
    """`norm(n * n, A[0])` reads all of A in many programs."""
    reads = read(ROWS, f"double A[100][100], s; {NORM}").statements[0].reads
    cells = [str(access.relation.range()) for access in reads if access.array == "A"]
    assert cells == ["[m] -> { A[i0, i1] : m > 0 }"]


LOOP = "for (i = 0; i < k; i++) a[i] = 0;"
SIZES = "int *n, int *m, int q, double *a"
SET_BOUNDS = [
    (f"k = *n; {LOOP}", "{ [i] : 0 <= i < at_n }"),
    (f"k = *n - 1; {LOOP} k = *m; {LOOP}", "{ [i] : 0 <= i < at_n - 1 }"),
    (f"j = *n; k = MIN(j - 2, q); {LOOP}", "{ [i] : 0 <= i < at_n - 2 and i < q }"),
    ("for (i = 0; i < *n; i++) a[i] = 0;", "{ [i] : 0 <= i < at_n }"),
    ("k = *n + q; for (i = 0; i < k; i++) a[i + q] = 0;", "{ [i] : 0 <= i < at_n + q }"),
    ("k = MIN(*n, 3) - MIN(q, 2); for (i = 0; i < 2 * k; i++) a[i] = 0;",
     "{ [i] : exists x, y : 0 <= i < 2x - 2y and x <= at_n and x <= 3 and (y = q or y = 2) and y <= q"
     " and y <= 2 }"),
]
"""Bounds that are read through pointers, or set in the region, as translators of Fortran write them."""


@pytest.mark.parametrize(("body", "domain"), SET_BOUNDS, ids=[body for body, _ in SET_BOUNDS])
def test_bounds_that_are_set(body: str, domain: str) -> None:
    program = read(body, "#define MIN(x, y) ((x) < (y) ? (x) : (y))", SIZES)
    first = program.statements[0].domain.reset_tuple_id()
    assert first.is_equal(isl.Set(f"[at_n, at_m, q] -> {domain}")) and not program.set_aside
    assert any("n[0]" in entry.text or "n" in entry.about for entry in program.assumptions)


@pytest.mark.parametrize(
    ("body", "domain"),
    [
        ("z = q; for (i = 0; i < z; i++) a[i] = 0;", "{ [i] : 0 <= i < q }"),
        ("long y = *n; z = 2 * y + q; for (i = 0; i < z; i++) a[i] = 0;", "{ [i] : 0 <= i < 2at_n + q }"),
        ("k = *n; z = k; for (long y = 0; y < z * 2; y++) a[y] = 0;", "{ [i] : 0 <= i < 2at_n }"),
    ],
)
def test_bounds_of_type_long_that_are_set(body: str, domain: str) -> None:
    program = read(f"long z; {body}", "", SIZES)
    assert program.statements[-1].domain.reset_tuple_id().is_equal(isl.Set(f"[at_n, q] -> {domain}"))
    assert not program.set_aside


@pytest.mark.parametrize("value", ["*m", "*m - 1", "q + *m"])
def test_bounds_that_are_set_in_a_nest_that_is_read_without_their_values(value: str) -> None:
    """The loop in it would be one statement, kept whole."""
    body = f"for (i = 0; i < *n; i++) {{ a[i] = 0; k = {value}; for (j = 0; j < k; j++) a[i] += j; }}"
    program = read(body, parameters=SIZES)
    assert not program.set_aside and [len(one.iterators) for one in program.statements] == [1, 2]


@pytest.mark.parametrize("change", ["*m = j", "k--", "m[0] = j"])
def test_bounds_in_such_a_nest_that_may_change(change: str) -> None:
    body = f"for (i = 0; i < q; i++) {{ a[i] = 0; k = *m; for (j = 0; j < k; j++) {change}; }}"
    program = read(body, parameters=SIZES)
    assert len(program.set_aside) == 1


def test_bounds_that_lose_bits_when_they_are_set_stay() -> None:
    with pytest.raises(BadInput, match="'k' is written in the region"):
        read("long z = 5000000000; k = z; for (i = 0; i < k; i++) a[i] = 0;", "", SIZES)


def test_macros_that_are_parts_of_something_are_written_out() -> None:
    """One of them is written, and others have the same root."""
    head = "struct s { double V[9][9], X[9]; };\n#define t p->X[3]\n#define v p->V\n"
    body = "for (i = 0; i < 9; i++) { if (v[i][0] > 0) t = 1; else t = 2; v[i][1] = t; }"
    program = read(body, head, "struct s *p")
    assert "p->X[3]" in program.region.text.replace(" ", "") and not program.set_aside


@pytest.mark.parametrize("kind", ["double complex", "complex float", "_Complex double", "float _Complex"])
def test_complex_numbers(kind: str) -> None:
    body = "for (i = 0; i < n; i++) { KIND t = conj(z[i]); z[i] = t * (2 + 3 * I); }".replace("KIND", kind)
    program = read(body, "#include <complex.h>", f"int n, {kind} *z")
    assert {array.name for array in program.arrays} == {"t", "z", "I"} and not program.set_aside
    assert kind in {array.element_type for array in program.arrays}


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("for (long v = 0; v < (long)q * j; v++) a[v] = 0;", "(long)q * j"),
        ("int t = q * j; for (i = 0; i < t; i++) a[i] = 0;", "q * j"),
        ("int h = q / 2; const int t = h * j; for (i = 0; i < t; i++) a[i] = t;", "(q / 2) * j"),
        ("int t; t = q * j; for (i = 0; i < t; i++) a[i] = 0;", "q * j"),
    ],
)
def test_products_as_bounds(body: str, bound: str) -> None:
    program = read(body, "", SIZES)
    assert bound in [one.text for one in program.parameters] and not program.set_aside
    assert not any("integer, constant" in one.text for one in program.assumptions)


@pytest.mark.parametrize(
    "body",
    [
        "for (j = 0; j < q; j++) { int t = q * j; for (i = 0; i < t; i++) a[i] += 1; }",
        "{ int t = q * p; for (i = 0; i < t; i++) a[i] = 1; } { int t = q; for (i = 0; i < t; i++) a[i]++; }",
    ],
)
def test_products_in_what_is_left_whole(body: str, tmp_path: Path) -> None:
    text = wrapped(body, names="int q, int p, double *a").replace(", t;", ";")
    assert "t = q * " in result(tmp_path, text).source.text


def test_bounds_in_what_is_left_whole_stay() -> None:
    body = "k = *n; for (i = 0; i < k; i++) if (a[i] > 0) { j = *m; for (q = 0; q < j; q++) a[i] += q; }"
    program = read(body, "", SIZES)
    (statement,) = program.statements
    assert statement.domain.reset_tuple_id().is_equal(isl.Set("[at_n] -> { [i] : 0 <= i < at_n }"))
    assert "q < j" in statement.body.place.text and program.set_aside


@pytest.mark.parametrize(
    "body",
    [
        "k = *n; for (i = 0; i < k; i++) { a[i] = 0; *n = 3; }",
        "k = *n; for (i = 0; i < k; i++) { a[i] = 0; n[0] = 3; }",
        "k = *n; for (i = 0; i < k; i++) { a[i] = 0; k--; }",
        f"if (q > 0) k = 5; {LOOP}",
        f"k = 3; if (q > 0) k = 5; {LOOP}",
        f"k = 9; for (j = 0; j < 3; j++) {{ {LOOP} k = 5; }}",
        f"i = 4; k = i; {LOOP}",
        f"for (i = 0; i < 4; i++) a[i] = 1; k = i; {LOOP}",
        f"k = q; q = 3; {LOOP}",
        f"k = *n; a[k = 3] = 1; {LOOP}",
        f"k = q; a[q++] = 1; {LOOP}",
        "k = *n; for (i = 0; i < k; i++) if (a[i] > 0) { j = *m; for (q = 0; q < j; q++) *n = *m = 1; }",
        f"int *p = &k; k = *n; *p = 3; {LOOP}",
        "unsigned char c; c = q; for (i = 0; i < c; i++) a[i] = 0;",
        "unsigned u; u = q; k = u; for (i = -1; i < k; i++) a[i] = 0;",
        "static int z; z = *n; g(); for (i = 0; i < z; i++) a[i] = 0;",
        "z = *n; g(); for (i = 0; i < z; i++) a[i] = 0;",
    ],
)
def test_bounds_that_may_change(body: str) -> None:
    try:
        program = read(body, "void g(void); int z;", SIZES)
    except BadInput:
        return
    assert program.set_aside


PLAIN = "for (i = 0; i < n; i++) a[i] = b[i];"


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("for (i = 0; i != n; i++) a[i] = b[i];", ""),
        ("for (i = 0; n != i; ++i) a[i] = b[i];", ""),
        ("while (i < n) { a[i] = b[i]; i++; }", "i = 0;"),
        ("while (i != n) { a[i] = b[i]; i++; }", "i = 0; k = m;"),
        ("for (; i < n; i++) a[i] = b[i];", "i = 0;"),
    ],
)
def test_loops_that_count_otherwise(body: str, before: str) -> None:
    found, plain = (read_after(one, text) for one, text in ((before, body), ("", PLAIN)))
    assert found.statements[0].domain.is_equal(plain.statements[0].domain)
    assert found.statements[0].schedule.is_equal(plain.statements[0].schedule)


def read_after(before: str, body: str) -> Program:
    """The program of a region after other statements of its function."""
    text = f"int n, m; double a[99], b[99]; void f() {{ int i, k; {before}\n"
    (program,) = read_source(Source("t.c", f"{text}#pragma scop\n{body}\n#pragma endscop\n}}\n"))
    return program


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("for (i = 0; i != n; i++) a[i] = end(i);", ""),
        ("for (i = 0; i != n; i++) { n = 5; a[i] = 0; }", ""),
        ("for (unsigned char c = 0; c != n; c++) a[c] = 0;", ""),
        ("while (i < n) { a[i] = b[i]; i++; }", "i = 0; again: if (m) goto again;"),
        ("while (i < n) { a[i] = b[i]; i++; }", "i = 0; i = m + a[0];"),
        ("while (i < n) { a[i] = b[i]; i++; }", "i = 0; again:"),
        ("while (i < n) { a[i] = b[i]; i++; }", "i = 0; for (;;)"),
        ("while (i < n) { a[i] = b[i]; i++; }", "i = 0; if (m) i = 1;"),
        ("do { a[i] = b[i]; i++; i = 0; } while (i < n);", "i = 0;"),
        ("do { a[i] = b[i]; end(1); i++; } while (i < n);", "i = 0;"),
    ],
)
def test_loops_that_may_not_count(body: str, before: str) -> None:
    with pytest.raises(BadInput):
        read_after(f"double end(int); {before}", body)


def test_a_loop_that_runs_at_least_once() -> None:
    program = read_after("i = 0;", "do { a[i] = b[i]; i++; } while (i < n);")
    wanted = isl.Set("[n] -> { S1[i] : 0 <= i < n or i = 0 }")
    assert program.statements[0].domain.is_equal(wanted)


def test_variables_with_the_name_of_another_iterator() -> None:
    program = read("for (i = 0; i < n; i++) { int j = 2 * i; a[j] = 0; } for (j = 0; j < n; j++) b[j] = 1;")
    assert cells(program, "a").is_equal(isl.Map("[n] -> { S1[i] -> a[2i] : 0 <= i < n }"))


def test_names_that_are_pasted_keep_their_meaning() -> None:
    body = "for (i = 0; i < n; i++) { int j = 2, j1 = 5; a[OF(j)] = j1; } for (j = 0; j < n; j++) b[j] = 1;"
    program = read(body, "#define OF(x) x##1 + x")
    assert cells(program, "a").is_equal(isl.Map("[n] -> { S1[i] -> a[7] : 0 <= i < n }"))


def cells(program: Program, array: str) -> isl.Map:
    """What the first statement touches of an array."""
    first = program.statements[0]
    (access,) = [access for access in first.accesses if access.array == array]
    return access.relation.intersect_domain(first.domain)


def test_members_of_unsigned_types_are_not_below_0() -> None:
    head = "#include <stddef.h>\n#include <float.h>\ntypedef struct { size_t rows; double *v; } M;"
    body = "for (size_t r = 0; r < p->rows; r++) { double most = DBL_MAX; p->v[r] = most; }"
    assert not read(body, head, "M *p").set_aside
