"""The values a loop gives its iterator, in every usual spelling."""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput
from loopwright.read.c.gate.gate import gated
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from tests.c.support import FIRST_LINE, gate_refusal, instances, is_domain, refusal, region, underlined


@pytest.mark.parametrize(
    ("head", "domain"),
    [
        ("i = 0; i < n; i++", "[n] -> { [i] : 0 <= i < n }"),
        ("i = 0; i <= n; ++i", "[n] -> { [i] : 0 <= i <= n }"),
        ("i = 0; n > i; i += 1", "[n] -> { [i] : 0 <= i < n }"),
        ("i = 0; n - 1 >= i; i = i + 1", "[n] -> { [i] : 0 <= i < n }"),
        ("i = 0; i < n; i = 1 + i", "[n] -> { [i] : 0 <= i < n }"),
        ("i = 0; i < n; i = i + 2 * 3 - 5", "[n] -> { [i] : 0 <= i < n }"),
        ("i = n; i > 0; i = -1 + i", "[n] -> { [i] : 0 < i <= n }"),
        ("i = 0; i < 4611686018427387904 * 4; i += 4611686018427387904", "{ [i] : exists k : "
         "i = 4611686018427387904 k and 0 <= i < 18446744073709551616 }"),
        ("i = 0; i < n; i -= -1", "[n] -> { [i] : 0 <= i < n }"),
        ("int i = 0; i < n; (i)++", "[n] -> { [i] : 0 <= i < n }"),
        ("long long i = 0; i < n; i++", "[n] -> { [i] : 0 <= i < n }"),
        ("i = n; i > 0; i--", "[n] -> { [i] : 0 < i <= n }"),
        ("i = n; i >= 0; --i", "[n] -> { [i] : 0 <= i <= n }"),
        ("i = n; i > m; i -= 2", "[n, m] -> { [i] : exists k : i = n - 2 k and m < i <= n }"),
        ("i = n; 0 <= i; i = i - 3", "[n] -> { [i] : exists k : i = n - 3 k and 0 <= i <= n }"),
        ("i = 1; i < 42; i += 2", "{ [i] : exists k : i = 1 + 2 k and 1 <= i <= 41 }"),
        ("i = m; i < n; i += 2", "[n, m] -> { [i] : exists k : i = m + 2 k and m <= i < n }"),
        ("i = 0; i < n && i < m; i++", "[n, m] -> { [i] : 0 <= i < n and i < m }"),
        ("i = 0; i < n || i < m; i++", "[n, m] -> { [i] : 0 <= i and (i < n or i < m) }"),
        ("i = 0; 2 * i < n; i++", "[n] -> { [i] : 0 <= 2 i < n }"),
        ("i = 0; i + m < n; i++", "[n, m] -> { [i] : 0 <= i < n - m }"),
        ("i = 0; i < min(n, m); i++", "[n, m] -> { [i] : 0 <= i < n and i < m }"),
        ("i = max(0, m); i < n; i++", "[n, m] -> { [i] : 0 <= i < n and m <= i }"),
        ("i = 0; i < (n < m ? n : m); i++", "[n, m] -> { [i] : 0 <= i < n and i < m }"),
        ("i = 0; i <= floord(n, 4); i++", "[n] -> { [i] : 0 <= i and 4 i <= n }"),
        ("i = ceild(m, 3); i < n; i++", "[n, m] -> { [i] : m <= 3 i and i < n }"),
        ("i = 0; i < n / 2; i++", "[n] -> { [i] : 0 <= i and 2 i <= n - 2 }"),
        ("i = n / 2; i < 0; i++", "[n] -> { [i] : i < 0 and 2 i >= n }"),
        ("i = -3; i < 0x10; i++", "{ [i] : -3 <= i < 16 }"),
        ("i = 010; i < 10u; i++", "{ [i] : 8 <= i < 10 }"),
        ("i = 0; i < (int)n; i++", "[n] -> { [i] : 0 <= i < n }"),
        ("i = 0; i < n << 1; i++", "[n] -> { [i] : 0 <= i < 2 n }"),
        ("i = 5; i < 3; i++", "{ [i] : false }"),
    ],
)
def test_the_domain_of_a_loop(head: str, domain: str) -> None:
    (statement,) = region(f"for ({head}) a[i] = 0;").statements
    assert is_domain(statement, domain), str(statement.domain)


def test_a_loop_that_counts_down_runs_in_decreasing_order() -> None:
    program = region("for (i = n; i > 0; i -= 2) a[i] = 0;")
    assert instances(program, {"n": 6}) == [("S1", (6,)), ("S1", (4,)), ("S1", (2,))]


def test_strides_and_triangles() -> None:
    program = region("for (i = 1; i < n; i += 2)\n  for (j = i; j <= i + 1; j++) A[i][j] = 0;")
    assert [point for _, point in instances(program, {"n": 4})] == [(1, 1), (1, 2), (3, 3), (3, 4)]


def test_unequal_is_taken_where_the_loop_is_known_to_end() -> None:
    program = region("for (i = 0; i != n; i++) a[i] = 0;", assume=["n >= 0"])
    assert is_domain(program.statements[0], "[n] -> { [i] : 0 <= i < n }")
    even = region("for (i = n; i != 0; i -= 2) a[i] = 0;", assume=["n >= 0 && n % 2 == 0"])
    assert [point for _, point in instances(even, {"n": 4})] == [(4,), (2,)]


@pytest.mark.parametrize("assume", [[], ["n >= -1"]])
def test_unequal_is_refused_where_the_loop_may_not_end(assume: list[str]) -> None:
    error = refusal("for (i = 0; i != n; i++) a[i] = 0;", assume=assume)
    assert "not known to end" in error.message and "n = -1" in error.message
    assert underlined(error) == "i != n"


def test_unequal_that_steps_over_its_end_is_refused() -> None:
    error = refusal("for (i = 0; i != n; i += 2) a[i] = 0;", assume=["n >= 0"])
    assert "n = 1" in error.message


def test_a_step_may_be_a_macro_of_the_file() -> None:
    program = region("for (i = 0; i < n; i += TILE) a[i] = 0;", head="#define TILE 32")
    assert is_domain(program.statements[0], "[n] -> { [i] : exists k : i = 32 k and 0 <= i < n }")


@pytest.mark.parametrize(
    "head", ["enum { FIRST = 31, TILE };", "const int TILE = 32;", "static const long TILE = (0x20L);"]
)
def test_a_step_may_be_a_constant_of_the_file(head: str) -> None:
    program = region("for (i = 0; i < n; i += TILE) a[i / TILE] = 0;", head=head)
    assert is_domain(program.statements[0], "[n] -> { [i] : exists k : i = 32 k and 0 <= i < n }")
    (write,) = program.statements[0].writes
    assert write.must


@pytest.mark.parametrize("head", ["int TILE = 32;", "const int TILE = n;", "enum { TILE = A + 1 };"])
def test_a_step_must_be_known(head: str) -> None:
    assert "must be a constant" in refusal("for (i = 0; i < n; i += TILE) a[i] = 0;", head=head).message


def test_a_macro_that_may_be_redefined_is_not_a_constant() -> None:
    head = "#ifndef TILE\n#define TILE 32\n#endif"
    error = refusal("for (i = 0; i < n; i += TILE) a[i] = 0;", head=head)
    assert "must be a constant" in error.message and underlined(error) == "TILE"


REFUSED = [
    ("for (i = 0; i * i < n; i++) a[i] = 0;", "must be affine", "i * i"),
    ("for (i = 0; i < a[0]; i++) b[i] = 0;", "depends on data", "a[0]"),
    ("for (i = 0; i < n; i *= 2) a[i] = 0;", "does not add a constant to 'i'", "i *= 2"),
    ("for (i = 0; i < n; i = 2 * i) a[i] = 0;", "does not add a constant to 'i'", "i = 2 * i"),
    ("for (i = 0; i < 9999999999999999999; i++) a[i] = 0;", "64 bits", "9999999999999999999"),
    ("for (i = 0; i < n; j++) a[i] = 0;", "does not add a constant to 'i'", "j++"),
    ("for (i = 0; i < n; i += m) a[i] = 0;", "step of a loop must be a constant", "m"),
    ("for (i = 0; i < n; i += 0) a[i] = 0;", "does not change its iterator", "i += 0"),
    ("for (i = 0; i < n;) a[i] = 0;", "does not change its iterator", "for"),
    ("for (i = 0;; i++) a[i] = 0;", "does not end", "for"),
    ("for (; i < n; i++) a[i] = 0;", "must initialise", "for"),
    ("for (i = 0, j = 1; i < n; i++) a[i] = 0;", "must initialise", "i = 0, j = 1"),
    ("for (int i = 0, q = 1; i < n; i++) a[i] = 0;", "must initialise", "int i = 0, q = 1;"),
    ("for (i = 0; i < n; i--) a[i] = 0;", "not known to end", "i < n"),
    ("for (i = 0; i > -1; i++) a[i] = 0;", "its test never fails", "i > -1"),
    ("for (double x = 0; x < n; x++) a[0] = 0;", "not an integer", "double x = 0;"),
    ("for (unsigned u = n; u >= 0; u--) a[u] = 0;", "below 0", "u >= 0"),
    ("for (i = 0; i < n; i++) for (i = 0; i < n; i++) a[i] = 0;", "already the iterator", "i = 0"),
    ("for (i = 0; i < n; i++) { a[i] = 0; i++; }", "assigned outside the head", "i++"),
    ("for (i = 0; i < n; i++) n = 3;", "'n' is written in the region", "n"),
    ("for (i = 0; i < x; i++) x = 3;", "'x' is written in the region", "x"),
    ("for (i = 0; i < n; i++) a[i] = 0; a[0] = i;", "read outside it", "i"),
    ("for (i = 0; i < n; i++) a[i] = 0; for (j = 0; j < i; j++) a[j] = 0;", "read outside it", "i"),
    ("for (i = 0; i < n / 0; i++) a[i] = 0;", "divides by zero", "n / 0"),
    ("for (i = 0; i < 1.5; i++) a[i] = 0;", "not an integer", "1.5"),
    ("for (i = 0; i < (char)n; i++) a[i] = 0;", "may change the value", "(char)n"),
]


@pytest.mark.parametrize(("text", "message", "where"), REFUSED)
def test_loops_that_are_refused(text: str, message: str, where: str) -> None:
    error = refusal(text)
    assert message in error.message
    assert error.span is not None and error.span.line == FIRST_LINE
    assert underlined(error) == where
    assert error.hint


def test_an_iterator_read_after_the_region_is_refused() -> None:
    error = gate_refusal("for (i = 0; i < n; i++) a[i] = 0;", tail="b[0] = i;")
    assert "'i' is read after the region" in error.message and error.hint
    region("for (i = 0; i < n; i++) a[i] = 0;", tail="for (i = 0; i < 3; i++) g(i);")
    region("for (int i = 0; i < n; i++) a[i] = 0;", tail="return i;")


def test_an_iterator_read_in_the_next_turn_of_a_loop_around_is_refused() -> None:
    around = "for (int t = 0; t < 9; t++) { g(i);\n#pragma scop\nfor (i = 0; i < n; i++) a[i] = 0;\n"
    text = f"void g(int); void f(int n, double *a) {{ int i = 0;\n{around}#pragma endscop\n}} }}\n"
    with pytest.raises(BadInput, match="read after the region"):
        gated(parse_c(Source("t.c", text)))


def test_an_iterator_with_the_name_of_an_array() -> None:
    error = refusal("for (int b = 0; b < n; b++) a[b] = 0;")
    assert error.message == "the iterator 'b' has the name of an array (line 2)"
    assert underlined(error) == "int b = 0;"
