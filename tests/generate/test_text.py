"""How a program reads: of the ways to write the same thing, the one an expert would choose."""

from __future__ import annotations

import pytest

from tests.generate.support import c, code, flat


def test_bounds_that_do_not_change_in_the_loops_around_come_together() -> None:
    """Constants, parameters, outer iterators, inner ones: a compiler moves the inner minimum out."""
    schedule = flat(
        "[n, m] -> { S[i, j] -> [i, j] : 0 <= i < n and i - 3 <= j <= i + 5 and 2 <= j <= 90 and m <= j < n }"
    )
    assert code(schedule) == c(
        """
        for (int c0 = max(0, m - 5); c0 <= min(93, n - 1); c0 += 1)
          for (int c1 = max(max(2, m), c0 - 3); c1 <= min(min(90, n - 1), c0 + 5); c1 += 1)
            S(c0, c1);
        """
    )


@pytest.mark.parametrize(
    ("domain", "context", "text"),
    [
        ("2i >= n and 2i <= n + 1", "", "S(floord(n + 1, 2));"),  # not floord(n - 1, 2) + 1
        ("2i >= n and 2i <= n + 1", "n >= 0", "S((n + 1) / 2);"),
        ("12i = 17n - 170", "", "if ((n + 2) % 12 == 0)\n  S((17 * n - 170) / 12);"),
        ("3i = n - 12", "", "if (n % 3 == 0)\n  S(n / 3 - 4);"),
        ("i = floor((n - 5)/4) + 3", "n >= 9", "S((n + 7) / 4);"),
        ("i = floor((n + 3)/4) + m + 9", "n >= 1", "S(m + (n + 39) / 4);"),
    ],
)
def test_constants_in_and_beside_a_quotient_become_one(domain: str, context: str, text: str) -> None:
    schedule = flat(f"[n, m] -> {{ S[i] -> [i] : {domain} }}", f"[n, m] -> {{ : {context or 'true'} }}")
    assert code(schedule) == text


def test_of_cases_that_exclude_each_other_the_simplest_comes_first() -> None:
    schedule = flat(
        "[n, m] -> { A[i] -> [i] : 0 <= i < n and 2 <= m < n; B[i] -> [i] : 0 <= i < n and m >= 2 and m >= n;"
        " C[i] -> [i] : 0 <= i < n and m < 0 }"
    )
    assert code(schedule) == c(
        """
        if (m < 0)
          for (int c0 = 0; c0 < n; c0 += 1)
            C(c0);
        else if (m >= 2 && n > m)
          for (int c0 = 0; c0 < n; c0 += 1)
            A(c0);
        else if (m >= 2)
          for (int c0 = 0; c0 < n; c0 += 1)
            B(c0);
        """
    )


def test_terms_are_in_the_order_of_the_loops() -> None:
    schedule = flat("[n] -> { S[i, j, k] -> [i, j, k] : 0 <= i, j < n and j - i <= k <= j - i + n }")
    assert "c2 = c1 - c0; c2 <= n - c0 + c1; " in code(schedule)


def test_a_condition_of_neighbours_is_tested_once() -> None:
    schedule = flat(
        "[n, m] -> { A[i] -> [i, 0] : 0 <= i < n;"
        " B[i] -> [i, 1] : 0 <= i < 9 and i < n and m >= 3 and i <= m;"
        " C[i] -> [i, 2] : 4 <= i < n and m >= 3 }",
        options="{ [i, j] -> atomic[0] }",
    )
    assert code(schedule) == c(
        """
        for (int c0 = 0; c0 < n; c0 += 1) {
          A(c0);
          if (m >= 3) {
            if (c0 <= m && c0 <= 8)
              B(c0);
            if (c0 >= 4)
              C(c0);
          }
        }
        """
    )


def test_an_else_does_not_test_again_what_it_knows() -> None:
    """Where neither m < 0 nor 2 ≤ m < n, m ≥ 2 alone says n ≤ m."""
    schedule = flat("[n, m] -> { A[] -> [] : 2 <= m < n; B[] -> [] : m >= 2 and m >= n; C[] -> [] : m < 0 }")
    assert code(schedule) == c(
        """
        if (m < 0)
          C();
        else if (m >= 2 && n > m)
          A();
        else if (m >= 2)
          B();
        """
    )
