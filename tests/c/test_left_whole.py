"""What is not understood is left as it is: calls, loops on data, pointers that move.

Such a statement may touch all that the region touches, and more; what decides which instances run has to
be out of its reach.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.model.program import ELSEWHERE, Program
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.c import support
from tests.c.support import reads, refusal, region, set_aside, writes
from tests.pipeline.support import new_region, result, wrapped

LOOP = "for (i = 0; i < n; i++) "


def everything(program: Program) -> list[bool]:
    """Of each statement, whether it may read and write all arrays of the region."""
    names = {array.name for array in program.arrays}
    return [
        names <= {one.array for one in statement.reads} & {one.array for one in statement.writes}
        for statement in program.statements
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ a[i] = g(b[i]); b[i] = 0; }", [True, False]),
        ("{ put(&a[i], i); b[i] = a[i]; }", [True, False]),
        ("{ if (g(i)) a[i] = 0; b[i] = a[i]; }", [True, False]),
        ("{ a[i] = (*h)(i); b[i] = 1; }", [True, False]),
        ("{ a[i] = s.h(i); b[i] = 1; }", [True, False]),
        ("{ *a++ = b[i]; b[i] = 1; }", [True, False]),
        ("{ a = b; b[i] = 1; }", [True, False]),
        ("{ ((float *)a)[i] = 1; b[i] = 1; }", [True, False]),
        ("{ double *p = n > 3 ? a : b; p[0] = 1; a[i] = 2; }", [True]),
        ("{ while (a[i] > 1) { a[i] /= 2; g(i); } b[i] = 1; }", [True, False]),
        ("{ if (a[i] < 0) return; b[i] = 1; }", [True, False]),
        ("{ if (i == m) return a[i]; b[i] = 1; }", [True, False]),
        ("{ while (a[i] > 1) { if (b[i] < 0) return 3; a[i] /= 2; } b[i] = 1; }", [True, False]),
    ],
)
def test_what_may_touch_anything(text: str, expected: list[bool]) -> None:
    program = region(LOOP + text)
    assert everything(program) == expected
    assert ELSEWHERE in {array.name for array in program.arrays} and program.set_aside


@pytest.mark.parametrize(
    ("text", "read", "written"),
    [
        ("while (a[i] > 1) a[i] /= 2;", {"a"}, {"a"}),
        ("do a[i] /= 2; while (a[i] > b[i]);", {"a", "b"}, {"a"}),
        ("switch (k) { case 1: a[i] = 1; break; default: b[i] = 2; }", {"k"}, {"a", "b"}),
        ("for (j = (int)b[i]; j < m; j++) a[j] += 1;", {"a", "b", "j", "m"}, {"a", "j"}),
        ("for (int x = (int)b[i]; x < n; x++) a[x] = 1;", {"b", "n"}, {"a"}),
        ("for (j = 0; j < m; j++) { if (b[j] > 0) break; a[j] = 1; }", {"b", "j", "m"}, {"a", "j"}),
        ("if (b[i] > 0) for (j = 0; j < m; j++) a[j] = 1;", {"b", "j", "m"}, {"a", "j"}),
        ("{ if (b[i] < 0) goto L; a[i] = 1; goto M; L: a[i] = 2; M: ; }", {"b"}, {"a"}),
    ],
)
def test_a_loop_on_data_is_one_statement(text: str, read: set[str], written: set[str]) -> None:
    (statement,) = region(LOOP + text).statements
    assert {one.array for one in statement.reads} - {"n", "m"} == read - {"n", "m"}
    assert {one.array for one in statement.writes} == written
    assert not any(one.must for one in statement.writes)


def test_subscripts_of_the_loops_around_are_known_inside() -> None:
    (statement,) = region(LOOP + "while (A[i][i] > 1) A[i][0] /= b[i];").statements
    assert set(writes(statement)) == {"A[i, 0]?"} and "b[i]?" in reads(statement)


@pytest.mark.parametrize(
    ("head", "text"),
    [
        ("int *q;", "for (i = 0; i < *q; i++) g(i);"),
        ("struct s { int n; }; struct s *p;", "for (i = 0; i < p->n; i++) a[i] = g(i);"),
        ("int size;", "for (i = 0; i < size; i++) a[i] = g(i);"),
        ("int size; void g(int i) { size = i; }", "for (i = 0; i < size; i++) g(i);"),
        ("int size; int *q = &size; void g(int i) { *q = i; }", "for (i = 0; i < size; i++) g(i);"),
        ("int size; int *q = &size;", "for (i = 0; i < size; i++) *q++ = 1;"),
        ("", 'for (i = 0; i < n; i++) scanf("%d", &n);'),
        ("", 'for (i = 0; i < n; i++) scanf("%d", &i);'),
        ("", "for (i = 0; i < n; i++) a[i] = setjmp(b);"),
        ("int g_[3]; int *d = g_;", "for (i = 0; i < d[0]; i++) h(i);"),
        ("int s_; \n#define size s_", "for (i = 0; i < size; i++) a[i] = h(i);"),
        ("double *c;", "for (i = 0; i < n; i++) { double *row = c + i * n; h(i); row[0] = 1; }"),
        ("static int d[3]; void g(int *p) { p[0] = 1; }", "for (i = 0; i < d[0]; i++) { g(d); a[i] = 0; }"),
        ("static int d[3][3]; void g(int *p) { *p = 1; }", "for (i = 0; i < d[0][1]; i++) g(d[0]);"),
        ("static int d; void g(void) { d = 1; } void h(void) { g(); }", "for (i = 0; i < d; i++) h();"),
        ("static int d; void g(void (*q)(void)) { q(); }", "for (i = 0; i < d; i++) g(0);"),
        ("int d; void g(unsigned *p) { *p = 1; }", "for (i = 0; i < d; i++) g((unsigned *)b);"),
        ("int d; void g(char *p) { *p = 1; }", "for (i = 0; i < d; i++) g((char *)b);"),
        ("int d; void g(void *p) { memset(p, 0, 4); }", "for (i = 0; i < d; i++) g(b);"),
        ("int printf(const char *, ...);", 'for (i = 0; i < n; i++) printf("%d%n", i, &n);'),
        ("long time(long *); static long d;", "for (i = 0; i < d; i++) { time(&d); a[i] = 1; }"),
        ("static int d; void g(void) { } void h(void (*g)(void)) { g(); }", "for (i = 0; i < d; i++) h(0);"),
        ("static int d; __attribute__((weak)) void g(void) { }", "for (i = 0; i < d; i++) g();"),
        ("static int d; void g(void);", "for (i = 0; i < n; i++) { int m = d + 1; g(); a[i] = a[m]; }"),
        ("struct s { int n; }; struct s *p; void g(int *q) { *q = 1; }", "for (i = 0; i < p->n; i++) g(&k);"),
    ],
)
def test_what_decides_the_loops_must_be_out_of_reach(head: str, text: str) -> None:
    with pytest.raises(BadInput):
        read_source(Source("t.c", support.wrapped(text, head=head)))


@pytest.mark.parametrize(
    "head",
    [
        "const int size = 9;",
        "#define size 9",
        "static int size; void g(int i) { }",
        "int size; int last; void g(int i) { last = size; }",
        "int size; double t[9]; void h(double *x) { x[0] = size; } void g(int i) { h(t); }",
        "static int s[3];\n#define size s[1]\nvoid g(int i) { static int t; t = i; }",
        'static int size; int printf(const char *, ...); void g(int i) { printf("%d", i); }',
        "struct { int n; } *p;\n#define size p->n\nvoid g(int i) { double t, *x = &t; *x = i; }",
        "static int size; int *o; void g(int i) { *o = i; if (i) g(i - 1); }",
    ],
)
def test_a_function_that_leaves_the_size_alone(head: str) -> None:
    text = support.wrapped("for (i = 0; i < size; i++) { g(i); a[i] = 0; }", head=head)
    assert read_source(Source("t.c", text))[0].statements


def test_an_iterator_of_the_file_is_seen_by_functions() -> None:
    """Where the function can be written in its place, the loop counts with a variable of its own."""
    loop = "#pragma scop\nfor (i = 0; i < n; i++) g();\n#pragma endscop\n"
    for function in ("void g(void);", "static int m; static void g(void) { static int k; m = i + k++; }"):
        text = f"int i; {function}\nvoid f(int n) {{\n{loop}}}\n"
        with pytest.raises(BadInput, match=r"'g' may change 'i'|'i' is read in 'g'"):
            read_source(Source("t.c", text))
    text = f"int i; static int m; static void g(void) {{ m = i; }}\nvoid f(int n) {{\n{loop}}}\n"
    (program,) = read_source(Source("t.c", text))
    assert program.statements[0].body.place.text == "m = i_1;"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LOOP + "{ i = g(i); a[i] = 0; }", "assigned outside the head"),
        (LOOP + "{ while (b[i]) i++; a[i] = 0; }", "assigned outside the head"),
        (LOOP + "{ if (b[i] < 0) goto out; a[i] = 1; } out: ;", "'goto'"),
        (LOOP + 'asm("");', "cannot be read"),
        (LOOP + "MAT(i) = g(i);", "not a variable or an array element"),
    ],
)
def test_what_is_still_refused(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        region(text)


def test_a_loop_that_ends_on_data_may_be_all_there_is() -> None:
    program = region(LOOP + "{ a[i] += b[i]; if (b[i] > 1) break; }")
    assert [one.iterators for one in program.statements] == [()]
    assert "'break'" in set_aside(program).message
    assert "depends on data" in refusal("for (i = (int)a[0]; i < n; i++) b[i] = 0;").message


def test_a_test_of_what_such_a_loop_found_is_one_statement_too(tmp_path: Path) -> None:
    search = "k = 0; for (i = 0; i < n; i++) if (a[i] != b[i]) { k = 1; break; }"
    text = f"{search}\nif (k) for (j = 0; j < n; j++) a[j] = 1;"
    assert result(tmp_path, wrapped(text)).source.text.count("for (") == 2


@pytest.mark.parametrize(
    ("head", "text", "reason"),
    [
        ("", "for (i = 0; i < n; ++i, m >>= 1) a[i] = m;", "constant"),
        ("", "for (i = 3; i < n; i = i + m) a[i] = 1;", "constant"),
        ("#define F(k) (g(k) + 1)", LOOP + "a[i] = F(i);", "the macro 'F' calls 'g'"),
        ("#include <assert.h>\n#define CHECK(c) assert(c)", LOOP + "{ CHECK(i < m); a[i] = 1; }", "'assert'"),
    ],
)
def test_loops_that_count_otherwise_and_macros_that_call(head: str, text: str, reason: str) -> None:
    (program,) = read_source(Source("t.c", support.wrapped(text, head=head)))
    assert reason in set_aside(program).message


@pytest.mark.parametrize(
    "text",
    [
        "for (; j < n;) a[j] = 1;",
        "for (i = 0;; i++, k++) a[i] = 1;",
        "for (i = 1; i < n; i ^= 2) a[i] = 1;",
        "for (i = 1; i < n; i = i * i) a[i] = 1;",
        "for (; k < n; j++) a[j] = 1;",
    ],
)
def test_what_does_not_count_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_source(Source("t.c", support.wrapped(text)))


def test_an_iterator_may_count_a_loop_that_is_left_whole() -> None:
    program = region(LOOP + "a[i] = 0; for (j = 0; j < n; j++) for (i = (int)b[j]; i < n; i++) a[i] = 1;")
    assert [one.iterators for one in program.statements] == [("i",), ("j",)]
    assert {"i"} < {one.array for one in program.statements[1].writes}


@pytest.mark.parametrize(
    "body",
    [
        "  for (i = 0; i < n; i++)\n    for (k = (int)b[i]; k < n; k++) a[k] += b[i];",
        "  for (i = 0; i < n; i++) {\n    a[i] = g(i);\n    b[i] = a[i];\n  }",
        "  for (i = 0; i < n; i++) {\n    *a++ = b[i];\n    a += (int)b[i];\n  }",
        "  for (i = 0; i < n * m; i++)\n    a[i] = 0;",
        "  for (i = 0; i < n / m * 2; i++)\n    a[i] = 0;",
        "  for (i = 0; i < n; i++)\n    { if (b[i] < 0) goto L; a[i] = 1; goto M; L: a[i] = 2; M: ; }",
    ],
)
def test_the_new_text_is_proved(tmp_path: Path, body: str) -> None:
    assert (
        new_region(tmp_path, body).split()
        == body.replace("n * m", "(n * m)").replace("n / m * 2", "2 * (n / m)").split()
    )


def test_calls_keep_their_order(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    L: put(i, a[i]);"
    with pytest.raises((Illegal, GaveUp)):
        result(tmp_path, wrapped(body), "reverse(L, i)")
    two = "  for (i = 0; i < n; i++) {\n    L: put(i);\n    M: a[i] = 1;\n  }"
    with pytest.raises((Illegal, GaveUp)):
        result(tmp_path, wrapped(two), "distribute(L, M)")


def test_bounds_that_do_not_change_are_parameters() -> None:
    program = region("for (i = 0; i < g[0] - 1; i++) for (j = 0; j < n * m; j++) a[j] = i;", head="int g[3];")
    assert [one.text for one in program.parameters] == ["g[0]", "n * m"]
    assert not any("g[0]" in one.text for one in program.assumptions)


@pytest.mark.parametrize(
    ("head", "text"),
    [
        ("int g[3];", "for (i = 0; i < g[0]; i++) g[i] = 1;"),
        ("int g[3];", "for (i = 0; i < n; i++) for (j = 0; j < g[i]; j++) g[1] = j;"),
        ("double g[3];", "for (i = 0; i < g[0]; i++) a[i] = 1;"),
        ("", "for (i = 0; i < n * 0.5; i++) a[i] = 1;"),
        ("", "for (i = 0; i < n * m; i++) m = 1;"),
    ],
)
def test_bounds_that_may_change_are_not(head: str, text: str) -> None:
    message = refusal(text, head=head).message
    assert "must be affine" in message or "not an integer" in message


@pytest.mark.parametrize(
    "body",
    [
        "  for (i = 0; i < n; i++)\n    if (0) a[i] = 1;\n  for (i = 0; i < m; i++)\n    b[i] = 1;",
        "  for (i = 0; i < n; i++) {\n    int set = 0;\n    if (i > m) set = 1;\n    if (set) a[i] = 1;\n  }",
        "  for (j = 0; j < n; j++)\n    for (i = 0; i < n; i++) {\n"
        "      int o = i * m + k * (j * m);\n      a[o] = 1;\n    }",
        "  for (i = max(n, max(m, k)); i < n; i++)\n    a[i] = 0;",
    ],
)
def test_the_proof_reads_the_names_of_statements_that_never_run(tmp_path: Path, body: str) -> None:
    assert result(tmp_path, wrapped(body)).source.text


def test_a_label_is_not_copied(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    S: { if (b[i] < 0) goto L; a[i] = 1; L: ; }"
    with pytest.raises(BadInput, match="contains a label"):
        result(tmp_path, wrapped(body), "unroll(S, i, 2)")


def test_a_struct_that_is_declared_in_a_loop_stays_in_its_block() -> None:
    program = region(LOOP + "{ struct p { int x; } s; s.x = i; a[i] = s.x; }", head="struct p { int x; };")
    assert len(program.statements) == 1 and everything(program) == [True]


@pytest.mark.parametrize("test", ["i < n", "i < n && b[i] < 9"])
def test_a_name_inside_of_a_loop_that_is_left_whole_and_after_it(tmp_path: Path, test: str) -> None:
    loops = "for (int q = 0, i = 0; i < m; i++, q++) a[i] = q;\n"
    again = f"int i = 0;\nwhile ({test}) {{ b[i] = 1; i++; }}\n"
    assert "i_1" in new_region(tmp_path, loops + again)
