"""Loops as people write them: counting down to zero, leaving out the rest; and what stays refused."""

from __future__ import annotations

import pytest

from loopwright.c.reworded.distinct_names import with_distinct_names
from loopwright.errors import BadInput
from loopwright.model.program import AssumptionKind
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.c.support import instances, is_domain, refusal, region, underlined, wrapped


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("for (size_t u = n; u-- > 0;) a[u] = 0;", "0 <= u < n"),
        ("for (i = n; (i--) > m; ) a[i] = 0;", "m <= i < n"),
        ("for (unsigned u = n; u--; ) a[u] = 0;", "0 <= u < n"),
        ("for (i = n - 1; (i)--; ) a[i] = 0;", "0 <= i < n - 1"),
        ("for (i = 0; i < n; i++) { if (i == m) continue; a[i] = 0; }", "0 <= i < n and i != m"),
        ("for (i = 0; i < n; i++) { if (i % 2) { continue; } if (i > m) continue; a[i] = 0; }",
         "0 <= i < n and i <= m and i mod 2 = 0"),
    ],
)  # fmt: skip
def test_loops_as_people_write_them(text: str, domain: str) -> None:
    (statement,) = region(text).statements
    name = statement.iterators[0]
    wanted = domain.replace("i != m", "(i < m or i > m)").replace("i mod 2 = 0", "exists (k : i = 2 k)")
    assert is_domain(statement, f"[n, m] -> {{ [{name}] : {wanted} }}"), str(statement.domain)


@pytest.mark.parametrize(("other", "name"), [("", "j"), ("for (j = 0; j < n; j++) b[j] = 0;", "j_1")])
def test_a_variable_of_a_block_is_renamed_only_beside_a_loop_of_its_name(other: str, name: str) -> None:
    block = "for (i = 0; i < n; i++) { int j; for (j = 0; j < n; j++) a[j] += i; }"
    renamed = with_distinct_names(Source("t.c", wrapped(f"{block} {other}"))).text
    assert renamed == wrapped(f"{block.replace('j', name)} {other}")


@pytest.mark.parametrize(
    "block",
    [
        "for (i = 0; i < n; i++) { double v = b[i]; a[i] = v; float v = 2; a[i] += v; }",
        "for (i = 0; i < n; i++) switch (m) { case 0: double v = b[i]; break; case 1: int v = 2; a[i] = v; }",
    ],
)
def test_a_name_that_is_declared_twice_is_an_error_that_no_renaming_hides(block: str) -> None:
    source = Source("t.c", wrapped(block))
    assert with_distinct_names(source) == source


@pytest.mark.parametrize(
    ("body", "domains"),
    [
        ("for (int v = 0; v < n; v++) { int n = v + 1; a[n] = n; }", ["v: 0 <= v < n"]),
        ("for (i = 0; i < n; i++) { for (int i = 0; i < m; i++) a[i] += b[i]; }",
         ["i, i_1: 0 <= i < n and 0 <= i_1 < m"]),
        ("int t = 0; for (i = 0; i < n; i++) { { int t = i; a[i] = t; } t += i; } b[0] = t;",
         [": ", "i: 0 <= i < n", "i: 0 <= i < n", ": "]),
        ("for (int n = 0; n < m; n++) a[n] = n; for (i = 0; i < n; i++) b[i] = n;",
         ["n_1: 0 <= n_1 < m", "i: 0 <= i < n"]),
        ("for (int a = 0; a < n; a++) b[a] = a; for (i = 0; i < m; i++) a[i] = b[i];",
         ["a_1: 0 <= a_1 < n", "i: 0 <= i < m"]),
        ("for (int v = 0; v < n; v++) a[v] = v; int v = 0; while (v < m) { b[v] = 1; v++; }",
         ["v: 0 <= v < n", "v_1: 0 <= v_1 < m"]),
        ("for (i = 0; i < n; i++) { double t = i; a[i] = t; }"
         "for (i = 0; i < m; i++) { int t = i; b[t] += i; }",
         ["i: 0 <= i < n", "i: 0 <= i < n", "i: 0 <= i < m"]),
        ("k = m; { int m = 3; a[m] = 1; for (i = 0; i < k; i++) a[i] = 0; }", [": ", "i: 0 <= i < m"]),
    ],
)  # fmt: skip
def test_names_that_are_used_twice(body: str, domains: list[str]) -> None:
    (program,) = read_source(Source("t.c", wrapped(body)))
    assert not program.set_aside and len(program.statements) == len(domains)
    for statement, domain in zip(program.statements, domains, strict=True):
        names, _, condition = domain.partition(":")
        assert is_domain(statement, f"[n, m] -> {{ [{names}] : {condition} }}"), str(statement.domain)


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("for (int v = 0; v < NO; v++) a[v] = v; for (int k = 0; k < n; k++) b[k] = NO;", "#define NO k"),
        ("for (int v = 0; v < n; v++) { extern double z; a[v] = z; } b[0] = z;", "static double z;"),
        ("for (i = 0; i < n; i++) { extern double z; a[i] = z; } { double z = 3; b[0] = z; }", "double z;"),
    ],
)
def test_names_that_are_more_than_variables_stay(body: str, head: str) -> None:
    with pytest.raises(BadInput):
        read_source(Source("t.c", wrapped(body, head=head)))


def test_counting_down_runs_from_the_top() -> None:
    program = region("for (i = 3; i-- > 0;) a[i] = 0;")
    assert [point for _, point in instances(program, {})] == [(2,), (1,), (0,)]


def test_a_continue_leaves_out_what_follows_only() -> None:
    program = region("for (i = 0; i < 3; i++) { b[i] = 1; if (i == 1) continue; a[i] = 0; }")
    assert instances(program, {}) == [("S1", (0,)), ("S2", (0,)), ("S1", (1,)), ("S1", (2,)), ("S2", (2,))]


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("for (i = n; i-- > 0; i--) a[i] = 0;", "assigned outside the head", "i--"),
        ("for (i = n; i-- != 0;) a[i] = 0;", "assigned outside the head", "i--"),
        ("for (i = n; --i > 0;) a[i] = 0;", "assigned outside the head", "--i"),
        ("for (i = n; j-- > 0;) a[i] = 0;", "does not change its iterator", "for"),
        ("for (i = 0; i < n; i++) { { if (i == 1) continue; } a[i] = 0; }", "'continue' cannot", "continue"),
        ("for (i = 0; i < n; i++) { if (a[i]) continue; a[i] = 0; }", "must not depend on data", "a[i]"),
        ("for (int u = 0, v = n; u < n; u++, v--) a[u] = b[v];", "one integer", "int u = 0, v = n;"),
        ("i = 0; while (i < n) { a[i] = 0; i++; }", "a 'while' loop", "while"),
        ("for (i = 1; i < n; i *= 2) a[i] = 0;", "does not add a constant", "i *= 2"),
        ("for (i = n; i > 0; i = i / 2) a[i] = 0;", "does not add a constant", "i = i / 2"),
        ("for (double *p = a; p < a + n; p++) *p = 0;", "the pointer 'p' changes", "p"),
        ("for (i = 0; i < n; i++) for (k = (int)b[i]; k < n; k++) a[k] = 0;", "depends on data", "b[i]"),
    ],
)
def test_loops_that_are_refused(text: str, message: str, where: str) -> None:
    error = refusal(text)
    assert message in error.message and underlined(error) == where and error.hint


def test_unsigned_differences_and_scattered_rows_are_listed() -> None:
    head = "unsigned long w; double **P; double (*Q)[9];"
    text = wrapped("for (i = 0; i < w - 1; i++) P[i][0] = Q[i][0] + P[w - 1][1];", head=head)
    (program,) = read_source(Source("t.c", text))
    texts = [entry.text for entry in program.assumptions]
    assert "'w - 1' is an unsigned number, and is not below 0" in texts
    assert "P: no two rows overlap" in texts
    kinds = [entry.kind for entry in program.assumptions]
    assert kinds.count(AssumptionKind.ALIASING) == 2


@pytest.mark.parametrize(
    ("macro", "call", "plain"),
    [
        ("least(x, y) ((x) < (y) ? (x) : (y))", "least(n, least(m + 3, 7))", "i < n && i < m + 3 && i < 7"),
        ("least(x, y) (((x) >= (y)) ? (y) : (x))", "least(n, m)", "i < n && i < m"),
        ("min(x, y) ((x) < (y) ? (y) : (x))", "min(n, m)", "i < n || i < m"),
        ("min(x, y) ((x) < (y) ? (x) : (x))", "min(n, m)", "i < n"),
        ("q(n, d) (((n)<0) ? -((-(n)+(d)-1)/(d)) : (n)/(d))", "q(n - 7, 4)", "4 * i + 4 <= n - 7"),
        ("q(n, d) (((n)<0) ? -((-(n))/(d)) : ((n)+(d)-1)/(d))", "q(n - 7, 4)", "4 * i < n - 7"),
        ("q(n, d) (((n)<0) ? -((-(n)+(d)-1)/(d)) : (d)/(n))", "7", "i < 7"),
    ],
)
def test_minima_and_quotients_by_their_form(macro: str, call: str, plain: str) -> None:
    """Of two sides of a comparison all parts have to hold, so that the set has one piece."""
    head = f"#define {macro}"
    for text in (f"i < {call}", f"{call} > i"):
        loop = f"for (i = 0; {text}; i++) a[i] = 0;"
        (program,) = read_source(Source("t.c", wrapped(loop, head=head)))
        expected = region(f"for (i = 0; {plain}; i++) a[i] = 0;").statements[0].domain
        assert program.statements[0].domain.is_equal(expected)
        assert "&&" not in plain or program.statements[0].domain.n_basic_set() == 1
