"""The examples of [Grosser2015, section 5].

Each expected text is what we generate and prove; the sizes beside it are those of the publication.
"""

from __future__ import annotations

from tests.generate.support import assert_no_larger, c, flat, proved_program, text, tree


def test_example_5_1_elimination_is_not_quantifier_elimination() -> None:
    """One loop at the outer level: Fourier-Motzkin elimination does not split it as (6) would."""
    schedule = flat("[N] -> { S[t, a] -> [t, a] : a >= t - 1 and 2a >= t + 1 and a <= t and 4a <= N + 2t }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 1; c0 <= floord(N, 2) + 2; c0 += 1)
          for (int c1 = max(c0 - 1, c0 / 2 + 1); c1 <= min(c0, (N + 2 * c0) / 4); c1 += 1)
            S(c0, c1);
        """
    )
    assert_no_larger(program, loops=2, ifs=0, calls=1)


def test_example_5_2_division_of_the_level_itself() -> None:
    """A constraint on ⌊(i + 1)/3⌋ cannot bound i; it becomes a condition."""
    schedule = flat("{ S[i] -> [i] : 3*floor((i + 1)/3) <= i and 0 <= i <= 3 }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 <= 3; c0 += 1)
          if ((c0 + 1) % 3 >= 1)
            S(c0);
        """
    )
    assert_no_larger(program, loops=1, ifs=1, calls=1, remainders=1)


def test_example_5_3_and_5_8_merged_strides() -> None:
    """Strides 6 and 10 merge into 30; that n − m is even is what they imply."""
    schedule = flat(
        "[n, m] -> { S[i] -> [i] : exists a, b : 0 <= i <= 100 and n - i + 6a = 0 and m - i + 10b = 0 }"
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        if ((n + m) % 2 == 0)
          for (int c0 = 6 * m - 5 * n + 30 * floord(5 * n - 6 * m + 29, 30); c0 <= 100; c0 += 30)
            S(c0);
        """
    )
    assert_no_larger(program, loops=1, ifs=1, calls=1, min_max=0)


def test_example_5_4_single_value() -> None:
    """A stride and two bounds leave one value, and no loop."""
    schedule = flat("[n] -> { S[i] -> [i] : i >= 1 and n - 1 <= i <= n and 4*floor((i - 2)/4) = i - 2 }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        if (n >= 0 && n % 4 >= 2)
          S(4 * (n / 4) + 2);
        """
    )
    assert_no_larger(program, loops=0, ifs=1, calls=1)


def test_example_5_5_enforced_by_the_inner_loop() -> None:
    """n ≥ 1 need not be tested: the inner loop does."""
    schedule = flat("[n, m] -> { S[i, j] -> [i, j] : 0 <= i < m and 0 <= j < n }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 < m; c0 += 1)
          for (int c1 = 0; c1 < n; c1 += 1)
            S(c0, c1);
        """
    )
    assert_no_larger(program, loops=2, ifs=0, calls=1)


def test_example_5_5_without_nested_bounds() -> None:
    """The user may want the test outside."""
    schedule = flat("[n, m] -> { S[i, j] -> [i, j] : 0 <= i < m and 0 <= j < n }")
    program = proved_program(schedule, nested_bounds=False)
    assert text(program) == c(
        """
        if (n >= 1)
          for (int c0 = 0; c0 < m; c0 += 1)
            for (int c1 = 0; c1 < n; c1 += 1)
              S(c0, c1);
        """
    )
    assert_no_larger(program, loops=2, ifs=1, calls=1)


def test_example_5_6_implied_by_a_stride() -> None:
    """The stride implies that n is even, which the loop alone would not test."""
    schedule = flat("[n] -> { S[t] -> [t] : exists a : 2t - n = 4a and 0 <= t <= 100 }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        if (n % 2 == 0)
          for (int c0 = 2 * floord(n + 3, 4) - n / 2; c0 <= 100; c0 += 2)
            S(c0);
        """
    )
    assert_no_larger(program, loops=1, ifs=1, calls=1, min_max=0)


def test_example_5_7_atomic_without_upper_bound() -> None:
    """The shared constraints have no upper bound; it comes from the domain, here as a maximum."""
    schedule = flat(
        "[M] -> { S1[i] -> [i, 0] : 0 <= i <= M; S2[] -> [0, 1] }", options="{ [a, b] -> atomic[0] }"
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 <= max(0, M); c0 += 1) {
          if (c0 <= M)
            S1(c0);
          if (c0 == 0)
            S2();
        }
        """
    )
    assert_no_larger(program, loops=1, ifs=2, calls=2)


def test_example_5_9_single_upper_bound() -> None:
    """One comparison with a minimum, as OpenMP wants it."""
    schedule = flat(
        "[M, N] -> { S[i] -> [i] : 0 <= i and M >= i + 1 and N >= 3i + 8 }", "[N] -> { : N >= 0 }"
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 < min(M, (N + 1) / 3 - 2); c0 += 1)
          S(c0);
        """
    )
    assert_no_larger(program, loops=1, ifs=0, calls=1, min_max=1)


def test_example_5_9_conjunction() -> None:
    """A conjunction of comparisons, without division."""
    schedule = flat(
        "[M, N] -> { S[i] -> [i] : 0 <= i and M >= i + 1 and N >= 3i + 8 }", "[N] -> { : N >= 0 }"
    )
    program = proved_program(schedule, single_upper_bound=False)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 < M && 3 * c0 + 8 <= N; c0 += 1)
          S(c0);
        """
    )
    assert_no_larger(program, loops=1, ifs=0, calls=1, min_max=0, divisions=0)


def test_example_5_10_separation() -> None:
    """Each statement in the pieces where it runs."""
    schedule = flat(
        "[M] -> { S1[i] -> [i, 0] : 0 <= i <= M; S2[] -> [0, 1] }", options="{ [a, b] -> separate[0] }"
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        if (M >= 0) {
          S1(0);
          S2();
          for (int c0 = 1; c0 <= M; c0 += 1)
            S1(c0);
        } else
          S2();
        """
    )
    assert_no_larger(program, loops=1, ifs=1, calls=4)


def test_example_5_11_unrolling_with_a_stride() -> None:
    """256 is the step: four copies, not 1024."""
    schedule = flat("{ S[i] -> [i] : 0 <= i < 1024 and i mod 256 = 0 }", options="{ [i] -> unroll[0] }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        S(0);
        S(256);
        S(512);
        S(768);
        """
    )
    assert_no_larger(program, loops=0, ifs=0, calls=4)


def test_example_5_12_best_lower_bound() -> None:
    """From N there are 4 slices, from 0 a thousand."""
    schedule = flat(
        "[N] -> { S[i] -> [i] : 0 <= i < 1000 and N <= i < N + 4 }", options="{ [i] -> unroll[0] }"
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        if (N >= 0 && N <= 999)
          S(N);
        if (N >= -1 && N <= 998)
          S(N + 1);
        if (N >= -2 && N <= 997)
          S(N + 2);
        if (N >= -3 && N <= 996)
          S(N + 3);
        """
    )
    assert_no_larger(program, loops=0, ifs=4, calls=4)


def test_example_5_13_isolation() -> None:
    """The full strips of four apart from prologue, epilogue and the case without any."""
    schedule = tree(
        """
        domain: "[m, n] -> { S[i] : m <= i < n }"
        child:
          schedule: "[{ S[i] -> [4*floor(i/4)] }, { S[i] -> [i] }]"
          options: "[m, n] -> { isolate[[] -> [t, i]] : m <= t and t + 3 < n }"
        """
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        if (n >= m + 4 && m > 4 * floord(m, 4))
          for (int c1 = m; c1 <= 4 * floord(m, 4) + 3; c1 += 1)
            S(c1);
        for (int c0 = 4 * floord(m + 3, 4); c0 < n - 3; c0 += 4)
          for (int c1 = c0; c1 <= c0 + 3; c1 += 1)
            S(c1);
        if (n >= m + 4)
          for (int c1 = 4 * floord(n, 4); c1 < n; c1 += 1)
            S(c1);
        else
          for (int c0 = 4 * floord(m, 4); c0 < n; c0 += 4)
            for (int c1 = max(m, c0); c1 <= min(n - 1, c0 + 3); c1 += 1)
              S(c1);
        """
    )
    assert_no_larger(program, loops=6, ifs=3, calls=4, min_max=2)


def test_example_5_14_components() -> None:
    """S0 is not scheduled after any S1: no separation, no condition."""
    schedule = flat("{ S0[] -> [0]; S1[i] -> [i] : 0 <= i < 10 }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        S0();
        for (int c0 = 0; c0 <= 9; c0 += 1)
          S1(c0);
        """
    )
    assert_no_larger(program, loops=1, ifs=0, calls=2)


def test_example_5_15_and_5_16_shifted_strides() -> None:
    """Even and odd times share one loop of stride 2."""
    schedule = flat("{ A[i] -> [2i] : 0 <= i < 10; B[i] -> [2i + 1] : 0 <= i < 10 }")
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 0; c0 <= 9; c0 += 1) {
          A(c0);
          B(c0);
        }
        """
    )
    assert_no_larger(program, loops=1, ifs=0, calls=2)


def test_example_5_18_tree_of_ifs() -> None:
    """The guards (53) in one tree of ifs; the last statement needs none."""
    schedule = flat(
        "[l, u, n] -> { s0[i, j] -> [i, j, 0, 0] : l <= i <= u and i + 1 <= j <= n;"
        " s3[i, j] -> [i, j, 1, 0] : 1 <= i < l and i <= j <= n;"
        " s2[i, j] -> [i, j, 2, 0] : l <= i <= u and i + 1 <= j <= n and u < n;"
        " s1[i, j, k] -> [i, j, 3, k] : 1 <= i <= u and i <= j <= n and l <= k <= u and i <= k }",
        "[l, u, n] -> { : 1 <= l <= u <= n }",
        "{ [i, j, k, m] -> atomic[x] : x < 2 }",
    )
    program = proved_program(schedule)
    assert text(program) == c(
        """
        for (int c0 = 1; c0 <= u; c0 += 1)
          for (int c1 = c0; c1 <= n; c1 += 1) {
            if (c0 >= l && c1 > c0) {
              s0(c0, c1);
              if (n > u)
                s2(c0, c1);
            } else if (c0 < l)
              s3(c0, c1);
            for (int c3 = max(l, c0); c3 <= u; c3 += 1)
              s1(c0, c1, c3);
          }
        """
    )
    assert_no_larger(program, loops=3, ifs=3, calls=4, min_max=1)
