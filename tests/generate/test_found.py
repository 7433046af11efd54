"""Schedules that random tests found, for which the loops were once wrong and were refused by the proof."""

from __future__ import annotations

from tests.generate.support import proved_program, tree


def test_removing_divisions_keeps_all_points() -> None:
    """isl_set_remove_divs_involving_dims loses n mod 3 = 0 of the isolated part, in one form of the set."""
    schedule = tree(
        """
        { domain: "[n] -> { S[i, j] : 0 <= i <= 1 and 0 <= j <= n + 1 and (j + 2n + 2) mod 3 = 0 }",
          child: { schedule: "[n] -> [{ S[i, j] -> [(i mod 3)] }]",
            child: { schedule: "[n] -> [{ S[i, j] -> [(j)] }, { S[i, j] -> [(floor((-2i + j - 1)/3))] }]",
              options: "[n] -> { isolate[[o0] -> [t0, t1]] : 1 <= t0 <= 3 }",
              child: { schedule: "[n] -> [{ S[i, j] -> [(n - j)] }, { S[i, j] -> [(n - i)] }]" } } } }
        """
    )
    proved_program(schedule)


def test_the_least_value_of_an_empty_loop_may_be_none_of_its_stride() -> None:
    """min(-1, n + 2 * c0 % 3 - 3) is -1 for n = c0 = 1, where no value of the loop is."""
    schedule = tree(
        """
        { domain: "[n] -> { S[i] : n >= 0 and (n < i <= 3 or i = n + 1) }",
          child: { schedule: "[n] -> [{ S[i] -> [(i mod 3)] }, { S[i] -> [(n - i)] }]",
            options: "[n] -> { atomic[0]; atomic[1] }" } }
        """
    )
    proved_program(schedule)
