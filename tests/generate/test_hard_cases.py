"""Inputs that have broken generators, ours or others'; each is proved, some have their text."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from loopwright.errors import BadInput, GaveUp
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.loops.interpreter import execute
from loopwright.loops.traverse import size
from loopwright.model.schedule import LoopType
from tests.generate.support import c, code, flat, proved_program, tree


@pytest.mark.parametrize("loop_type", LoopType)
def test_piecewise_value_that_is_not_a_minimum(loop_type: LoopType) -> None:
    """n/2 for n ≤ 0 even, else 0: neither min(0, n/2) nor max(0, n/2) for all n."""
    schedule = flat("[n] -> { S[i] -> [i] : (2i = n and n <= 0) or (i = 0 and n > 0) }")
    proved_program(schedule, loop_type=loop_type)


def test_upper_bound_that_mentions_its_own_iterator() -> None:
    """After coalescing a bound may hold ⌊i/2⌋: it must not end the loop early."""
    schedule = flat(
        "[n] -> { S[i] -> [i] : 0 <= i <= n and (i <= 10 or i <= 2*floor(n/2)) or"
        " (i = 12 and n mod 5 = 0 and n > 20) }",
        options="{ [i] -> atomic[0] }",
    )
    program = proved_program(schedule)
    assert [arguments for _, arguments in execute(program, {"n": 21})] == [(i,) for i in range(21)]


def test_atomic_pieces_that_are_not_disjoint() -> None:
    """The hull of each region reaches into the other one."""
    schedule = flat(
        "[n] -> { S[i] -> [i] : 0 <= i < 20; T[i] -> [i] : 5 <= i < 9 or 12 <= i < 30 }",
        options="{ [i] -> atomic[0] : i mod 3 = 0; [i] -> separate[0] : i mod 3 = 1 }",
    )
    proved_program(schedule)


def test_huge_stride_is_unrolled_by_its_steps() -> None:
    schedule = flat(
        "{ S[i] -> [i] : exists a : i = 100000000a and 0 <= i <= 500000000 }", options="{ [i] -> unroll[0] }"
    )
    assert size(proved_program(schedule)).calls == 6


def test_unrolling_beyond_32_bits_gives_up() -> None:
    schedule = flat("{ S[i] -> [i] : 0 <= i <= 5000000000 }", options="{ [i] -> unroll[0] }")
    with pytest.raises(GaveUp, match="5000000001 copies"):
        generate(schedule)


def test_guard_stays_inside_the_loop_of_its_iterator() -> None:
    schedule = flat("[n] -> { S[i, j] -> [i, j] : 0 <= i < 10 and 0 <= j < n and (i mod 2 = 0 or n > 5) }")
    first = code(schedule).splitlines()[0]
    assert not (first.startswith("if") and "c0" in first)


def test_stride_of_a_fixed_value() -> None:
    assert code(flat("[n] -> { S[i] -> [i] : i = 5 and n mod 3 = 1 }")) == c(
        """
        if ((n - 1) % 3 == 0)
          S(5);
        """
    )


def test_empty_only_under_the_context() -> None:
    schedule = flat("[n] -> { S[i] -> [i] : 0 <= i < n; T[i] -> [i] : n <= i < 5 }", "[n] -> { : n >= 9 }")
    assert code(schedule) == c(
        """
        for (int c0 = 0; c0 < n; c0 += 1)
          S(c0);
        """
    )


def test_nothing_to_do() -> None:
    assert code(flat("[n] -> { S[i] -> [i] : 1 = 0 }")) == ""


def test_largest_int_does_not_leak_into_remainders() -> None:
    schedule = flat(
        "[n] -> { S[i] -> [32*floor(i/32), i mod 32] : 0 <= i < n }", "[n] -> { : 0 <= n <= 2147483647 }"
    )
    assert "21474836" not in code(schedule)


def test_schedule_values_without_instances_do_not_confuse_components() -> None:
    """B's times lie between A's, but never at the same outer value."""
    schedule = flat(
        "{ A[i] -> [i, 0] : 0 <= i < 10 and i mod 2 = 0; B[i] -> [i, i mod 2] : 0 <= i < 10 and i mod 2 = 1 }"
    )
    proved_program(schedule)


def test_several_times_of_an_instance() -> None:
    """A schedule that is not single-valued runs an instance at each of its times."""
    schedule = flat("{ A[i] -> [t, i] : 0 <= i < 5 and i <= t <= i + 2 }")
    program = proved_program(schedule)
    assert len(list(execute(program, {}))) == 15


def test_parameter_called_like_an_iterator() -> None:
    schedule = flat("[c0, c1] -> { S[i, j] -> [i, j] : 0 <= i < c0 and 0 <= j < c1 }")
    assert code(schedule) == c(
        """
        for (int t0 = 0; t0 < c0; t0 += 1)
          for (int t1 = 0; t1 < c1; t1 += 1)
            S(t0, t1);
        """
    )


def test_no_lower_bound_is_an_error() -> None:
    with pytest.raises(BadInput, match="no lower bound"):
        generate(flat("[n] -> { S[i] -> [i] : i <= n }"))


def test_infinite_loop() -> None:
    assert code(flat("[n] -> { S[i] -> [i] : i >= n }")) == c(
        """
        for (int c0 = n; ; c0 += 1)
          S(c0);
        """
    )


def test_endless_only_where_there_is_something_to_do() -> None:
    schedule = flat(
        "[n] -> { S[i] -> [i, 0] : i >= n and n >= 5; T[i] -> [i, 1] : n <= i <= 10 }",
        options="{ [i, j] -> atomic[0] }",
    )
    assert code(schedule) == c(
        """
        if (n >= 5)
          for (int c0 = n; ; c0 += 1) {
            S(c0);
            if (c0 <= 10)
              T(c0);
          }
        else
          for (int c0 = n; c0 <= 10; c0 += 1)
            T(c0);
        """
    )


def test_unrolling_without_a_constant_bound_is_an_error() -> None:
    with pytest.raises(BadInput, match="cannot be unrolled"):
        generate(flat("[n] -> { S[i] -> [i] : 0 <= i < n }", options="{ [i] -> unroll[0] }"))


def test_too_many_statement_copies() -> None:
    schedule = flat("{ S[i] -> [i] : 0 <= i < 50 }", options="{ [i] -> unroll[0] }")
    with pytest.raises(GaveUp, match="more than 10 statement copies"):
        generate(schedule, GenerationOptions(max_statements=10))


def test_access_function_is_specialised_to_its_place() -> None:
    """[Grosser2015, section 2]: in the isolated part the boundary case is gone."""
    schedule = tree(
        """
        domain: "[N] -> { S[i] : 0 <= i < N }"
        child:
          schedule: "[{ S[i] -> [i] }]"
          options: "[N] -> { isolate[[] -> [t]] : t >= 1 }"
        """
    )
    neighbours = isl.Map("[N] -> { S[i] -> [i, N - 1] : i = 0; S[i] -> [i, i - 1] : i > 0 }")
    assert code(replace(schedule, arguments={"S": neighbours})) == c(
        """
        if (N >= 2) {
          S(0, N - 1);
          for (int c0 = 1; c0 < N; c0 += 1)
            S(c0, c0 - 1);
        } else if (N == 1)
          S(0, 0);
        """
    )


def test_isolated_parts_do_not_overlap() -> None:
    """Atomic parts are over-approximated, but each keeps to its own instances."""
    schedule = tree(
        """
        domain: "[n, m] -> { S0[i] : 0 <= i <= 3; S1[i, j] : 0 <= i <= 3 and 0 <= j <= m; S2[i] : 0 <= i < n}"
        child:
          schedule: "[n, m] -> [{ S0[i] -> [0]; S1[i, j] -> [i]; S2[i] -> [i] }]"
          options: "[n, m] -> { isolate[[] -> [t0]] : 1 <= t0 <= 3 }"
        """
    )
    proved_program(schedule, loop_type=LoopType.ATOMIC)


def test_marks_do_not_repeat_the_guard_around_them() -> None:
    schedule = tree(
        """
        domain: "[n] -> { S[i] : 0 <= i < n }"
        child:
          schedule: "[n] -> [{ S[i] -> [(4*floor((i)/4))] }]"
          options: "[n] -> { isolate[[] -> [t]] : 0 <= t <= n - 4 }"
          child:
            mark: "block"
            child:
              schedule: "[n] -> [{ S[i] -> [(i mod 4)] }]"
              options: "[n] -> { isolate[[t] -> [u]] : 0 <= t <= n - 4; [isolate[] -> unroll[0]] }"
        """
    )
    assert code(schedule) == c(
        """
        for (int c0 = 0; c0 < n - 3; c0 += 4) {
          // block
          S(c0);
          S(c0 + 1);
          S(c0 + 2);
          S(c0 + 3);
        }
        if (n >= 1)
          // block
          for (int c1 = 0; c1 < n % 4; c1 += 1)
            S(c1 + 4 * (n / 4));
        """
    )


def test_the_partial_tile_is_one_loop_be_it_the_last_or_the_only_one() -> None:
    schedule = tree(
        """
        domain: "[n] -> { S[i] : 0 <= i < n }"
        child:
          schedule: "[n] -> [{ S[i] -> [(floor((i)/4))] }, { S[i] -> [(i)] }]"
          options: "[n] -> { isolate[[] -> [t, i]] : 0 <= t and 4t + 3 < n }"
        """
    )
    assert code(schedule) == c(
        """
        for (int c0 = 0; c0 < floord(n, 4); c0 += 1)
          for (int c1 = 4 * c0; c1 <= 4 * c0 + 3; c1 += 1)
            S(c1);
        if (n >= 1 && (n - 1) % 4 <= 2)
          for (int c1 = 4 * ((n - 1) / 4); c1 < n; c1 += 1)
            S(c1);
        """
    )


def test_unknown_divisions_in_a_guard() -> None:
    schedule = flat(
        "[n, m] -> { S0[i] -> [-2i - 1, 1] : 0 <= i <= m and i <= 9 and (3i - n + 1) mod 2 = 1 and"
        " (i - 2n + 2) mod 3 = 1; S1[i, j] -> [n - i, 2j - 1] : 0 <= i <= n + 1 and 0 <= j <= 9 and j != 1;"
        " S2[i] -> [n - i, 1] : n <= i <= m and -8 <= i <= 9 }",
        options="{ [t0, t1] -> separate[0] : t0 >= 1 }",
    )
    proved_program(schedule)


@pytest.mark.parametrize("split_bounds", [False, True])
def test_looking_ahead_keeps_pieces_apart(split_bounds: bool) -> None:
    """Cuts of different pieces may overlap once their divisions are gone: they are merged again."""
    schedule = flat(
        "[n, m] -> { S0[i, j] -> [i, i, j] : i <= 0 and i <= 3 and 0 <= j <= 3 and (0 <= i or n <= i >= -8);"
        " S0[i, j] -> [i, j, i] : 0 < i <= 3 and 0 <= j <= 3;"
        " S1[i] -> [2i - 1, i, i] : 0 <= i <= n + 1 and i <= 9 }",
        options="{ [t0, t1, t2] -> separate[0]; [t0, t1, t2] -> atomic[1] }",
    )
    proved_program(schedule, dead_loops=True, split_bounds=split_bounds)


def test_what_an_extension_adds_for_several_statements_runs_once() -> None:
    """S and T need not be interleaved, but what is added at the time they share would run for each."""
    schedule = tree(
        """
        domain: "[n] -> { S[i] : 0 <= i <= n; T[i] : n <= i <= 2n }"
        child:
          schedule: "[n] -> [{ S[i] -> [(i)]; T[i] -> [(i)] }]"
          child:
            extension: "[n] -> { [t] -> E[t, e] : 0 <= e <= 1 }"
            child:
              sequence:
                - filter: "[n] -> { S[i] }"
                - filter: "[n] -> { E[t, e] }"
                  child: { schedule: "[n] -> [{ E[t, e] -> [(e)] }]" }
                - filter: "[n] -> { T[i] }"
        """
    )
    for options in ({}, {"loop_type": LoopType.SEPARATE}, {"loop_type": LoopType.ATOMIC}):
        run = execute(proved_program(schedule, **options), {"n": 1})
        added = [name for name, _ in run].count("E")
        assert added == 6


def test_the_rest_of_an_isolation_has_bounds_that_a_loop_can_have() -> None:
    """What the parts beside the isolated one share may be said with divisions of the iterator itself."""
    schedule = tree(
        """
        domain: "[n, m] -> { S[i] : DOMAIN }"
        child:
          context: "[n, m] -> { [] : n >= 0 }"
          child:
            schedule: "[n, m] -> [{ S[i] -> [(i)] }]"
            options: "[n, m] -> { atomic[0]; isolate[[] -> [t0]] : 0 <= t0 <= n }"
        """.replace(
            "DOMAIN",
            "(1 <= i <= m and i <= 9 and (exists e : 2i + 3 = 3e and e >= -1) and"
            " (exists e : -2i + 1 - 1 <= 2e <= -2i + 1 + 0)) or (0 <= i <= n and i <= 9 and"
            " (exists e : 2i + 3 = 3e and e >= -1) and (exists e : 1 - 1 <= 2e <= 1 + 0))",
        )
    )
    assert code(schedule) == c(
        """
        for (int c0 = 0; c0 <= min(9, n); c0 += 3)
          S(c0);
        for (int c0 = max(3, 3 * (n / 3) + 3); c0 <= min(9, m); c0 += 3)
          S(c0);
        """
    )


def test_nested_unrolled_bands_under_an_isolated_one() -> None:
    schedule = tree(
        """
        domain: "[n, m] -> { S[i, j] : (-1 <= i <= n + 1 and -1 <= j <= m and i <= 9 and j <= 9) or SOME }"
        child:
          context: "[n, m] -> { [] : n >= 0 }"
          child:
            schedule: "[n, m] -> [{ S[i, j] -> [(i mod 2)] }, { S[i, j] -> [(j)] }]"
            options: "[n, m] -> { unroll[1]; isolate[[] -> [t0, t1]] : -1 <= t0 <= m }"
            child:
              schedule: "[n, m] -> [{ S[i, j] -> [(i mod 2)] : j <= 2; S[i, j] -> [(n - j)] : j > 2 }, LAST]"
              options: "[n, m] -> { unroll[0]; unroll[1] }"
        """.replace("SOME", "(-1 <= i <= m and i <= 9 and 0 <= j <= i)").replace(
            "LAST", "{ S[i, j] -> [(-i)] : j <= -1; S[i, j] -> [(i)] : j > -1 }"
        )
    )
    proved_program(schedule)


def test_an_equality_with_a_hidden_variable_is_not_a_bound() -> None:
    """The times 16⌊i/16⌋ go on for ever; isl's test of a bound says they do not, and its maximum fails."""
    assert code(flat("[n] -> { S[i] -> [i mod 4, 16*floor(i/16)] : i >= n }", "[n] -> { : n >= 0 }")) == c(
        """
        for (int c0 = 0; c0 <= 3; c0 += 1)
          for (int c1 = 16 * (n / 16); ; c1 += 16)
            // parallel
            for (int c2 = max(n - (n - c0 + 3) % 4 + 3, c0 + c1); c2 <= c1 + 15; c2 += 4)
              S(c2);
        """
    )
    with pytest.raises(BadInput, match="no lower bound"):
        generate(flat("[n] -> { S[i] -> [i mod 4, 16*floor(i/16)] : i <= n }"))


def test_an_endless_loop_counts_on_no_inner_one_to_be_left() -> None:
    """Where n < 2 there is nothing to execute, and the loop over c1 would not end."""
    schedule = flat("[n] -> { S[i, j, k] -> [i, j, k] : i = 2 and j >= 1 and i <= k <= n }")
    assert code(schedule) == c(
        """
        if (n >= 2)
          for (int c1 = 1; ; c1 += 1)
            for (int c2 = 2; c2 <= n; c2 += 1)
              S(2, c1, c2);
        """
    )


def test_an_endless_loop_runs_only_where_integers_are_left() -> None:
    """Rational points are left where n ≥ -2, too."""
    program = proved_program(
        flat("[n] -> { S[i, j, k] -> [4i + 10k, j, i] : i >= 1 and j >= 0 and 2j <= k <= floor(n/3) }")
    )
    assert list(execute(program, {"n": -1}, 1_000)) == []


def test_a_stride_that_isl_merges_wrongly_is_not_used() -> None:
    """S(2, 1, 1) would be missing for n = 11."""
    schedule = flat(
        "[n] -> { S[i, j, k] -> [floor((i + j + k - 3)/7), -i - 2*j + 5*k - 1, 0] :"
        " 0 <= i <= n and 0 <= j < i and 0 <= k <= 3 and 5*i + k >= n }"
    )
    proved_program(schedule, dead_loops=True)


def test_slices_of_an_unrolled_dimension_are_told_by_outer_ones_alone() -> None:
    """Of i mod 3 and two quotients of i, each is a sum of the others: a bound was told by the last."""
    schedule = tree(
        '{ domain: "[m] -> { S[i] : -1 <= i <= m and i <= 9 }", child:'
        ' { schedule: "[m] -> [{ S[i] -> [(i mod 3)] }]", child:'
        ' { schedule: "[m] -> [{ S[i] -> [(floor((-2i + 2)/3))] }, { S[i] -> [(floor((-2i + 3)/3))] }]",'
        ' options: "[m] -> { unroll[0]; separate[1] }" } } }'
    )
    proved_program(schedule)
