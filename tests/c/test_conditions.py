"""`if` on iterators and parameters splits domains; `if` on data makes one cautious statement."""

from __future__ import annotations

import islpy as isl
import pytest

from tests.c.support import gate_refusal, is_domain, reads, refusal, region, underlined, writes

LOOP = "for (i = 0; i < n; i++) "


@pytest.mark.parametrize(
    ("test", "domain"),
    [
        ("i > 3", "3 < i"),
        ("i == m", "i = m"),
        ("i != m", "i < m or i > m"),
        ("i > 3 && i < m", "3 < i < m"),
        ("i < 3 || i > m", "i < 3 or i > m"),
        ("!(i < 3)", "i >= 3"),
        ("i % 2 == 0", "exists k : i = 2 k"),
        ("i % 2", "exists k : i = 2 k + 1"),
        ("m % 3 == -1", "exists k : m = 3 k - 1 and m < 0"),
        ("m / 4 == 0", "-4 < m < 4"),
        ("-7 / 2 == -3", "true"),
        ("-7 % -2 == -1", "true"),
        ("(i < m) == 1", "i < m"),
        ("i < m ? i > 2 : i > 4", "(i < m and i > 2) or (i >= m and i > 4)"),
        ("i & 1", "exists k : i = 2 k + 1"),
        ("(m & 3) == 2", "exists k : m = 4 k + 2"),
        ("i >> 2 == 1", "4 <= i < 8"),
        ("~i", "true"),
        ("~m < -3", "m > 2"),
        ("(m & ~3) == -8", "-8 <= m < -4"),
        ("true", "true"),
        ("1", "true"),
        ("0", "false"),
        ("m", "m < 0 or m > 0"),
        ("(i + m) / 2 * 2 == i + m", "exists k : i + m = 2 k"),
    ],
)
def test_a_condition_on_iterators_and_parameters(test: str, domain: str) -> None:
    statement, other = region(f"{LOOP}if ({test}) a[i] = 0; else a[i] = 1;").statements
    assert is_domain(statement, f"[n, m] -> {{ [i] : 0 <= i < n and ({domain}) }}"), str(statement.domain)
    assert statement.domain.is_disjoint(other.domain.set_tuple_name("S1"))
    both = statement.domain.union(other.domain.set_tuple_name("S1"))
    assert both.is_equal(isl.Set("[n, m] -> { S1[i] : 0 <= i < n }"))


@pytest.mark.parametrize("test", ["i & 5", "m >> 1", "i | 1", "i ^ 1", "~i & m", "i << m", "i << 40"])
def test_other_bits_are_data(test: str) -> None:
    (statement,) = region(f"{LOOP}if ({test}) a[i] = 0;").statements
    assert writes(statement) == ["a[i]?"]


def test_else_if_chains_and_blocks() -> None:
    first, second, third, fourth = region(
        LOOP + "{ if (i < 3) { a[i] = 0; b[i] = 1; } else if (i < 5) a[i] = 2; else { a[i] = 3; } }"
    ).statements
    assert is_domain(first, "[n] -> { [i] : 0 <= i < n and i < 3 }")
    assert is_domain(second, "[n] -> { [i] : 0 <= i < n and i < 3 }")
    assert is_domain(third, "[n] -> { [i] : 3 <= i < n and i < 5 }")
    assert is_domain(fourth, "[n] -> { [i] : 5 <= i < n }")


def test_a_condition_on_data_is_one_statement_that_may_touch_its_branches() -> None:
    program = region(LOOP + "if (a[i] > 0) { double t = b[i]; A[i][0] = t; } else A[i][1] = 0;")
    (statement,) = program.statements
    assert statement.body.place.text.startswith("if (a[i] > 0)")
    assert reads(statement) == ["a[i]", "b[i]?"]
    assert writes(statement) == ["A[i, 0]?", "A[i, 1]?"]
    assert [array.name for array in program.arrays] == ["a", "b", "A"]


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("double *p = b; *p = 1;", "a pointer declared in a region", "*p"),
        ("vec p = b; p[0] = 1;", "'p' is subscripted, but not declared as an array", "p = b"),
        ("vec p = b; a[i] = norm(p);", "'b' is a pointer", "b"),
        ("vec p = x > 0 ? a : (vec)(b + i); a[i] = norm(p);", "'a' is a pointer", "a"),
    ],
)
@pytest.mark.parametrize("test", ["if (b[i] > 0)", "if (i > 0)", ""])
def test_locals_that_are_more_than_their_block_shows(test: str, text: str, message: str, where: str) -> None:
    """A write through a local pointer would be lost with the local."""
    error = refusal(f"{LOOP}{test} {{ {text} }}", head="typedef double *vec;", pure=["norm"])
    assert message in error.message and underlined(error) == where and error.hint


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("static double t; t += 1; a[i] = t;", "outlives its block", "t"),
        ("extern double t; t = 1;", "outlives its block", "t"),
        ("volatile double t = 1; a[i] = t;", "volatile or atomic", "t"),
    ],
)
@pytest.mark.parametrize("test", ["if (b[i] > 0)", "if (i > 0)", ""])
def test_locals_that_others_see(test: str, text: str, message: str, where: str) -> None:
    error = gate_refusal(f"{LOOP}{test} {{ {text} }}")
    assert message in error.message and underlined(error) == where and error.hint


def test_the_size_of_a_local_array_is_evaluated() -> None:
    (statement,) = region(LOOP + "if (b[i]) { register int t[x++]; t[0] = a[i]; b[i] = t[0]; }").statements
    assert reads(statement) == ["b[i]", "x[]?", "a[i]?"] and writes(statement) == ["x[]?", "b[i]?"]


def test_a_condition_on_something_written_is_one_on_data() -> None:
    first, second = region(LOOP + "{ x = a[i]; if (x) b[i] = 0; }").statements
    assert is_domain(second, "[n] -> { [i] : 0 <= i < n }")
    assert reads(second) == ["x[]"] and writes(second) == ["b[i]?"]
    assert writes(first) == ["x[]"]


def test_a_loop_under_a_condition_on_data_is_refused() -> None:
    error = refusal(LOOP + "if (a[i] > 0) for (j = 0; j < n; j++) A[i][j] = 0;")
    assert "'for' cannot be under a condition on data" in error.message
    assert underlined(error) == "for" and error.hint and "affine" in error.hint
