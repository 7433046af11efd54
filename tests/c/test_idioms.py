"""Loops as people write them: counting down to zero, leaving out the rest; and what stays refused."""

from __future__ import annotations

import pytest

from loopwright.model.program import AssumptionKind
from tests.c.support import instances, is_domain, refusal, region, underlined


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
        ("for (double *p = a; p < a + n; p++) *p = 0;", "'p' has 1 dimension", "p"),
        ("for (i = 0; i < n; i++) for (k = (int)b[i]; k < n; k++) a[k] = 0;", "depends on data", "b[i]"),
    ],
)
def test_loops_that_are_refused(text: str, message: str, where: str) -> None:
    error = refusal(text)
    assert message in error.message and underlined(error) == where and error.hint


def test_unsigned_differences_and_scattered_rows_are_listed() -> None:
    head = "unsigned long w; double **P; double (*Q)[9];"
    program = region("for (i = 0; i < w - 1; i++) P[i][0] = Q[i][0] + P[w - 1][1];", head=head)
    texts = [entry.text for entry in program.assumptions]
    assert "'w - 1' is an unsigned number, and is not below 0" in texts
    assert "P: no two rows have memory in common" in texts
    kinds = [entry.kind for entry in program.assumptions]
    assert kinds.count(AssumptionKind.ALIASING) == 2
