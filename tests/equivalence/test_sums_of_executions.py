"""Sums over executions, by which sizes are found for which two programs execute other instances."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.loops.expressions import And, Compare, Int, Relation, Var
from loopwright.loops.nodes import Block, For, If, Node
from loopwright.prove.descent.native import TooLong, native_pair
from loopwright.prove.descent.refutation import ProgramPair
from tests.equivalence.test_native import (
    EMPTY_TEST,
    INSIDE,
    MOST,
    PROGRAMS,
    ROW,
    J,
    N,
    _pair,
    _up_to,
)


@pytest.mark.parametrize("name", [one for one in PROGRAMS if one != "nothing"])
def test_sums_over_executions(name: str) -> None:
    """They are equal for the same executions in another order and in other loops, not if some are missing."""
    program, others, sizes = PROGRAMS[name], PROGRAMS["remainders"], {"n": 9}
    once, again = Block((program, others)), Block((others, program, If(EMPTY_TEST, program)))
    assert native_pair(_pair(once, again)).executes_alike(sizes, MOST)[0]
    assert not native_pair(_pair(once, Block((others, others, program)))).executes_alike(sizes, MOST)[0]
    assert not native_pair(_pair(once, program)).executes_alike(sizes, MOST)[0]
    with pytest.raises(TooLong):
        native_pair(_pair(once, again)).executes_alike(sizes, 0)


def test_sums_over_executions_of_split_loops() -> None:
    rest = For("j", Int(4), Compare(Relation.LE, J, N), 1, INSIDE)
    whole, split = _up_to("j", N, INSIDE), Block((rest, _up_to("j", Int(3), INSIDE)))
    tiled = For("j", Int(0), And((Compare(Relation.LE, J, N), Compare(Relation.GE, J, Int(0)))), 1, INSIDE)
    for one in (split, tiled):
        pair = native_pair(_pair(_up_to("i", N, whole), _up_to("i", N, one)))
        for size in (4, 7, 12):
            assert pair.executes_alike({"n": size}, MOST)[0]
        assert not pair.executes_alike({"n": 0}, MOST)[0] or one is tiled


def test_instances_that_are_missing_for_one_size_are_found() -> None:
    """No run is tried for 29; sums are, and the run that they lead to shows the difference."""
    old = _up_to("i", N, ROW.call())
    pair = _pair(old, If(Compare(Relation.NE, N, Int(29)), old))
    trial = ProgramPair(pair, isl.Set("[n] -> { : }"))
    assert trial.difference() is None
    found = trial.difference_of_instances()
    assert found is not None and found.parameters == {"n": 29}
    assert ProgramPair(_pair(old, old), isl.Set("[n] -> { : }")).difference_of_instances() is None


def test_all_sizes_of_two_parameters_are_summed() -> None:
    """The executions differ for one pair of sizes alone."""
    old = _up_to("j", Var("m"), _up_to("i", N, ROW.call()))
    is_there = And((Compare(Relation.EQ, N, Int(4)), Compare(Relation.EQ, Var("m"), Int(15))))
    trial = ProgramPair(_pair(old, If(is_there, PROGRAMS["nothing"], old)), isl.Set("[m, n] -> { : }"))
    assert trial.difference() is None
    found = trial.difference_of_instances()
    assert found is not None and found.parameters == {"m": 15, "n": 4}


@pytest.mark.parametrize("name", [one for one in PROGRAMS if one not in ("nothing", "quotients")])
def test_loops_whose_iterations_execute_as_much_are_not_run_through(name: str) -> None:
    """The sums are those of loops that are run through; 10^12 iterations take no longer than a few."""
    inside, sizes = PROGRAMS[name], {"n": 9}

    def around(last: int, body: Node) -> Node:
        for one in "abcd":
            body = _up_to(one, Int(last), body)
        return body

    condition = And(tuple(Compare(Relation.GE, Var(one), Int(0)) for one in "abcd"))
    run_through = _pair(around(4, inside), around(4, If(condition, inside)))
    assert native_pair(run_through).executes_alike(sizes, 100 * MOST)[0]
    large = around(999, inside)
    assert native_pair(_pair(large, large)).executes_alike(sizes, MOST)[0]
    assert not native_pair(_pair(large, _up_to("e", Int(1), large))).executes_alike(sizes, MOST)[0]
