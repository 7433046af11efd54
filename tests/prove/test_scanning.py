"""Each obligation of the scanning proof: programs it accepts, and the witness where it does not."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.errors import InternalError
from loopwright.loops.nodes import EMPTY, Node, Remarked
from loopwright.model.schedule import Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved, Refuted, Undecided
from tests.prove.build import block, call, flat, let, loop, tree, when

LINE = flat("[n] -> { S[i] -> [i] : 0 <= i < n }")
TRIANGLE = flat("[n] -> { S[i, j] -> [i, j] : 0 <= j <= i < n }")


def proved(schedule: Schedule, program: Node) -> None:
    verdict = prove_scan(schedule, program)
    assert isinstance(verdict, Proved), verdict
    assert verdict.obligations > 0


def refuted(schedule: Schedule, program: Node, obligation: str, message: str) -> Refuted:
    verdict = prove_scan(schedule, program)
    assert isinstance(verdict, Refuted), verdict
    assert (verdict.obligation, verdict.message) == (obligation, message)
    return verdict


# Coverage


def test_a_loop_that_runs_its_domain() -> None:
    proved(LINE, loop("i", "0", "i < n", call("S", "i")))


def test_missing_the_last_iteration() -> None:
    program = loop("i", "0", "i < n - 1", call("S", "i"))
    verdict = refuted(LINE, program, "missing", "S(0) is never executed for n = 1")
    assert verdict.witness == "n = 1: S(0)"
    assert verdict.parameters == {"n": 1}
    assert verdict.instances == (("S", (0,)),)


def test_missing_everything() -> None:
    refuted(LINE, EMPTY, "missing", "S(0) is never executed for n = 1")


def test_one_iteration_too_many() -> None:
    refuted(
        LINE,
        loop("i", "0", "i <= n", call("S", "i")),
        "extra",
        "S(0) is executed, but the schedule does not have it for n = 0",
    )


def test_a_statement_the_schedule_does_not_have() -> None:
    program = block(loop("i", "0", "i < n", call("S", "i")), call("T"))
    refuted(LINE, program, "extra", "T() is executed, but the schedule does not have it for n = 0")


def test_a_statement_with_the_wrong_number_of_arguments() -> None:
    program = block(loop("i", "0", "i < n", call("S", "i")), when("n > 2", call("S", "0", "0")))
    refuted(LINE, program, "extra", "S(0, 0) is executed, but the schedule does not have it for n = 3")


def test_an_unreachable_call_of_another_statement_does_no_harm() -> None:
    proved(LINE, block(loop("i", "0", "i < n", call("S", "i")), when("n < n", call("T"))))


def test_twice_by_two_calls() -> None:
    body = loop("i", "0", "i < n", call("S", "i"))
    refuted(LINE, block(body, when("n > 3", call("S", "3"))), "twice", "S(3) is executed twice for n = 4")


def test_twice_by_one_call() -> None:
    program = loop("i", "0", "i < n", loop("j", "0", "j < 2", call("S", "i")))
    refuted(LINE, program, "twice", "S(0) is executed twice for n = 1")


def test_tiles_determine_no_instance_twice() -> None:
    """Injective, though not by equalities: the tile is a quotient of the argument."""
    tiled = flat("[n] -> { S[i] -> [t, i] : t = floor(i/32) and 0 <= i < n }")
    inside = loop("i", "32 * t", "i < min(n, 32 * t + 32)", call("S", "i"))
    proved(tiled, loop("t", "0", "32 * t < n", inside))


def test_what_is_known_of_parameters_is_used() -> None:
    known = flat("[n] -> { S[i] -> [i] : 0 <= i < n }", "[n] -> { : n >= 1 }")
    program = block(call("S", "0"), loop("i", "1", "i < n", call("S", "i")))
    proved(known, program)
    refuted(LINE, program, "extra", "S(0) is executed, but the schedule does not have it for n = 0")


# Order


def test_reversed_loop() -> None:
    backwards = flat("[n] -> { S[i] -> [-i] : 0 <= i < n }")
    program = loop("i", "0", "i < n", call("S", "i"))
    refuted(
        backwards, program, "order", "S(0) runs before S(1), but the schedule orders S(1) first for n = 2"
    )
    proved(backwards, loop("i", "1 - n", "i <= 0", call("S", "-i")))


def test_interchanged_loops() -> None:
    program = loop("j", "0", "j < n", loop("i", "j", "i < n", call("S", "i", "j")))
    verdict = refuted(
        TRIANGLE,
        program,
        "order",
        "S(2, 0) runs before S(1, 1), but the schedule orders S(1, 1) first for n = 3",
    )
    assert verdict.instances == (("S", (2, 0)), ("S", (1, 1)))


def test_swapped_siblings() -> None:
    pair = flat("[n] -> { S[i] -> [i, 0] : 0 <= i < n; T[i] -> [i, 1] : 0 <= i < n }")
    proved(pair, loop("i", "0", "i < n", call("S", "i"), call("T", "i")))
    refuted(
        pair,
        loop("i", "0", "i < n", call("T", "i"), call("S", "i")),
        "order",
        "T(0) runs before S(0), but the schedule orders S(0) first for n = 1",
    )


def test_distributed_loops() -> None:
    pair = flat("[n] -> { S[i] -> [i, 0] : 0 <= i < n; T[i] -> [i, 1] : 0 <= i < n }")
    program = block(loop("i", "0", "i < n", call("S", "i")), loop("i", "0", "i < n", call("T", "i")))
    refuted(pair, program, "order", "S(1) runs before T(0), but the schedule orders T(0) first for n = 2")


def test_instances_at_the_same_time_run_in_any_order() -> None:
    together = flat("[n] -> { S[i] -> [0] : 0 <= i < n; T[i] -> [0] : 0 <= i < n }")
    proved(
        together,
        block(loop("i", "0", "i < n", call("T", "i")), loop("i", "1 - n", "i <= 0", call("S", "-i"))),
    )


def test_then_and_else_are_not_ordered() -> None:
    pair = flat("[n] -> { S[i] -> [i] : 0 <= i < n and 2 <= i; T[i] -> [i] : 0 <= i < n and i < 2 }")
    proved(pair, loop("i", "0", "i < n", when("i >= 2", call("S", "i"), call("T", "i"))))


def test_pieces_of_a_loop_in_order_and_swapped() -> None:
    first, second = loop("i", "0", "i < min(n, 10)", call("S", "i")), loop("i", "10", "i < n", call("S", "i"))
    proved(LINE, block(first, second))
    refuted(
        LINE,
        block(second, first),
        "order",
        "S(10) runs before S(0), but the schedule orders S(0) first for n = 11",
    )


def test_an_iterator_that_a_guard_makes_constant() -> None:
    """The time of T is 0 and also i: what is compared must be the same function for both."""
    pair = flat("[n] -> { S[i] -> [i, 1] : 0 <= i < n; T[] -> [0, 0] : n > 0 }")
    proved(pair, loop("i", "0", "i < n", when("i == 0", call("T")), call("S", "i")))


# Loops


def test_strides_and_their_offset() -> None:
    odd = flat("[n] -> { S[i] -> [i] : 0 <= i < n and i mod 3 = 2 }")
    proved(odd, loop("i", "2", "i < n", call("S", "i"), step=3))
    refuted(
        odd,
        loop("i", "0", "i < n", call("S", "i"), step=3),
        "extra",
        "S(0) is executed, but the schedule does not have it for n = 1",
    )


def test_a_stride_from_a_maximum() -> None:
    even = flat(
        "[n, m] -> { S[i] -> [i] : n <= i <= 20 and m <= i and i mod 2 = 0 }",
        "[n, m] -> { : n = 2 and m mod 2 = 0 }",
    )
    proved(even, loop("i", "max(n, m)", "i <= 20", call("S", "i"), step=2))


def test_a_loop_ends_at_the_first_failure_of_its_test() -> None:
    """A test with a hole: after it nothing runs, as in C."""
    program = loop("i", "0", "i < n and i != 3", call("S", "i"))
    refuted(LINE, program, "missing", "S(3) is never executed for n = 4")
    proved(flat("[n] -> { S[i] -> [i] : 0 <= i < n and i < 3 }"), program)


def test_an_upper_bound_that_mentions_its_iterator() -> None:
    program = loop("i", "0", "i <= min(n - 1, (5 if i <= 5 else n))", call("S", "i"))
    proved(LINE, program)


def test_an_infinite_loop() -> None:
    endless = flat("[n] -> { S[i] -> [i] : i >= n }")
    proved(endless, loop("i", "n", "True", call("S", "i")))
    refuted(
        LINE,
        loop("i", "0", "True", when("i < n", call("S", "i"))),
        "endless",
        "the loop over i does not end, and executes nothing more for n = 0",
    )


def test_an_infinite_loop_that_executes_every_other_iteration() -> None:
    proved(
        flat("{ S[i] -> [i] : i >= 0 and i mod 2 = 0 }"),
        loop("i", "0", "True", when("i % 2 == 0", call("S", "i"))),
    )


def test_a_loop_hidden_by_one_of_the_same_name() -> None:
    proved(TRIANGLE, loop("i", "0", "i < n", let("k", "i", loop("i", "0", "i <= k", call("S", "k", "i")))))
    proved(LINE, loop("i", "0", "i < n", let("i", "i + 1", call("S", "i - 1"))))


def test_let_orders_nothing() -> None:
    proved(LINE, loop("i", "0", "i < n", let("k", "i // 2", Remarked("here", call("S", "i")))))


# Parallel loops


def test_a_parallel_loop_over_what_is_not_ordered() -> None:
    unordered = flat("[n] -> { S[i, j] -> [i] : 0 <= i < n and 0 <= j < n }")
    proved(unordered, loop("i", "0", "i < n", loop("j", "0", "j < n", call("S", "i", "j"), parallel=True)))


def test_a_parallel_loop_over_what_is_ordered() -> None:
    refuted(
        LINE,
        loop("i", "0", "i < n", call("S", "i"), parallel=True),
        "parallel",
        "S(0) and S(1) run in different iterations of the parallel loop over i, "
        "but the schedule orders them for n = 2",
    )


def test_a_parallel_loop_of_one_iteration() -> None:
    proved(flat("{ S[] -> [0] }"), loop("i", "3", "i <= 3", call("S"), parallel=True))


def test_loops_that_count_down() -> None:
    backwards = flat("[n] -> { S[i] -> [-i] : 0 <= i < n }")
    down = loop("i", "n - 1", "i >= 0", call("S", "i"), step=-1)
    proved(backwards, down)
    refuted(LINE, down, "order", "S(1) runs before S(0), but the schedule orders S(0) first for n = 2")
    short = loop("i", "n - 1", "i > 0", call("S", "i"), step=-1)
    refuted(backwards, short, "missing", "S(0) is never executed for n = 1")
    every_third = flat("[n] -> { S[i] -> [-i] : 0 <= i <= n and (n - i) mod 3 = 0 }")
    proved(every_third, loop("i", "n", "i >= 0", call("S", "i"), step=-3))


def test_a_parallel_loop_between_statements_in_sequence() -> None:
    pair = flat("[n] -> { S[i] -> [0] : 0 <= i < n; T[i] -> [1] : 0 <= i < n }")
    program = loop("i", "0", "i < n", call("S", "i"), call("T", "i"), parallel=True)
    refuted(
        pair,
        program,
        "parallel",
        "S(0) and T(1) run in different iterations of the parallel loop over i, "
        "but the schedule orders them for n = 2",
    )


# Names and spaces


def test_nested_spaces_are_called_with_their_dimensions_in_a_row() -> None:
    proved(
        flat("[n] -> { S[[i] -> [j, k]] -> [i, j] : 0 <= i, j < n and k = 7 }"),
        loop("i", "0", "i < n", loop("j", "0", "j < n", call("S", "i", "j", "7"))),
    )


def test_an_unnamed_statement() -> None:
    proved(flat("[n] -> { [i] -> [i] : 0 <= i < n }"), loop("i", "0", "i < n", call("", "i")))


def test_statements_of_one_name_and_different_dimensions() -> None:
    both = flat("[n] -> { S[i] -> [i, 0] : 0 <= i < n; S[i, j] -> [i, 1] : 0 <= i < n and j = i }")
    proved(both, loop("i", "0", "i < n", call("S", "i"), call("S", "i", "i")))


def test_the_argument_transformation() -> None:
    """[Courant2021, section 2]: a call shows T(instance)."""
    shifted = Schedule(LINE.domain, LINE.context, LINE.tree, {"S": isl.Map("{ S[i] -> [i + 5, 0] }")})
    proved(shifted, loop("i", "0", "i < n", call("S", "i + 5", "0")))
    verdict = prove_scan(shifted, loop("i", "0", "i < n", call("S", "i", "0")))
    assert isinstance(verdict, Refuted)


def test_an_argument_transformation_that_is_not_injective() -> None:
    """S(0) stands for two instances, at different times: as many calls, at those times."""
    halved = Schedule(LINE.domain, LINE.context, LINE.tree, {"S": isl.Map("{ S[i] -> [floor(i/2)] }")})
    proved(halved, loop("i", "0", "i < n", call("S", "i // 2", time=("i",))))
    together = flat("[n] -> { S[i] -> [0] : 0 <= i < n }")
    same = Schedule(together.domain, together.context, together.tree, halved.arguments)
    assert isinstance(prove_scan(same, loop("i", "0", "i < n", call("S", "i // 2"))), Undecided)


def test_an_unknown_name_gives_no_verdict() -> None:
    with pytest.raises(InternalError, match="'k'"):
        prove_scan(LINE, loop("i", "0", "i < k", call("S", "i")))


def test_a_step_that_is_not_positive_gives_no_verdict() -> None:
    with pytest.raises(InternalError, match="step 0"):
        prove_scan(LINE, loop("i", "0", "i < n", call("S", "i"), step=0))


def test_nothing_to_run() -> None:
    nothing = tree('domain: "[n] -> { S[i] : 0 <= i < n and n < 0 }"')
    assert isinstance(prove_scan(nothing, EMPTY), Proved)
    refuted(nothing, call("S", "0"), "extra", "S(0) is executed, but the schedule does not have it for n = 0")


def test_an_iterator_is_not_known_to_its_own_first_value() -> None:
    """`for (int i = max(0, i); ...)` and `int k = k;` mean nothing, whatever the equations say."""
    schedule = flat("[n] -> { S[i] -> [i] : 0 <= i < n }")
    own = loop("i", "max(0, i)", "i < n", call("S", "i"))
    with pytest.raises(InternalError, match="uses 'i', which is neither an iterator nor a parameter"):
        prove_scan(schedule, own)
    named = loop("i", "0", "i < n", let("k", "k", call("S", "i")))
    with pytest.raises(InternalError, match="uses 'k'"):
        prove_scan(schedule, named)
