"""The examples of [Quillere2000].

Each expected text is what we generate and prove; the sizes beside it are those of the publication.
"""

from __future__ import annotations

from loopwright.model.schedule import LoopType
from tests.generate.support import assert_no_larger, c, flat, proved_program, text


def test_figure_5_one_polyhedron() -> None:
    """Section 3.2: a trapezium in two loops."""
    schedule = flat(
        "[N, M] -> { S[i, j] -> [i, j] : j <= i <= N and j >= 0 and i >= M and i + j <= N + M }",
        "[N, M] -> { : 2 <= M < N }",
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = M; c0 <= N; c0 += 1)
          for (int c1 = 0; c1 <= min(c0, N + M - c0); c1 += 1)
            S(c0, c1);
        """
    )
    assert_no_larger(program, loops=2, ifs=0, calls=1, min_max=1)


def test_figure_5_without_minimum() -> None:
    """Section 7, after [Chamski1994]: the minimum goes, the outer loop is split where the bounds meet."""
    schedule = flat(
        "[N, M] -> { S[i, j] -> [i, j] : j <= i <= N and j >= 0 and i >= M and i + j <= N + M }",
        "[N, M] -> { : 2 <= M < N }",
    )
    program = proved_program(schedule, split_bounds=True)
    assert text(program) == c(
        """
        for (int c0 = M; c0 <= (N + M - 1) / 2; c0 += 1)
          for (int c1 = 0; c1 <= c0; c1 += 1)
            S(c0, c1);
        for (int c0 = (N + M + 1) / 2; c0 <= N; c0 += 1)
          for (int c1 = 0; c1 <= N + M - c0; c1 += 1)
            S(c0, c1);
        """
    )
    assert_no_larger(program, min_max=0)


def test_figure_6_one_loop_nest() -> None:
    """Section 4: the superset scanned by a perfect nest, with guards."""
    schedule = flat(
        "[N, M] -> { S1[i, j] -> [i, j] : 1 <= i <= N and 1 <= j <= M;"
        " S2[i, j] -> [i, j] : 3 <= i <= N and j = i }",
        "[N, M] -> { : N >= 3 and M >= 1 }",
    )
    program = proved_program(schedule, loop_type=LoopType.ATOMIC)
    assert text(program) == c(
        """
        for (int c0 = 1; c0 <= N; c0 += 1)
          for (int c1 = 1; c1 <= (c0 < M || c0 <= 2 ? M : c0); c1 += 1) {
            if (c1 <= M)
              S1(c0, c1);
            if (c0 >= 3 && c1 == c0)
              S2(c0, c0);
          }
        """
    )
    assert_no_larger(program, loops=2, ifs=2, calls=2)


def test_figure_7_separation() -> None:
    """The running example: no test inside a loop that scans a single statement."""
    schedule = flat(
        "[N, M] -> { S1[i, j] -> [i, j] : 1 <= i <= N and 1 <= j <= M;"
        " S2[i, j] -> [i, j] : 3 <= i <= N and j = i }",
        "[N, M] -> { : N >= 3 and M >= 1 }",
    )
    program = proved_program(schedule, loop_type=LoopType.SEPARATE)
    assert text(program) == c(
        """
        for (int c0 = 1; c0 <= 2; c0 += 1)
          for (int c1 = 1; c1 <= M; c1 += 1)
            S1(c0, c1);
        for (int c0 = 3; c0 <= N; c0 += 1) {
          for (int c1 = 1; c1 <= min(M, c0 - 1); c1 += 1)
            S1(c0, c1);
          if (c0 <= M) {
            S1(c0, c0);
            S2(c0, c0);
            for (int c1 = c0 + 1; c1 <= M; c1 += 1)
              S1(c0, c1);
          } else
            S2(c0, c0);
        }
        """
    )
    assert_no_larger(program, loops=5, ifs=2, calls=6, min_max=1)


def test_figure_12_second_separation() -> None:
    """Section 6: the loops that are empty in part of the context are separated from it."""
    schedule = flat(
        "[N, M] -> { S1[i, j] -> [i, j] : 1 <= i <= N and 1 <= j <= M;"
        " S2[i, j] -> [i, j] : 3 <= i <= N and j = i }",
        "[N, M] -> { : N >= 3 and M >= 1 }",
    )
    program = proved_program(schedule, loop_type=LoopType.SEPARATE, dead_loops=True)
    assert text(program) == c(
        """
        for (int c0 = 1; c0 <= 2; c0 += 1)
          for (int c1 = 1; c1 <= M; c1 += 1)
            S1(c0, c1);
        for (int c0 = 3; c0 <= min(N, M - 1); c0 += 1) {
          for (int c1 = 1; c1 < c0; c1 += 1)
            S1(c0, c1);
          S1(c0, c0);
          S2(c0, c0);
          for (int c1 = c0 + 1; c1 <= M; c1 += 1)
            S1(c0, c1);
        }
        if (M >= 3 && N >= M) {
          for (int c1 = 1; c1 <= M; c1 += 1)
            S1(M, c1);
          S2(M, M);
        }
        for (int c0 = max(3, M + 1); c0 <= N; c0 += 1) {
          for (int c1 = 1; c1 <= M; c1 += 1)
            S1(c0, c1);
          S2(c0, c0);
        }
        """
    )
    assert_no_larger(program, loops=8, calls=9)


def test_section_6_1_outer_loops_perfect() -> None:
    """Separation only inside: the outer loop scans the union."""
    schedule = flat(
        "[N, M] -> { S1[i, j] -> [i, j] : 1 <= i <= N and 1 <= j <= M;"
        " S2[i, j] -> [i, j] : 3 <= i <= N and j = i }",
        "[N, M] -> { : N >= 3 and M >= 1 }",
    )
    program = proved_program(schedule, loop_type=LoopType.SEPARATE, separate_from=1)
    assert text(program) == c(
        """
        for (int c0 = 1; c0 <= N; c0 += 1) {
          for (int c1 = 1; c1 <= min(M, c0 - 1); c1 += 1)
            S1(c0, c1);
          if (c0 <= M) {
            S1(c0, c0);
            if (c0 >= 3)
              S2(c0, c0);
            for (int c1 = c0 + 1; c1 <= M; c1 += 1)
              S1(c0, c1);
          } else if (c0 >= 3)
            S2(c0, c0);
        }
        """
    )
    assert_no_larger(program, loops=4)


def test_section_6_1_separation_stopped() -> None:
    """Separation only outside: code size is bounded by the outer level."""
    schedule = flat(
        "[N, M] -> { S1[i, j] -> [i, j] : 1 <= i <= N and 1 <= j <= M;"
        " S2[i, j] -> [i, j] : 3 <= i <= N and j = i }",
        "[N, M] -> { : N >= 3 and M >= 1 }",
    )
    program = proved_program(schedule, loop_type=LoopType.SEPARATE, separate_depth=1)
    assert text(program) == c(
        """
        for (int c0 = 1; c0 <= 2; c0 += 1)
          for (int c1 = 1; c1 <= M; c1 += 1)
            S1(c0, c1);
        for (int c0 = 3; c0 <= N; c0 += 1)
          for (int c1 = 1; c1 <= max(M, c0); c1 += 1) {
            if (c1 <= M)
              S1(c0, c1);
            if (c1 == c0)
              S2(c0, c0);
          }
        """
    )
    assert_no_larger(program, loops=4, calls=3)


def test_running_example_without_min_and_max() -> None:
    """Splitting reaches the parameters where the outermost loops need it."""
    schedule = flat(
        "[N, M] -> { S1[i, j] -> [i, j] : 1 <= i <= N and 1 <= j <= M;"
        " S2[i, j] -> [i, j] : 3 <= i <= N and j = i }",
        "[N, M] -> { : N >= 3 and M >= 1 }",
    )
    program = proved_program(schedule, loop_type=LoopType.SEPARATE, split_bounds=True)
    assert text(program) == c(
        """
        if (M >= N) {
          for (int c0 = 1; c0 <= 2; c0 += 1)
            for (int c1 = 1; c1 <= M; c1 += 1)
              S1(c0, c1);
          for (int c0 = 3; c0 <= N; c0 += 1) {
            for (int c1 = 1; c1 < c0; c1 += 1)
              S1(c0, c1);
            S1(c0, c0);
            S2(c0, c0);
            for (int c1 = c0 + 1; c1 <= M; c1 += 1)
              S1(c0, c1);
          }
        } else if (M >= 2) {
          for (int c0 = 1; c0 <= 2; c0 += 1)
            for (int c1 = 1; c1 <= M; c1 += 1)
              S1(c0, c1);
          for (int c0 = 3; c0 <= M; c0 += 1) {
            for (int c1 = 1; c1 < c0; c1 += 1)
              S1(c0, c1);
            S1(c0, c0);
            S2(c0, c0);
            for (int c1 = c0 + 1; c1 <= M; c1 += 1)
              S1(c0, c1);
          }
          for (int c0 = M + 1; c0 <= N; c0 += 1) {
            for (int c1 = 1; c1 <= M; c1 += 1)
              S1(c0, c1);
            S2(c0, c0);
          }
        } else {
          for (int c0 = 1; c0 <= 2; c0 += 1)
            S1(c0, 1);
          for (int c0 = 3; c0 <= N; c0 += 1) {
            S1(c0, 1);
            S2(c0, c0);
          }
        }
        """
    )
    assert_no_larger(program, min_max=0)


def test_section_4_interleaved_schedules() -> None:
    """Times i + 1 and 2i interleave: the loops are merged in part."""
    schedule = flat("{ S1[i] -> [i + 1] : 1 <= i <= 10; S2[i] -> [2i] : 4 <= i <= 12 }")
    program = proved_program(schedule, loop_type=LoopType.SEPARATE)
    assert text(program) == c(
        """
        for (int c0 = 2; c0 <= 7; c0 += 1)
          S1(c0 - 1);
        for (int c0 = 8; c0 <= 11; c0 += 1) {
          S1(c0 - 1);
          if (c0 % 2 == 0)
            S2(c0 / 2);
        }
        for (int c0 = 6; c0 <= 12; c0 += 1)
          S2(c0);
        """
    )


def test_section_6_2_non_unimodular() -> None:
    """The stride of i -> 2i + 1 is found, no test remains."""
    schedule = flat("[N] -> { S[i] -> [2i + 1] : 1 <= i <= N }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 1; c0 <= N; c0 += 1)
          S(c0);
        """
    )
    assert_no_larger(program, loops=1, ifs=0, calls=1, remainders=0)


def test_section_6_3_data_parallel() -> None:
    """What the schedule leaves unordered is a parallel loop."""
    schedule = flat("[N] -> { S[i, j] -> [i + j] : 0 <= i < N and 0 <= j < N }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 < 2 * N - 1; c0 += 1)
          // parallel
          for (int c1 = max(0, c0 - N + 1); c1 <= min(N - 1, c0); c1 += 1)
            S(c1, c0 - c1);
        """
    )
    assert_no_larger(program, loops=2, ifs=0, calls=1)
