"""Unsigned numbers in bounds, conditions and subscripts: what C computes is what was read, or nothing is."""

from __future__ import annotations

import pytest

from tests.c.support import is_domain, refusal, region, underlined

HEAD = "unsigned u, v; unsigned long w;"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("for (int x = -2; x < u; x++) a[x] = 0;", "x"),
        ("for (int x = n; x < u; x++) a[x] = 0;", "x"),
        ("for (i = 0; i < n; i++) for (j = 0; j < u - i; j++) a[j] = 0;", "u - i"),
        ("for (i = 0; i < n; i++) for (j = 0; j < i - 5 + u * 0; j++) a[j] = 0;", "i - 5 + u * 0"),
        ("for (i = 0; i < n; i++) for (unsigned x = i - 1; x < 9; x++) a[x] = 0;", "i - 1"),
        ("for (i = 0; i < n; i++) for (unsigned x = u; x-- > i - 5;) a[x] = 0;", "i - 5"),
        ("for (i = 0; i < n; i++) for (long x = u - i; x < 9; x++) a[x] = 0;", "u - i"),
        ("for (i = 0; i < n; i++) for (j = 0; j < (i - 5) / 2u; j++) a[j] = 0;", "(i - 5)"),
        ("for (i = 0; i < n; i++) for (j = 0; j < max(i - 5, u); j++) a[j] = 0;", "i - 5"),
    ],
)
def test_a_bound_that_may_wrap_around_is_refused(body: str, where: str) -> None:
    error = refusal(body, head=HEAD)
    assert "is an unsigned number here, and may be below 0" in error.message
    assert underlined(error) == where and "--assume" in (error.hint or "")


@pytest.mark.parametrize(
    "test",
    [
        "i - 5 < u",
        "(unsigned)(i - 5) < 10u",
        "(unsigned)i - 5 < 10",
        "i - 5 != w",
        "(i - 5) % 3u == 1",
        "(long)(i - 5 + u) > 3",
        "(i - 5) / (int)2 < u",
        "half(i) < 3",
    ],
)
def test_a_condition_that_may_wrap_around_is_one_on_data(test: str) -> None:
    head = HEAD + " static int half(unsigned x) { return (x - 5) / 2; }"
    program = region(f"for (i = 0; i < n; i++) if ({test}) a[i] = 0;", head=head)
    (statement,) = program.statements
    assert is_domain(statement, "[n] -> { [i] : 0 <= i < n }")
    assert [access.must for access in statement.writes] == [False]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("i < u", "i < u"),
        ("i + 5 > u", "i + 5 > u"),
        ("u - 1 > i", "u - 1 > i"),
        ("(int)u - i > 3", "u - i > 3"),
        ("i - 5 < (int)u", "i - 5 < u"),
        ("i - 5 < (long)u", "i - 5 < u"),
        ("i - 5L < u", "i - 5 < u"),
    ],
)
def test_what_cannot_wrap_around_is_read(test: str, expected: str) -> None:
    program = region(f"for (i = 0; i < n; i++) if ({test}) a[i] = 0;", head=HEAD)
    (statement,) = program.statements
    wanted = f"[n, u] -> {{ [i] : 0 <= i < n and {expected} }}"
    assert is_domain(statement, wanted if "u" in test else wanted.replace(", u", ""))


def test_a_subscript_that_may_wrap_around_may_be_anything() -> None:
    body = "for (unsigned x = 0; x < u; x++) for (unsigned y = 0; y < v; y++) a[(x - y) % 4] = b[x - y + v];"
    (statement,) = region(body, head=HEAD).statements
    assert [access.must for access in statement.writes] == [False]
    assert [access.must for access in statement.reads if access.array == "b"] == [True]


def test_unsigned_sizes_are_not_below_0() -> None:
    program = region("for (i = 0; i != u; i++) a[i] = w;", head=HEAD)
    assert is_domain(program.statements[0], "[u] -> { [i] : 0 <= i < u }")


@pytest.mark.parametrize(
    ("body", "listed"),
    [
        ("for (unsigned x = 0; x < n; x++) a[x] = 0;", ["n"]),
        ("for (unsigned x = m - 1; x < u; x++) a[x] = 0;", ["m - 1"]),
        ("for (unsigned x = u; x-- > m;) a[x] = 0;", ["m"]),
        ("for (i = 0; i < u - 1; i++) if (i < n - v) a[i] = 0;", ["u - 1", "n - v"]),
        ("for (i = 0; i < n; i++) { unsigned long x = m - 2; if (i < x) a[i] = 0; }", ["m - 2"]),
        ("for (i = 0; i < n; i++) if (i < u) a[i] = 0;", []),
    ],
)
def test_what_is_believed_of_sizes_is_listed(body: str, listed: list[str]) -> None:
    texts = [entry.text for entry in region(body, head=HEAD).assumptions]
    found = [text.split("'")[1] for text in texts if "is an unsigned number, and is not below 0" in text]
    assert found == listed
    assumed = region(body, head=HEAD, assume=["m >= 2 && n >= 1 && u >= 1 && n >= v"]).assumptions
    assert not [entry for entry in assumed if "is an unsigned number" in entry.text]
