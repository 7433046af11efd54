"""The examples of [Courant2021, sections 2 and 3, figures 3 and 12 to 14, appendix A].

Each expected text is what we generate and prove; the sizes beside it are those of the publication.
"""

from __future__ import annotations

from loopwright.model.schedule import LoopType
from tests.generate.support import assert_no_larger, c, flat, polyhedral, proved_program, text


def test_section_2_binomial_coefficients() -> None:
    """Initialisation first, then the inner loops interchanged."""
    schedule = flat(
        "[n] -> { I0[m] -> [0, m, 0] : 0 <= m < n; I1[m] -> [0, m, 1] : 0 <= m < n;"
        " I2[m, k] -> [1, k, m] : 1 <= k < m < n }"
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c1 = 0; c1 < n; c1 += 1) {
          I0(c1);
          I1(c1);
        }
        for (int c1 = 1; c1 < n - 1; c1 += 1)
          for (int c2 = c1 + 1; c2 < n; c2 += 1)
            I2(c2, c1);
        """
    )
    assert_no_larger(program, loops=3, ifs=0, calls=3)


def test_figure_3b_two_polyhedra() -> None:
    """The common part and the rest, without tests."""
    schedule = flat("{ I1[i, j] -> [i, j] : 0 <= j <= i < 5; I2[i, j] -> [i, j] : i = 4 and 0 <= j < 4 }")
    program = proved_program(schedule, loop_type=LoopType.SEPARATE)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 <= 3; c0 += 1)
          for (int c1 = 0; c1 <= c0; c1 += 1)
            I1(c0, c1);
        for (int c1 = 0; c1 <= 3; c1 += 1) {
          I1(4, c1);
          I2(4, c1);
        }
        I1(4, 4);
        """
    )


def test_figure_12_rectangle() -> None:
    """One polyhedron: two loops and nothing else."""
    schedule = polyhedral(
        """
        param n, m
        statement I(i, j)
          domain    0 <= i <= n and 0 <= j <= m
          schedule  i, j
        """
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 <= n; c0 += 1)
          for (int c1 = 0; c1 <= m; c1 += 1)
            I(c0, c1);
        """
    )
    assert_no_larger(program, loops=2, ifs=0, calls=1)


def test_figure_13_not_unimodular() -> None:
    """[Courant2021] tests i mod 2 in every iteration; a stride does not."""
    schedule = polyhedral(
        """
        param n
        statement I(i)
          domain    0 <= i <= n
          schedule  2*i
        """
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 <= n; c0 += 1)
          I(c0);
        """
    )
    assert_no_larger(program, loops=1, ifs=0, calls=1, remainders=0)


def test_figure_14_three_polyhedra() -> None:
    """Bastoul's example without n < m being known."""
    schedule = polyhedral(
        """
        param n, m

        statement I1(i, j)
          domain    1 <= i <= n and j = i
          schedule  i, j

        statement I2(i, j)
          domain    1 <= i and i <= j and j <= n
          schedule  i, j

        statement I3(i, j)
          domain    1 <= i <= m and j = n
          schedule  i, j
        """
    )
    program = proved_program(schedule, loop_type=LoopType.SEPARATE)
    assert text(program) == c(
        """
        for (int c0 = 1; c0 <= min(m, n); c0 += 1) {
          I1(c0, c0);
          for (int c1 = c0; c1 <= n; c1 += 1)
            I2(c0, c1);
          I3(c0, n);
        }
        for (int c0 = max(1, m + 1); c0 <= n; c0 += 1) {
          I1(c0, c0);
          for (int c1 = c0; c1 <= n; c1 += 1)
            I2(c0, c1);
        }
        for (int c0 = max(1, n + 1); c0 <= m; c0 += 1)
          I3(c0, n);
        """
    )
    assert_no_larger(program, loops=5, ifs=3, calls=11, min_max=3)


def test_section_3_argument_transformation() -> None:
    """T gives the instruction its argument: tiling by 5 keeps calling S(i)."""
    schedule = polyhedral(
        """
        param n
        statement S(i1, i2)
          domain    0 <= 5*i1 + i2 < n and 0 <= i2 < 5
          schedule  i1, i2
          argument  5*i1 + i2
        """
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 <= floord(n - 1, 5); c0 += 1)
          for (int c1 = 0; c1 <= min(4, n - 5 * c0 - 1); c1 += 1)
            S(5 * c0 + c1);
        """
    )
    assert_no_larger(program, loops=2, ifs=0, calls=1)


def test_appendix_a_cycle() -> None:
    """No order of the three polyhedra is right for all outer values; here all dimensions are scanned."""
    schedule = flat(
        "{ P1[x, y, z] -> [x, y, z] : x = 0 and y = z and 0 <= z <= 1;"
        " P2[x, y, z] -> [x, y, z] : y = 0 and x = 1 - z and 0 <= z <= 1;"
        " P3[x, y, z] -> [x, y, z] : x = 1 - y and x = z and 0 <= z <= 1 }",
        options="{ [x, y, z] -> separate[i] }",
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        P1(0, 0, 0);
        P2(0, 0, 1);
        P3(0, 1, 0);
        P1(0, 1, 1);
        P2(1, 0, 0);
        P3(1, 0, 1);
        """
    )
    assert_no_larger(program, calls=6)


def test_appendix_a_cycle_in_the_last_dimension() -> None:
    """The cycle itself: x and y are given, and the pieces of z are split by them."""
    schedule = flat(
        "[x, y] -> { P1[z] -> [z] : x = 0 and y = z and 0 <= z <= 1;"
        " P2[z] -> [z] : y = 0 and x = 1 - z and 0 <= z <= 1;"
        " P3[z] -> [z] : x = 1 - y and x = z and 0 <= z <= 1 }",
        options="{ [z] -> separate[0] }",
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        if (y == 0 && x == 0) {
          P1(0);
          P2(1);
        } else {
          if (y == 0 && x == 1)
            P2(0);
          if (x + y == 1 && x >= 0 && x <= 1) {
            P3(x);
            if (y == 1)
              P1(1);
          }
        }
        """
    )
