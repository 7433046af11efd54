"""[Grosser2015, figures 1 to 8]: what is generated, and proved."""

from __future__ import annotations

from tests.generate.support import assert_no_larger, c, flat, proved_program, text

COPY = flat(
    "[t1] -> { copy[c, r, x] -> [c, r, x] : 0 <= c <= 1 and 1 <= r <= 4 and (x - t1) mod 128 = 0 and"
    " ((c = 0 and (r = 1 or r = 4) and 3 <= x <= 130) or (c = 0 and 2 <= r <= 3 and 1 <= x <= 130) or"
    " (c = 1 and (r = 1 or r = 4) and 2 <= x <= 129) or (c = 1 and 2 <= r <= 3 and 2 <= x <= 131)) }",
    "[t1] -> { : 0 <= t1 < 128 }",
    "{ [c, r, x] -> unroll[d] }",
)
"""What a thread copies of a hexagonal tile, as figure 2 has it."""


def test_figures_1_and_2_copy_code() -> None:
    program = proved_program(COPY)
    assert text(program) == c(
        """
        copy(0, 1, (t1 + 125) % 128 + 3);
        copy(0, 2, (t1 + 127) % 128 + 1);
        if (t1 >= 1 && t1 <= 2)
          copy(0, 2, t1 + 128);
        copy(0, 3, (t1 + 127) % 128 + 1);
        if (t1 >= 1 && t1 <= 2)
          copy(0, 3, t1 + 128);
        copy(0, 4, (t1 + 125) % 128 + 3);
        copy(1, 1, (t1 + 126) % 128 + 2);
        copy(1, 2, (t1 + 126) % 128 + 2);
        if (t1 >= 2 && t1 <= 3)
          copy(1, 2, t1 + 128);
        copy(1, 3, (t1 + 126) % 128 + 2);
        if (t1 >= 2 && t1 <= 3)
          copy(1, 3, t1 + 128);
        copy(1, 4, (t1 + 126) % 128 + 2);
        """
    )
    assert_no_larger(program, loops=0, ifs=4, calls=12)


def test_figure_3_with_schedule_3() -> None:
    """The example program under its alternative schedule."""
    schedule = flat(
        "[n] -> { S1[i] -> [0, i, 0, 0] : 0 <= i < n; S2[i, j] -> [1, i, 0, j] : 0 <= j < i < n;"
        " S3[i] -> [1, i - 1, 1, 0] : 0 <= i < n }"
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c1 = 0; c1 < n; c1 += 1)
          S1(c1);
        for (int c1 = -1; c1 <= min(0, n - 2); c1 += 1)
          S3(c1 + 1);
        for (int c1 = 1; c1 < n; c1 += 1) {
          for (int c3 = 0; c3 < c1; c3 += 1)
            S2(c1, c3);
          if (c1 + 2 <= n)
            S3(c1 + 1);
        }
        """
    )


def test_figure_5_and_examples_5_19_5_20() -> None:
    """Shifted strides take the modulo out of the loop; n ≥ 0 makes `%` right after it."""
    schedule = flat(
        "[n] -> { S0[i] -> [i] : exists a : 1 <= i <= n and i = 4a;"
        " S1[i] -> [i] : exists a : 1 <= i <= n and i = 4a + 2 }",
        options="{ [i] -> separate[0] }",
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 2; c0 < n - 1; c0 += 4) {
          S1(c0);
          S0(c0 + 2);
        }
        if (n >= 0 && n % 4 >= 2)
          S1(4 * (n / 4) + 2);
        """
    )
    assert_no_larger(program, loops=1, ifs=1, calls=3, remainders=2)


def test_figure_6_youcefn() -> None:
    """Components keep separation from being applied in vain."""
    schedule = flat(
        "[n, m] -> { S1[i, j] -> [i, j, 0] : 1 <= i <= n and j = i;"
        " S2[i, j] -> [i, j, 1] : 1 <= i <= n and i <= j <= n;"
        " S3[i, j] -> [i, j, 2] : 1 <= i <= m and j = n }",
        "[n, m] -> { : 1 < n < m }",
        "{ [i, j, k] -> separate[x] }",
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 1; c0 <= n; c0 += 1) {
          S1(c0, c0);
          for (int c1 = c0; c1 <= n; c1 += 1)
            S2(c0, c1);
          S3(c0, n);
        }
        for (int c0 = n + 1; c0 <= m; c0 += 1)
          S3(c0, n);
        """
    )
    assert_no_larger(program, loops=3, ifs=0, calls=4)


def test_figure_7_simple() -> None:
    """A modulo mapping is one call."""
    schedule = flat("[n] -> { S[i] -> [i] : i = n mod 128 }", "[n] -> { : n >= 0 }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        S(n % 128);
        """
    )
    assert_no_larger(program, loops=0, ifs=0, calls=1, remainders=1)


def test_figure_7_shifted() -> None:
    """So is one onto 7 .. 134."""
    schedule = flat(
        "[t1] -> { S[i] -> [i] : 7 <= i <= 134 and i mod 128 = t1 }", "[t1] -> { : 0 <= t1 < 128 }"
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        S((t1 + 121) % 128 + 7);
        """
    )
    assert_no_larger(program, loops=0, ifs=0, calls=1, remainders=1)


def test_figure_7_conditional() -> None:
    """Onto 7 .. 130 some threads have nothing to do."""
    schedule = flat(
        "[t1] -> { S[i] -> [i] : 7 <= i <= 130 and i mod 128 = t1 }", "[t1] -> { : 0 <= t1 < 128 }"
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        if ((t1 + 121) % 128 <= 123)
          S((t1 + 121) % 128 + 7);
        """
    )
    assert_no_larger(program, loops=0, ifs=1, calls=1, remainders=2)


def test_figure_8_two_existentials() -> None:
    """Two quantified variables in one equality."""
    schedule = flat("{ S[i] -> [i] : exists a, b : i = 2a + 3b and 0 <= a < 3 and 0 <= b and 0 <= i < 8 }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 <= 7; c0 += 1)
          if (c0 >= 2 * ((c0 + 2) / 3))
            S(c0);
        """
    )
    assert_no_larger(program, loops=1, ifs=1, calls=1, divisions=1)


def test_figure_8_two_existentials_unrolled() -> None:
    """Unrolled, 1 is seen to be missing."""
    schedule = flat(
        "{ S[i] -> [i] : exists a, b : i = 2a + 3b and 0 <= a < 3 and 0 <= b and 0 <= i < 8 }",
        options="{ [i] -> unroll[0] }",
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        S(0);
        S(2);
        S(3);
        S(4);
        S(5);
        S(6);
        S(7);
        """
    )
    assert_no_larger(program, loops=0, ifs=0, calls=7)


def test_figure_8_multiple_bounds() -> None:
    """Loop bounds, a stride and a disjunctive condition."""
    schedule = flat(
        "[t1, t2] -> { S[i, j] -> [i, j] : exists a, b : 0 <= i <= 1 and t1 = j + 128a and"
        " 0 <= j + 2b < 128 and 510 <= t2 + 2b <= 514 and 0 <= 2b - t2 <= 5 }",
        "[t1, t2] -> { : 125 <= t1 <= 127 and 254 <= t2 < 257 }",
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 <= 1; c0 += 1)
          for (int c1 = max(t1 - 384, t2 - (t2 - t1 - 3) % 128 - 387); c1 <= min(t2 - 383, 127 - t2); c1 += 128)
            if (c1 + 256 == t1 || t1 >= 126)
              S(c0, c1);
        """
    )
    assert_no_larger(program, loops=2, ifs=1, calls=1, min_max=2)


def test_figure_8_multiple_bounds_unrolled() -> None:
    """Unrolled from the best of several lower bounds."""
    schedule = flat(
        "[t1, t2] -> { S[i, j] -> [i, j] : exists a, b : 0 <= i <= 1 and t1 = j + 128a and"
        " 0 <= j + 2b < 128 and 510 <= t2 + 2b <= 514 and 0 <= 2b - t2 <= 5 }",
        "[t1, t2] -> { : 125 <= t1 <= 127 and 254 <= t2 < 257 }",
        "{ [i, j] -> unroll[x] }",
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        if (t1 >= 126)
          S(0, t1 - 384);
        S(0, t1 - 256);
        if (t1 >= 126)
          S(1, t1 - 384);
        S(1, t1 - 256);
        """
    )
    assert_no_larger(program, loops=0, ifs=2, calls=4, remainders=0)
